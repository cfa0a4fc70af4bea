"""What readers call the columns of public data sets, with units, in a few words.

Each data set has a tuple of rules. The first whose pattern matches a column's whole name gives its
title. A column that none matches is called by its name. Titles are for readers: no tree, no price
and no choice depends on them. They are nouns that follow "with", "have" and "no".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

Titles: TypeAlias = tuple[tuple[str, str | Callable[["re.Match[str]"], str]], ...]


def title(name: str, titles: Titles) -> str:
    """Return what a column is called, or nothing if no rule knows better than its name.

    >>> title("t7+", CLIMATE_TITLES), title("Moose", CLIMATE_TITLES)
    ('mean daily highs in July (°C)', '')
    """
    for pattern, called in titles:
        if found := re.fullmatch(pattern, name):
            return called if isinstance(called, str) else called(found)
    return ""


def labels(path: Path) -> dict[str, str]:
    """Return the titles in a provider's file of columns and labels; none if there is no file.

    >>> labels(Path("nowhere.csv"))
    {}
    """
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        # Some labels end with the number of a finer group.
        found = {row["column"]: re.sub(r"\s*\[.*\]$", "", row["label"]).strip() for row in rows}
    return {
        column: f"{label.lower()} diagnosed in hospital" for column, label in found.items() if label
    }


def _from(words: Mapping[str, str], form: str = "{}") -> Callable[[re.Match[str]], str]:
    """Return a rule that looks the first group up, and puts all other groups behind it."""
    return lambda found: form.format(words[found[1]], *found.groups()[1:])


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_TEMPERATURES: Final = {"-": "daily lows", "~": "temperatures", "+": "daily highs"}
# Columns are in the order of Latin names: Mus domesticus, macedonicus, musculus.
SPECIES_TITLES: Final[Titles] = (
    (r"House mouse", "Western House Mouse (Mus domesticus)"),
    (r"House mouse \(2\)", "Eastern House Mouse (Mus musculus)"),
)
CLIMATE_TITLES: Final[Titles] = (
    (
        r"t(\d+)([-+~])",
        lambda m: f"mean {_TEMPERATURES[m[2]]} in {_MONTHS[int(m[1]) - 1]} (°C)",
    ),
    (r"p(\d+)~", lambda m: f"precipitation in {_MONTHS[int(m[1]) - 1]} (mm)"),
)

_CHRONIC: Final = {
    "ALZHDMTA": "dementia",
    "CHF": "heart failure",
    "CHRNKIDN": "chronic kidney disease",
    "CNCR": "cancer",
    "COPD": "chronic obstructive lung disease",
    "DEPRESSN": "depression",
    "DIABETES": "diabetes",
    "ISCHMCHT": "ischaemic heart disease",
    "OSTEOPRS": "osteoporosis",
    "RA_OA": "arthritis",
    "STRKETIA": "stroke",
}
BENEFICIARY_TITLES: Final[Titles] = (
    (r"birth_year", "year of birth"),
    (r"female", "female sex"),
    (r"race_(\w+)", lambda m: f"race: {m[1]}"),
    (r"esrd", "end-stage kidney disease"),
    (r"died_2008_2010", "death between 2008 and 2010"),
    (rf"chr_({'|'.join(_CHRONIC)})_(\d+)", _from(_CHRONIC, "{} in {}")),
    (r"dx_", "diagnosis outside all groups, in hospital"),
    (r"dx_(.+)", lambda m: f"diagnosis of group {m[1]} in hospital"),
)
_SERVICES: Final = {"IP": "hospital stays", "OP": "outpatient care", "CAR": "physicians"}
_PAYERS: Final = {
    "MEDREIMB": "Medicare payments",
    "BENRES": "own payments",
    "PPPYMT": "payments by another insurer",
}
_COVERAGE: Final = {
    "BENE_HI_CVRAGE_TOT_MONS": "hospital insurance",
    "BENE_SMI_CVRAGE_TOT_MONS": "medical insurance",
    "BENE_HMO_CVRAGE_TOT_MONS": "a managed plan",
    "PLAN_CVRG_MOS_NUM": "a drug plan",
}
_STAYS: Final = {
    "CLM_PMT_AMT": "Medicare payments on hospital claims in {} ($)",
    "NCH_PRMRY_PYR_CLM_PD_AMT": "payments by another insurer on hospital claims in {} ($)",
    "CLM_PASS_THRU_PER_DIEM_AMT": "daily pass-through payments to hospitals in {} ($)",
    "NCH_BENE_IP_DDCTBL_AMT": "hospital deductible in {} ($)",
    "NCH_BENE_PTA_COINSRNC_LBLTY_AM": "hospital coinsurance in {} ($)",
    "NCH_BENE_BLOOD_DDCTBL_LBLTY_AM": "deductible for blood in {} ($)",
    "CLM_UTLZTN_DAY_CNT": "days in hospital in {}",
    "N_CLAIMS": "number of hospital claims in {}",
}
CLAIM_TITLES: Final[Titles] = (
    (
        rf"({'|'.join(_PAYERS)})_({'|'.join(_SERVICES)})_(\d+)",
        lambda m: f"{_PAYERS[m[1]]} for {_SERVICES[m[2]]} in {m[3]} ($)",
    ),
    (rf"({'|'.join(_COVERAGE)})_(\d+)", _from(_COVERAGE, "months with {} in {}")),
    (rf"IPCLM_({'|'.join(_STAYS)})_(\d+)", lambda m: _STAYS[m[1]].format(m[2])),
)

RESPONDENT_TITLES: Final[Titles] = (
    (r"education", "schooling (2: high school, 3: university)"),
    (r"urban", "childhood in a place"),
    (r"engnat", "English as a native language:"),
    (r"age", "age (years)"),
    (r"screenw", "width of the screen (pixels)"),
    (r"screenh", "height of the screen (pixels)"),
    (r"hand", "writing hand"),
    (r"orientation", "sexual orientation"),
    (r"voted", "vote in a national election within a year:"),
    (r"married", "marital status"),
    (r"familysize", "number of siblings, oneself included,"),
    (r"major", "university subject"),
    (r"ASD", "diagnosis of autism:"),
    (r"race_(\w+)", lambda m: f"race: {m[1]}"),
)
_TRAITS: Final = dict(
    zip(
        map(str, range(1, 11)),
        (
            *("outgoing", "quarrelsome", "dependable", "anxious", "open to new experiences"),
            *("reserved", "warm", "disorganised", "calm", "conventional"),
        ),
        strict=True,
    )
)
_WORDS: Final = dict(
    zip(
        map(str, range(1, 17)),
        (
            *("boat", "incoherent", "pallid", "robot", "audible", "cuivocal", "paucity"),
            *("epistemology", "florted", "decide", "pastiche", "verdid", "abysmal", "lucid"),
            *("betray", "funny"),
        ),
        strict=True,
    )
)
_SURVEY: Final[Titles] = (
    (r"TIPI(\d+)", _from(_TRAITS, "self-rating as {} (from 1 to 7)")),
    (r"VCL(\d+)", _from(_WORDS, "claimed knowledge of the word “{}”")),
    (r"nerdy", "self-rating as nerdy (from 1 to 7)"),
    (r"introelapse", "time spent on the first page (s)"),
    (r"testelapse", "time spent on the statements (s)"),
    (r"surveyelapse", "time spent on the other questions (s)"),
)
# Altemeyer's scale, each statement in a few words.
_STATEMENTS: Final = dict(
    zip(
        map(str, range(1, 23)),
        (
            "authorities are mostly right and protesters mostly loud",
            "wives should promise obedience",
            "a mighty leader must end today's sinfulness",
            "gay people are as moral as anybody",
            "trust authorities rather than agitators",
            "atheists are as good as churchgoers",
            "tradition and tough leaders must silence troublemakers",
            "nothing is wrong with nudist camps",
            "the country needs those who defy tradition",
            "perversions will destroy the country",
            "everyone may live and love differently",
            "the old ways are the best ways",
            "those who protested for abortion rights deserve admiration",
            "a strong leader should crush evil",
            "critics of government and religion are among the best people",
            "God's laws must be enforced before it is too late",
            "authorities should stop the immoral and godless",
            "a woman's place is wherever she wants",
            "honour the forefathers, obey and drop the rotten apples",
            "there is no single right way to live",
            "gay people and feminists are brave to defy family values",
            "certain groups should accept their place",
        ),
        strict=True,
    )
)
RWAS_TITLES: Final[Titles] = (
    (r"Q(\d+)", _from(_STATEMENTS, "agreement (from 1 to 9) with “{}”")),
    *_SURVEY,
)
# The provider doubts that the printed statements belong to these numbers.
NPAS_TITLES: Final[Titles] = (
    (r"Q(\d+)", lambda m: f"agreement (from 1 to 5) with statement {m[1]} about oneself"),
    *_SURVEY,
)

PATIENT_TITLES: Final[Titles] = (
    (r"age_decade_start", "age (years, rounded down to tens)"),
    (r"dx_(.+)", lambda m: f"diagnosis, ICD-9 {m[1]}"),
    (r"admitted_via_(\w+)", lambda m: f"admission via {m[1].replace('_', ' ')}"),
    (r"payer", "payer"),
    (r"specialty", "specialty of the physician"),
)
STAY_TITLES: Final[Titles] = (
    (r"time_in_hospital", "days in hospital"),
    (r"num_lab_procedures", "number of laboratory tests"),
    (r"num_procedures", "number of other procedures"),
    (r"num_medications", "number of medicines"),
    (r"number_diagnoses", "number of diagnoses"),
    (r"number_(\w+)", lambda m: f"number of {m[1]} visits the year before"),
    (r"a1c", "HbA1c"),
    (r"glucose_serum", "serum glucose"),
    (r"med_(.+)", lambda m: f"dose of {m[1]}"),
)
