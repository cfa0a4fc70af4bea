"""Arrow tables as CSV text."""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa

# Python's csv module does not quote a carriage return if lines end in \n.
_QUOTED: Final = re.compile(r'[",\r\n]')


def csv_text(table: pa.Table) -> str:
    r"""Return a table as CSV with a header; missing values are empty, Booleans true or false.

    >>> csv_text(pa.table({"a,b": ["x", None], "c": [True, False], "d": [0.1, 2.0]}))
    '"a,b",c,d\nx,true,0.1\n,false,2.0\n'
    """
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    lines = [",".join(map(_cell, row)) for row in (table.column_names, *rows)]
    return "".join(f"{line}\n" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    # Python writes a float with the fewest digits that distinguish it.
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
