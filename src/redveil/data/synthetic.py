"""Generated data: a clinic with planted redescriptions, for the demo and for tests.

The data is about nobody, so it may be seeded, printed and shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from redveil.base.csv_text import csv_text
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import CodedColumn, NumericColumn, Table
from redveil.schema import Attribute, Kind, Schema, View
from redveil.schema.cuts import CutRule
from redveil.sealed import Sealed

DIAGNOSES: Final = (
    "diabetes type 2", "hypertension", "chronic kidney disease", "iron deficiency anaemia",
    "hypothyroidism", "gout", "heart failure", "asthma", "hepatitis", "obesity",
    "migraine", "back pain", "depression", "cataract",
)  # fmt: skip
# Every generated clinic is the same data set, as far as a ledger is concerned.
CLINIC_ID: Final = "c8f2c2a4-6d0f-4d6e-9a3e-0d9f1b7e5a10"
SMOKING: Final = ("never", "former", "current")
BLOOD_GROUPS: Final = ("0", "A", "B", "AB")

# Name, unit, minimum, maximum and cut rule of each laboratory value, as in a handbook.
LABORATORY: Final = (
    ("HbA1c", "%", 3.0, 15.0, CutRule("equal-width", count=24)),
    ("fasting glucose", "mg/dL", 40.0, 400.0, CutRule("equal-width", count=24)),
    (
        "creatinine",
        "mg/dL",
        0.2,
        12.0,
        CutRule("explicit", values=(0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 3.0)),
    ),
    ("eGFR", "mL/min", 0.0, 140.0, CutRule("equal-width", count=28)),
    ("ferritin", "µg/L", 0.0, 2000.0, CutRule("decades", smallest=5.0)),
    ("haemoglobin", "g/dL", 4.0, 20.0, CutRule("equal-width", count=16)),
    ("TSH", "mU/L", 0.0, 100.0, CutRule("decades", smallest=0.1)),
    ("uric acid", "mg/dL", 1.0, 15.0, CutRule("equal-width", count=28)),
    ("NT-proBNP", "pg/mL", 0.0, 35000.0, CutRule("decades", smallest=10.0)),
    ("ALT", "U/L", 0.0, 3000.0, CutRule("decades", smallest=5.0)),
    ("CRP", "mg/L", 0.0, 500.0, CutRule("decades", smallest=0.1)),
    ("sodium", "mmol/L", 110.0, 170.0, CutRule("equal-width", count=20)),
)


def clinic_schema() -> Schema:
    """Return the clinic's schema, declared from common knowledge and not from the data.

    >>> len(clinic_schema().left.attributes), len(clinic_schema().right.attributes)
    (18, 14)
    """
    left = View(
        "diagnoses",
        "patient",
        (
            Attribute(
                "age",
                Kind.NUMERIC,
                required=True,
                minimum=0,
                maximum=110,
                cuts=_age_cuts(),
                title="age (years)",
            ),
            Attribute("sex", Kind.CATEGORICAL, required=True, categories=("female", "male")),
            Attribute("smoking", Kind.ORDINAL, categories=SMOKING),
            Attribute("blood group", Kind.CATEGORICAL, categories=BLOOD_GROUPS),
            *(Attribute(name, Kind.BOOLEAN, required=True) for name in DIAGNOSES),
        ),
    )
    right = View(
        "laboratory",
        "patient",
        (
            *(
                Attribute(
                    name,
                    Kind.NUMERIC,
                    minimum=low,
                    maximum=high,
                    cuts=rule.points(low, high),
                    title=f"{name} ({unit})",
                )
                for name, unit, low, high, rule in LABORATORY
            ),
            Attribute("proteinuria", Kind.BOOLEAN),
            Attribute("TPO antibodies", Kind.BOOLEAN),
        ),
    )
    return Schema("clinic", left, right, unit="patient", id=CLINIC_ID)


def clinic_frames(patients: int = 4000, seed: int = 1) -> tuple[pa.Table, pa.Table]:
    """Generate a clinic's two tables, as Arrow tables.

    Planted: diabetes ↔ HbA1c and glucose, kidney disease ↔ eGFR and creatinine, anaemia ↔
    ferritin, hypothyroidism ↔ TSH, gout ↔ uric acid, heart failure ↔ NT-proBNP, hepatitis ↔ ALT.

    >>> left, right = clinic_frames(100)
    >>> left.num_rows, right.num_rows
    (100, 100)
    """
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(58, 18, patients), 18, 101).round()
    sick = _diagnoses(rng, age)
    laboratory = _laboratory(rng, sick, age)
    key = [f"P{number:06d}" for number in rng.permutation(patients)]
    left = pa.table(
        {
            "patient": key,
            "age": age.astype(np.int64),
            "sex": rng.choice(["female", "male"], patients),
            "smoking": _with_gaps(rng, rng.choice(SMOKING, patients, p=[0.5, 0.3, 0.2]), 0.04),
            "blood group": _with_gaps(rng, rng.choice(BLOOD_GROUPS, patients), 0.02),
            **{name: sick[name] for name in DIAGNOSES},
        }
    )
    right = pa.table({"patient": key, **laboratory})
    # In another order than the left view, to exercise the join.
    return left, right.take(rng.permutation(patients))


def write_clinic(folder: Path, patients: int = 4000, seed: int = 1) -> tuple[Path, Path, Path]:
    """Write the clinic's two CSV files and its schema, and return their paths.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_clinic(Path(folder), 50)]
    ['diagnoses.csv', 'laboratory.csv', 'datapackage.json']
    """
    folder.mkdir(parents=True, exist_ok=True)
    schema = clinic_schema()
    paths = (folder / "diagnoses.csv", folder / "laboratory.csv", folder / "datapackage.json")
    for frame, path in zip(clinic_frames(patients, seed), paths, strict=False):
        path.write_text(csv_text(frame), encoding="utf-8")
    schema.save(paths[2])
    return paths


def wide_dataset(
    rows: int, booleans: int = 100, numerics: int = 40, seed: int = 1, cuts: int = 20
) -> Dataset:
    """Generate data of any size for benchmarks: Boolean attributes left, numeric ones right.

    Ten hidden groups affect both views, so that there are redescriptions to find.

    >>> wide_dataset(100, booleans=3, numerics=2)
    <Dataset wide: 3 left and 2 right attributes>
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 10, rows)
    left, right = {}, {}
    for number in range(booleans):
        attribute = Attribute(f"b{number}", Kind.BOOLEAN, required=True)
        chance = np.where(group == number % 10, 0.7, 0.1)
        codes = (rng.random(rows) < chance).astype(np.uint8)
        left[attribute.name] = CodedColumn(attribute, codes)
    points = CutRule("equal-width", count=cuts).points(0.0, 1.0)
    for number in range(numerics):
        attribute = Attribute(f"n{number}", Kind.NUMERIC, required=True, cuts=points)
        centre = np.where(group == number % 10, 0.75, 0.4)
        values = np.clip(rng.normal(centre, 0.15), 0.0, 1.0)
        right[attribute.name] = NumericColumn(attribute, values)
    schema = Schema(
        "wide",
        View("flags", "id", tuple(column.attribute for column in left.values())),
        View("numbers", "id", tuple(column.attribute for column in right.values())),
    )
    return Dataset(schema, Sealed(Table(rows, left, right)), Sealed(LoadReport(rows)))


def _age_cuts() -> tuple[float, ...]:
    return tuple(float(x) for x in range(20, 100, 5))


def _diagnoses(rng: np.random.Generator, age: np.ndarray) -> Mapping[str, np.ndarray]:
    """Draw the diagnoses; most are more frequent in older patients."""
    old = (age - 18) / 80
    share = {
        "diabetes type 2": 0.10 + 0.30 * old,
        "hypertension": 0.10 + 0.55 * old,
        "chronic kidney disease": 0.02 + 0.25 * old,
        "iron deficiency anaemia": 0.16 - 0.05 * old,
        "hypothyroidism": 0.10 + 0.05 * old,
        "gout": 0.03 + 0.12 * old,
        "heart failure": 0.01 + 0.20 * old,
        "hepatitis": 0.04 + 0.0 * old,
        "cataract": 0.5 * old**2,
    }
    return {name: rng.random(age.size) < share.get(name, 0.12 + 0.0 * old) for name in DIAGNOSES}


def _laboratory(
    rng: np.random.Generator, sick: Mapping[str, np.ndarray], age: np.ndarray
) -> dict[str, object]:
    """Draw laboratory values that depend on the diagnoses, some of them missing."""
    n = age.size

    def pick(name: str, ill: np.ndarray, well: np.ndarray, gaps: float) -> object:
        return _with_gaps(rng, np.where(sick[name], ill, well).round(2), gaps)

    diabetes, kidney = "diabetes type 2", "chronic kidney disease"
    return {
        "HbA1c": pick(diabetes, rng.normal(7.9, 1.0, n), rng.normal(5.4, 0.4, n), 0.05),
        "fasting glucose": pick(diabetes, rng.normal(165, 35, n), rng.normal(92, 10, n), 0.02),
        "creatinine": pick(kidney, rng.normal(2.3, 0.6, n), rng.normal(0.9, 0.15, n), 0.01),
        "eGFR": pick(kidney, rng.normal(40, 11, n), 112 - 0.5 * age + rng.normal(0, 9, n), 0.01),
        "ferritin": pick(
            "iron deficiency anaemia", rng.gamma(3, 4, n), rng.gamma(2.5, 60, n) + 20, 0.10
        ),
        "haemoglobin": pick(
            "iron deficiency anaemia", rng.normal(10.3, 1.1, n), rng.normal(14, 1.2, n), 0.01
        ),
        "TSH": pick(
            "hypothyroidism", rng.lognormal(2.3, 0.5, n), rng.lognormal(0.5, 0.45, n), 0.15
        ),
        "uric acid": pick("gout", rng.normal(9.0, 1.0, n), rng.normal(5.4, 1.0, n), 0.10),
        "NT-proBNP": pick(
            "heart failure", rng.lognormal(7.8, 0.8, n), rng.lognormal(4.2, 0.7, n), 0.30
        ),
        "ALT": pick("hepatitis", rng.lognormal(5.2, 0.6, n), rng.lognormal(3.1, 0.35, n), 0.03),
        "CRP": _with_gaps(rng, rng.lognormal(1.0, 1.1, n).round(1), 0.05),
        "sodium": _with_gaps(rng, rng.normal(140, 2.5, n).round(), 0.01),
        "proteinuria": _with_gaps(rng, rng.random(n) < np.where(sick[kidney], 0.7, 0.05), 0.1),
        "TPO antibodies": _with_gaps(
            rng, rng.random(n) < np.where(sick["hypothyroidism"], 0.8, 0.08), 0.2
        ),
    }


def _with_gaps(rng: np.random.Generator, values: np.ndarray, share: float) -> list[object]:
    """Return the values, with a share of them missing."""
    absent = rng.random(values.size) < share
    return [None if gone else value for gone, value in zip(absent, values.tolist(), strict=True)]
