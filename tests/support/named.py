"""Results about attributes with any names, mined from tables in which two of them agree."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

import redveil
from redveil.report.result import Result
from redveil.schema import Attribute, Kind, Schema, View

#: What a spreadsheet, a page, a terminal or LaTeX would act upon.
HOSTILE_NAMES = [
    '=HYPERLINK("http://x")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "-2",
    "<script>alert(1)</script>",
    "a\x1b[31mred\x07",
    "a\nb, c;d\te",
    '"quoted"',
    "_x0041_",
    r"\input{x} & 50 % $_^{}",
]


@cache
def mined_with(name: str) -> Result:
    """Return a result that lists an attribute of this name, in a unit of this name."""
    values = [bool(number % 2) for number in range(400)]
    schema = Schema(
        name,
        View("left", "id", (Attribute(name, Kind.BOOLEAN, required=True),)),
        View("right", "id", (Attribute(f"{name} too", Kind.BOOLEAN, required=True),)),
        unit=name,
    )
    left = pa.table({"id": range(400), name: values})
    right = pa.table({"id": range(400), f"{name} too": values})
    return redveil.mine(redveil.load(left, right, schema), epsilon=50, min_jaccard=0.5)
