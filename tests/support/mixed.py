"""Small generated tables with attributes of every kind, some of their values missing."""

from __future__ import annotations

import numpy as np

from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn, Table
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import Sealed

GRADES = ("low", "mid", "high", "top")
STATES = ("CA", "NV", "OR")


def _attributes(prefix: str) -> tuple[Attribute, ...]:
    return (
        Attribute(f"{prefix} sick", Kind.BOOLEAN),
        Attribute(f"{prefix} state", Kind.CATEGORICAL, categories=STATES),
        Attribute(f"{prefix} sex", Kind.CATEGORICAL, categories=("f", "m")),
        Attribute(f"{prefix} grade", Kind.ORDINAL, categories=GRADES),
        Attribute(f"{prefix} acid", Kind.NUMERIC, minimum=0, maximum=10, cuts=(5.0,)),
        Attribute(
            f"{prefix} age", Kind.NUMERIC, minimum=0, maximum=99, cuts=(50.0,), required=True
        ),
    )


def mixed_schema() -> Schema:
    left, right = (View(name, "id", _attributes(name)) for name in ("left", "right"))
    return Schema("mixed", left, right)


def mixed_table(rows: int, seed: int, gaps: float = 0.15) -> Table:
    """Draw both views around one hidden number for each entity."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(rows)

    def column(attribute: Attribute) -> Column:
        noisy = np.clip(hidden + rng.normal(0, 0.15, rows), 0, 0.999)
        absent = rng.random(rows) < (0 if attribute.required else gaps)
        if attribute.kind is Kind.NUMERIC:
            numbers = np.round(noisy * attribute.maximum, 1)
            return NumericColumn(attribute, np.where(absent, np.nan, numbers))
        codes = (noisy * attribute.bins).astype(np.uint8)
        return CodedColumn(attribute, np.where(absent, MISSING, codes).astype(np.uint8))

    schema = mixed_schema()
    left, right = ({a.name: column(a) for a in v.attributes} for v in (schema.left, schema.right))
    return Table(rows, left, right)


def mixed_dataset(rows: int, seed: int, gaps: float = 0.15) -> Dataset:
    return Dataset(mixed_schema(), Sealed(mixed_table(rows, seed, gaps)), Sealed(LoadReport(rows)))
