"""Loading: two files or frames and a schema in, one sealed dataset out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from redveil.data.dataset import Dataset
from redveil.schema import Schema

Progress: TypeAlias = Callable[[str, float], None]


def load(
    left: object, right: object, schema: Schema | str | Path, *, progress: Progress | None = None
) -> Dataset:
    """Read two tables, fit them to their schema, join them by entity and seal the result.

    A table is a path (`.csv`, `.parquet`, `.arff`, text also with `.gz`) or a pandas, Polars or
    PyArrow table. The schema may be the path of its `datapackage.json`. What does not fit raises
    a LoadError that names the place and the remedy, never a value. Numbers out of bounds are
    clamped, undeclared categories become missing, columns that are not declared are ignored and
    entities that only one view has are dropped; the sealed report counts all of these.

    `progress` is called with the stage and the fraction of the work that is done.

    >>> import pyarrow as pa
    >>> from redveil.schema import Attribute, Kind, View
    >>> clinic = Schema(
    ...     "clinic",
    ...     View("diagnoses", "id", (Attribute("asthma", Kind.BOOLEAN),)),
    ...     View("laboratory", "id", (Attribute("crp", Kind.NUMERIC, maximum=500, cuts=(5.0,)),)),
    ... )
    >>> load(pa.table({"id": [1, 2], "asthma": [True, False]}),
    ...      pa.table({"id": [2, 1], "crp": [0.3, 17.0]}), clinic)
    <Dataset clinic: 1 left and 1 right attributes>
    """
    # Arrow takes a moment to import; `import redveil` must not.
    from redveil.data.assembly import assemble

    checked = schema if isinstance(schema, Schema) else Schema.read(schema)
    return assemble(left, right, checked, progress or (lambda _stage, _fraction: None))
