"""Schemas from public knowledge of the columns: kinds, code books, bounds and cut points.

Each view has a tuple of rules. The first rule whose pattern matches a column's whole name declares
the column, as a field of a data package. Where a provider has merged rare categories, the merged
names are the provider's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import redveil

Field: TypeAlias = dict[str, Any]
Maker: TypeAlias = Callable[[str], Field]
Rules: TypeAlias = tuple[tuple[str, Maker], ...]

KEY: Final = "id"


def fields(names: Iterable[str], rules: Rules) -> list[Field]:
    """Declare each column by the first rule whose pattern matches its whole name.

    >>> [field["type"] for field in fields(["Moose", "Otter"], SPECIES)]
    ['boolean', 'boolean']
    """
    return [_declare(name, rules) for name in names]


def _declare(name: str, rules: Rules) -> Field:
    for pattern, maker in rules:
        if re.fullmatch(pattern, name):
            return maker(name)
    raise redveil.InputError(f"column {name}: no rule declares it; add one to declarations.py")


def schema(
    name: str,
    unit: str,
    left: Sequence[Field],
    right: Sequence[Field],
    views: tuple[str, str] = ("left", "right"),
    paths: tuple[str, str] | None = None,
) -> redveil.Schema:
    """Return the schema of two views with these fields and the key `id`.

    paths: where their files are, if the schema says so

    >>> schema("fauna", "grid cell", fields(["Moose"], SPECIES), fields(["t1~"], CLIMATE)).unit
    'grid cell'
    """
    resources: list[Field] = [
        {
            "name": view,
            "schema": {"primaryKey": KEY, "fields": [{"name": KEY, "type": "string"}, *declared]},
        }
        for view, declared in zip(views, (left, right), strict=True)
    ]
    for resource, path in zip(resources, paths or (), strict=False):
        resource["path"] = path
    descriptor = {"name": name, "resources": resources, "redveil": {"unit": unit}}
    return redveil.Schema.from_dict(descriptor)


def flag(*, required: bool = True) -> Maker:
    """Declare a Boolean attribute.

    >>> flag()("esrd")
    {'name': 'esrd', 'type': 'boolean', 'constraints': {'required': True}}
    """
    return lambda name: _field(name, "boolean", required)


def one_of(*categories: str, required: bool = True) -> Maker:
    """Declare a categorical attribute by its code book.

    >>> one_of("no", "yes")("voted")["constraints"]["enum"]
    ['no', 'yes']
    """
    return lambda name: _field(name, "string", required, enum=list(categories))


def levels(*categories: str, required: bool = True) -> Maker:
    """Declare an ordinal attribute by its levels, lowest first.

    >>> levels("low", "high")("risk")["redveil"]
    {'kind': 'ordinal'}
    """
    extras = {"kind": "ordinal"}
    return lambda name: {**one_of(*categories, required=required)(name), "redveil": extras}


def number(
    minimum: float, maximum: float, cuts: Iterable[float] | Field, *, required: bool = True
) -> Maker:
    """Declare a numeric attribute by its bounds and its cut points, or a rule for these.

    >>> number(0, 110, range(50, 70, 10))("age")["redveil"]
    {'cuts': [50, 60]}
    """
    extras = {"cuts": cuts if isinstance(cuts, dict) else list(cuts)}
    bounds = {"minimum": minimum, "maximum": maximum}
    return lambda name: {**_field(name, "number", required, **bounds), "redveil": extras}


def scale(lowest: int, highest: int) -> Maker:
    """Declare an answer on a scale, or a small count, cut between any two values.

    >>> scale(1, 5)("Q1")["redveil"]
    {'cuts': [1, 2, 3, 4]}
    """
    return number(lowest, highest, range(lowest, highest))


def equal_width(minimum: float, maximum: float, count: int) -> Maker:
    """Declare a numeric attribute that is cut into intervals of equal width.

    >>> equal_width(0, 1, 4)("share")["redveil"]
    {'cuts': {'method': 'equal-width', 'count': 4}}
    """
    return number(minimum, maximum, {"method": "equal-width", "count": count})


def heavy_tailed(smallest: float, maximum: float, *, required: bool = True) -> Maker:
    """Declare an amount or a duration of at least 0, cut at 0 and at 1-2-5 per power of ten.

    >>> heavy_tailed(10, 200)("dollars")["redveil"]
    {'cuts': {'method': 'decades', 'smallest': 10}}
    """
    cuts = {"method": "decades", "smallest": smallest}
    return number(0.0, maximum, cuts, required=required)


def titled(field: Field, title: str) -> Field:
    """Return a field with what readers call it, if there is anything better than its name.

    >>> titled({"name": "esrd"}, "end-stage kidney disease")["title"]
    'end-stage kidney disease'
    """
    return {**field, "title": title} if title else field


def _field(name: str, kind: str, required: bool, **constraints: object) -> Field:  # noqa: FBT001
    declared = {**constraints, "required": True} if required else constraints
    return {"name": name, "type": kind, **({"constraints": declared} if declared else {})}


FLAGS: Final[Rules] = ((r".*", flag()),)

# MAMMAL: species by name; monthly temperatures (°C) and precipitation (mm) of European land.
SPECIES: Final[Rules] = FLAGS
CLIMATE: Final[Rules] = (
    (r"t\d+[-+~]", equal_width(-30, 40, 28)),
    (r"p\d+~", number(0, 300, range(10, 300, 10))),
)

# CMS DE-SynPUF: summary and inpatient files of three years. A beneficiary who has died or left by
# 2009 or 2010 has no summary for that year. No claim counts as 0.
_LATER = r"20(09|10)"
BENEFICIARIES: Final[Rules] = (
    (r"birth_year", number(1900, 1990, range(1905, 1990, 5))),
    (rf"chr_\w+_{_LATER}", flag(required=False)),
    (r".*", flag()),
)
CLAIMS: Final[Rules] = (
    (r"IPCLM_CLM_UTLZTN_DAY_CNT_\d+", heavy_tailed(1, 365)),
    (r"IPCLM_N_CLAIMS_\d+", number(0, 20, (0, 1, 2, 3, 4, 5, 10))),
    (r"IPCLM_\w+", heavy_tailed(10, 200_000)),
    (rf"(BENE_\w+_MONS|PLAN_CVRG_MOS_NUM)_{_LATER}", number(0, 12, range(12), required=False)),
    (r"(BENE_\w+_MONS|PLAN_CVRG_MOS_NUM)_2008", number(0, 12, range(12))),
    (rf"(MEDREIMB|BENRES|PPPYMT)_\w+_{_LATER}", heavy_tailed(10, 200_000, required=False)),
    (r"(MEDREIMB|BENRES|PPPYMT)_\w+_2008", heavy_tailed(10, 200_000)),
)

# NPAS and RWAS: code books of openpsychometrics.org. Screens in pixels, durations in seconds.
_RESPONDENT: Final[Rules] = (
    (r"education", scale(1, 4)),
    (r"urban", one_of("rural", "suburban", "urban")),
    (r"gender", one_of("female", "male", "other")),
    (r"engnat|voted|ASD", one_of("no", "yes")),
    (r"age", number(13, 100, range(15, 85, 5))),
    (r"screenw", number(0, 4000, (320, 400, 600, 768, 1024, 1280, 1366, 1440, 1600, 1680, 1920))),
    (r"screenh", number(0, 4000, (480, 600, 640, 720, 768, 800, 900, 1024, 1050, 1080, 1200))),
    (r"hand", one_of("right", "left", "both")),
    (r"orientation", one_of("heterosexual", "bisexual", "homosexual", "asexual", "other")),
    (r"married", one_of("never", "currently", "previously")),
    (r"familysize", number(1, 20, (1, 2, 3, 4, 5, 6, 8, 10))),
)
_FAITHS = ("agnostic", "atheist", "catholic", "christian_other", "other", "protestant")
BACKGROUND: Final[Rules] = (
    *_RESPONDENT,
    (r"country", one_of("US", "GB", "CA", "AU", "DE", "other_merged")),
    (r"religion", one_of(*_FAITHS, "buddhist|hindu|jewish|mormon|muslim|sikh")),
    (r"major", one_of("none_given", "other_merged", "psychology")),
    (r"race_\w+", flag()),
)
RWAS_BACKGROUND: Final[Rules] = (
    *_RESPONDENT,
    (r"religion", one_of(*_FAITHS, "buddhist", "hindu|sikh", "jewish", "mormon", "muslim")),
    (r"race", one_of("arab", "asian", "black", "other", "white_or_indigenous")),
    (
        r"major",
        one_of(
            *("none_given", "other_merged", "anthropology", "biology", "business", "chemistry"),
            *("civil engineering", "computer science", "economics", "education"),
            *("electrical engineering", "engineering", "english", "history", "journalism", "law"),
            *("mathematics", "mechanical engineering", "medicine", "music", "philosophy"),
            *("physics", "political science", "psychology", "sociology"),
        ),
    ),
)
_SURVEY: Final[Rules] = (
    (r"TIPI\d+|nerdy", scale(1, 7)),
    (r"VCL\d+", flag()),
    (r"\w+elapse", heavy_tailed(1, 10_000)),
)
NPAS_ANSWERS: Final[Rules] = ((r"Q\d+", scale(1, 5)), *_SURVEY)
RWAS_ANSWERS: Final[Rules] = ((r"Q\d+", scale(1, 9)), *_SURVEY)

# Diabetes 130: the data dictionary of the UCI data set; rare payers and specialties are merged.
ADMISSIONS: Final[Rules] = (
    (
        r"race",
        one_of("AfricanAmerican", "Asian", "Caucasian", "Hispanic", "Other", required=False),
    ),
    (r"gender", one_of("Female", "Male", required=False)),
    (r"age_decade_start", number(0, 90, range(0, 90, 10))),
    (
        r"admission_type",
        one_of("elective", "emergency", "newborn", "trauma", "urgent", required=False),
    ),
    (
        r"payer",
        one_of(
            *("BC", "CH", "CM", "CP", "DM", "HM", "MC", "MD", "OG", "OT", "PO", "SP", "UN", "WC"),
            "other_merged",
            required=False,
        ),
    ),
    (
        r"specialty",
        one_of(
            *("Cardiology", "Emergency/Trauma", "Endocrinology", "Family/GeneralPractice"),
            *("Gastroenterology", "Gynecology", "Hematology/Oncology", "InternalMedicine"),
            *("Nephrology", "Neurology", "ObstetricsandGynecology", "Oncology", "Orthopedics"),
            *("Orthopedics-Reconstructive", "Otolaryngology", "Pediatrics"),
            *("Pediatrics-CriticalCare", "Pediatrics-Endocrinology"),
            *("PhysicalMedicineandRehabilitation", "Podiatry", "Psychiatry", "Psychology"),
            *("Pulmonology", "Radiologist", "Surgery-Cardiovascular"),
            *("Surgery-Cardiovascular/Thoracic", "Surgery-General", "Surgery-Neuro"),
            *("Surgery-Thoracic", "Surgery-Vascular", "Urology", "other_merged"),
            required=False,
        ),
    ),
    (r"admitted_via_\w+|dx_\w+", flag()),
)
STAYS: Final[Rules] = (
    (r"time_in_hospital", scale(1, 14)),
    (r"num_lab_procedures", number(0, 120, range(5, 100, 5))),
    (r"num_procedures", scale(0, 6)),
    (r"num_medications", number(0, 80, (*range(2, 30, 2), *range(30, 60, 5)))),
    (r"number_(outpatient|emergency|inpatient)", number(0, 50, (0, 1, 2, 3, 5, 10))),
    (r"number_diagnoses", scale(1, 16)),
    (r"glucose_serum", one_of("not_measured", "normal", "over200", "over300")),
    (r"a1c", one_of("not_measured", "normal", "over7", "over8")),
    (r"med_.*", one_of("no", "steady", "up", "down")),
    (r"readmitted", one_of("no", "within30", "after30")),
    (r"medication_changed|diabetes_medication", flag()),
)

# MIMIC: -1 not performed, 0 performed and normal, 1 flagged as abnormal.
LAB_ITEMS: Final[Rules] = ((r"lab_\d+", number(-1, 1, (-1, 0))),)
