"""CMS DE-SynPUF: synthetic Medicare beneficiaries, what they have and what they cost.

The left view has the personal data, the chronic conditions of each year and the diagnoses of each
year's claims, grouped by the second level of AHRQ's Clinical Classifications Software. The right
view has the yearly totals of the summary files and of every kind of claims whose files are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil import InputError
from redveil_research.experiments.datasets import (
    Field,
    flag,
    heavy_tailed,
    number,
    one_of,
    titled,
)
from redveil_research.preparation.prepared import (
    Prepared,
    Row,
    find_file,
    find_files,
    header_of,
    rows,
    schema_of,
)

YEARS: Final = ("2008", "2009", "2010")
CONDITIONS: Final = (
    *("ALZHDMTA", "CHF", "CHRNKIDN", "CNCR", "COPD", "DEPRESSN", "DIABETES", "ISCHMCHT"),
    *("OSTEOPRS", "RA_OA", "STRKETIA"),
)
MONTHS: Final = (
    *("BENE_HI_CVRAGE_TOT_MONS", "BENE_SMI_CVRAGE_TOT_MONS", "BENE_HMO_CVRAGE_TOT_MONS"),
    "PLAN_CVRG_MOS_NUM",
)
TOTALS: Final = tuple(
    f"{kind}_{place}" for place in ("IP", "OP", "CAR") for kind in ("MEDREIMB", "BENRES", "PPPYMT")
)
RACES: Final = {"1": "white", "2": "black", "3": "other", "5": "hispanic"}
SEGMENTS: Final = 16


@dataclass(frozen=True, slots=True)
class ClaimKind:
    """One kind of claims: its files, the date that decides the year, and the amounts to add up.

    lines: how many lines a claim has, each with these amounts; 0 if the claim itself has them
    """

    name: str
    pattern: str
    date: str
    amounts: tuple[str, ...]
    lines: int = 0
    diagnoses: bool = True


CLAIMS: Final = (
    ClaimKind(
        "IP",
        r".*Inpatient_Claims.*\.csv",
        "CLM_THRU_DT",
        (
            *("CLM_PMT_AMT", "NCH_PRMRY_PYR_CLM_PD_AMT", "CLM_PASS_THRU_PER_DIEM_AMT"),
            *("NCH_BENE_IP_DDCTBL_AMT", "NCH_BENE_PTA_COINSRNC_LBLTY_AM"),
            *("NCH_BENE_BLOOD_DDCTBL_LBLTY_AM", "CLM_UTLZTN_DAY_CNT"),
        ),
    ),
    ClaimKind(
        "OP",
        r".*Outpatient_Claims.*\.csv",
        "CLM_THRU_DT",
        (
            *("CLM_PMT_AMT", "NCH_PRMRY_PYR_CLM_PD_AMT", "NCH_BENE_BLOOD_DDCTBL_LBLTY_AM"),
            *("NCH_BENE_PTB_DDCTBL_AMT", "NCH_BENE_PTB_COINSRNC_AMT"),
        ),
    ),
    ClaimKind(
        "CAR",
        r".*Carrier_Claims.*\.csv",
        "CLM_THRU_DT",
        (
            *("LINE_NCH_PMT_AMT", "LINE_BENE_PTB_DDCTBL_AMT", "LINE_BENE_PRMRY_PYR_PD_AMT"),
            *("LINE_COINSRNC_AMT", "LINE_ALOWD_CHRG_AMT"),
        ),
        lines=13,
    ),
    ClaimKind(
        "PDE",
        r".*Prescription_Drug_Events.*\.csv",
        "SRVC_DT",
        ("QTY_DSPNSD_NUM", "DAYS_SUPLY_NUM", "PTNT_PAY_AMT", "TOT_RX_CST_AMT"),
        diagnoses=False,
    ),
)


@dataclass(slots=True)
class Beneficiary:
    """What the files say about one beneficiary.

    summaries: by year, the fields of the summary
    groups:    the diagnoses, as year and number of the group
    totals:    of the claims, float64[years, amounts of all kinds]
    """

    summaries: dict[str, Row] = field(default_factory=dict)
    groups: set[tuple[int, int]] = field(default_factory=set)
    totals: NDArray[np.float64] | None = None


def prepare_cms(raw: Path, segments: int = SEGMENTS) -> Prepared:
    """Return conditions and diagnoses as the left view, costs as the right one.

    segments: how many of the 16 segments to take: those whose ids begin with the first digits
    """
    if not 1 <= segments <= SEGMENTS:
        raise InputError(f"segments must be a whole number from 1 to {SEGMENTS}")
    labels, groups = read_groups(
        find_file(raw, r"ccs_multi_dx_tool_\d+\.csv", "ccs_multi_dx_tool_2015.csv")
    )
    beneficiaries = _summaries(raw, segments)
    kinds = [kind for kind in CLAIMS if find_files(raw, kind.pattern)]
    width = sum(len(kind.amounts) + 1 for kind in kinds)
    for one in beneficiaries.values():
        one.totals = np.zeros((len(YEARS), width))
    notes: list[str] = []
    start = 0
    for kind in kinds:
        skipped = _add_claims(raw, kind, start, beneficiaries, groups, segments)
        if skipped:
            notes.append(f"{skipped} {kind.name} claims of no year or beneficiary are left out")
        start += len(kind.amounts) + 1
    return Prepared(
        schema_of("cms", "beneficiary", _left_attributes(labels), _right_attributes(kinds)),
        _left_rows(beneficiaries, len(labels)),
        _right_rows(beneficiaries),
        tuple(notes),
    )


def read_groups(path: Path) -> tuple[dict[str, str], dict[str, int]]:
    """Return the groups with their labels, and the number of each ICD-9 code's group.

    Fields are in single quotes, and codes are padded. Where there is no second level, the first
    one is the group.
    """
    columns = ["ICD-9-CM CODE", "CCS LVL 1", "CCS LVL 1 LABEL", "CCS LVL 2", "CCS LVL 2 LABEL"]
    labels: dict[str, str] = {}
    codes: dict[str, str] = {}
    for row in rows(path, columns):
        code, first, first_label, second, label = (text.strip("' ") for text in row.fields)
        group = second or first
        if not code or not group:
            raise InputError(f"{row.place}: no code or no group; download the file again")
        labels.setdefault(group, label if second else first_label)
        codes[code] = group
    numbers = {group: place for place, group in enumerate(labels)}
    return labels, {code: numbers[group] for code, group in codes.items()}


def _is_in(identifier: str, segments: int, row: Row) -> bool:
    """Return whether a beneficiary is in one of the first segments."""
    try:
        return int(identifier[:1], 16) < segments
    except ValueError:
        raise InputError(
            f"{row.place}: DESYNPUF_ID is not hexadecimal; download the file again"
        ) from None


def _summaries(raw: Path, segments: int) -> dict[str, Beneficiary]:
    found: dict[str, Beneficiary] = {}
    wanted = [
        *("DESYNPUF_ID", "BENE_BIRTH_DT", "BENE_DEATH_DT", "BENE_SEX_IDENT_CD", "BENE_RACE_CD"),
        "BENE_ESRD_IND",
        *(f"SP_{one}" for one in CONDITIONS),
        *MONTHS,
        *TOTALS,
    ]
    for year in YEARS:
        example = f"DE1_0_{year}_Beneficiary_Summary_File_Sample_2.csv"
        path = find_file(raw, rf".*{year}_Beneficiary_Summary_File.*\.csv", example)
        for row in rows(path, wanted):
            identifier = row.fields[0].strip()
            if _is_in(identifier, segments, row):
                # Most fields have few values, so that a text is kept once.
                row.fields = tuple(map(intern, row.fields))
                found.setdefault(identifier, Beneficiary()).summaries[year] = row
    return found


def _add_claims(
    raw: Path,
    kind: ClaimKind,
    start: int,
    beneficiaries: dict[str, Beneficiary],
    groups: dict[str, int],
    segments: int,
) -> int:
    """Add up one kind of claims; return how many have no year or no summary."""
    skipped = 0
    for path in find_files(raw, kind.pattern):
        columns = _amount_columns(kind)
        codes = [name for name in header_of(path)[0] if "ICD9_DGNS_CD" in name]
        diagnoses = codes if kind.diagnoses else []
        for row in rows(path, ["DESYNPUF_ID", kind.date, *columns, *diagnoses]):
            identifier = row.fields[0].strip()
            if not _is_in(identifier, segments, row):
                continue
            one = beneficiaries.get(identifier)
            when = row.fields[1].strip()[:4]
            if one is None or one.totals is None or when not in YEARS:
                skipped += 1
                continue
            year = YEARS.index(when)
            for place in range(len(columns)):
                one.totals[year, start + place % len(kind.amounts)] += row.number(2 + place)
            one.totals[year, start + len(kind.amounts)] += 1
            for code in row.fields[2 + len(columns) :]:
                group = groups.get(code.strip())
                if group is not None:
                    one.groups.add((year, group))
    return skipped


def _amount_columns(kind: ClaimKind) -> list[str]:
    """Return the columns with amounts, line by line; each line has all of them in order."""
    if not kind.lines:
        return list(kind.amounts)
    return [f"{name}_{line}" for line in range(1, kind.lines + 1) for name in kind.amounts]


def _left_attributes(labels: dict[str, str]) -> list[Field]:
    return [
        number(1900, 1990, range(1905, 1990, 5))("birth_year"),
        flag()("female"),
        one_of(*RACES.values())("race"),
        titled(flag()("esrd"), "End-stage renal disease"),
        titled(flag()("died"), "Died by 2010"),
        # Whoever has died or left has no summary.
        *(flag(required=False)(f"chr_{one}_{year}") for year in YEARS for one in CONDITIONS),
        *(
            titled(flag()(f"dx_{group}_{y}"), f"{label}, {y}")
            for y in YEARS
            for group, label in labels.items()
        ),
    ]


def _right_attributes(kinds: Sequence[ClaimKind]) -> Iterator[Field]:
    for year in YEARS:
        for name in MONTHS:
            yield number(0, 12, range(12), required=False)(f"{name}_{year}")
        for name in TOTALS:
            yield heavy_tailed(10, 200_000, required=False)(f"{name}_{year}")
        for kind in kinds:
            for name in kind.amounts:
                small = name.endswith(("_CNT", "_NUM"))
                yield heavy_tailed(1 if small else 10, 200_000)(f"{kind.name}_{name}_{year}")
            yield heavy_tailed(1, 500)(f"{kind.name}_CLAIMS_{year}")


def _left_rows(beneficiaries: dict[str, Beneficiary], groups: int) -> Iterator[list[str]]:
    for identifier, one in beneficiaries.items():
        last = one.summaries[max(one.summaries)]
        _, born, _, sex, race, _, *_ = last.fields
        died = any(row.fields[2].strip() for row in one.summaries.values())
        renal = any(row.fields[5].strip().upper() == "Y" for row in one.summaries.values())
        values = [identifier, born.strip()[:4], _bit(sex.strip() == "2"), _race(last, race)]
        values += [_bit(renal), _bit(died)]
        for year in YEARS:
            row = one.summaries.get(year)
            chronic = row.fields[6 : 6 + len(CONDITIONS)] if row else [""] * len(CONDITIONS)
            values += [{"1": "1", "2": "0"}.get(text.strip(), "") for text in chronic]
        for place in range(len(YEARS)):
            values += [_bit((place, group) in one.groups) for group in range(groups)]
        yield values


def _right_rows(beneficiaries: dict[str, Beneficiary]) -> Iterator[list[str]]:
    amounts = 6 + len(CONDITIONS)
    for identifier, one in beneficiaries.items():
        values = [identifier]
        for place, year in enumerate(YEARS):
            row = one.summaries.get(year)
            count = len(MONTHS) + len(TOTALS)
            values += [text.strip() for text in row.fields[amounts:]] if row else [""] * count
            if one.totals is not None:
                values += [f"{total:.2f}".removesuffix(".00") for total in one.totals[place]]
        yield values


def _race(row: Row, code: str) -> str:
    label = RACES.get(code.strip())
    if label is None:
        raise InputError(
            f"{row.place}: BENE_RACE_CD has no code {code[:20]!r}; download the file again"
        )
    return label


def _bit(value: bool) -> str:  # noqa: FBT001 - as in bool()
    return "1" if value else "0"
