"""Views of Boolean attributes, filled by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.data.table import CodedColumn, Column, Table
from redveil.schema import Attribute, Kind, Schema, View


def boolean_view(name: str, columns: int, *, required: bool = True) -> View:
    """Return a view of so many Booleans."""
    names = (f"{name} {number}" for number in range(columns))
    return View(name, "id", tuple(Attribute(n, Kind.BOOLEAN, required) for n in names))


def boolean_schema(left: int, right: int, *, required: bool = True) -> Schema:
    """Return a schema with so many Booleans in each view."""
    return Schema(
        "booleans",
        boolean_view("left", left, required=required),
        boolean_view("right", right, required=required),
    )


def boolean_table(schema: Schema, left: NDArray[np.int64], right: NDArray[np.int64]) -> Table:
    """Return a table with these values, int64[attributes, entities] a view; 255 is missing."""
    return Table(left.shape[1], _coded(schema.left, left), _coded(schema.right, right))


def _coded(view: View, columns: NDArray[np.int64]) -> dict[str, Column]:
    return {
        attribute.name: CodedColumn(attribute, values.astype(np.uint8))
        for attribute, values in zip(view.attributes, columns, strict=True)
    }
