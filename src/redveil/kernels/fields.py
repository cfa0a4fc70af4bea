"""Dividing the text of a table into its fields, where no quotation marks are in the way."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

_LINE_FEED: Final = 10
_CARRIAGE_RETURN: Final = 13
_CACHED_BYTES: Final = 2**17


@kernel
def field_ends(text: NDArray[np.uint8], delimiter: int, ends: NDArray[np.int32]) -> int:
    """Write where fields end, and return the number of rows; −1 if a row has another width.

    Rows end with LF, CR or both. Empty lines are no rows.

    text:      uint8[bytes], whole rows; the last one need not have a line end.
    delimiter: the byte between two fields.
    ends:      int32[fields + 1, most rows], written: field k of row r is
               text[ends[k, r] + 1 : ends[k + 1, r]]. More rows than there is room for are taken
               for rows of another width.
    """
    width = ends.shape[0] - 1
    row = 0
    position = 0
    while position < text.shape[0]:
        if text[position] in (_LINE_FEED, _CARRIAGE_RETURN):
            position += 1
            continue
        if row == ends.shape[1]:
            return -1
        ends[0, row] = position - 1
        field = 0
        while True:
            while position < text.shape[0]:
                byte = text[position]
                if byte == delimiter or byte in (_LINE_FEED, _CARRIAGE_RETURN):
                    break
                position += 1
            if field == width:
                return -1
            field += 1
            ends[field, row] = position
            if position == text.shape[0] or text[position] != delimiter:
                break
            position += 1
        if field != width:
            return -1
        row += 1
    return row


@kernel
def copy_fields(
    text: NDArray[np.uint8],
    ends: NDArray[np.int32],
    wanted: NDArray[np.int32],
    first: NDArray[np.int64],
    offsets: NDArray[np.int32],
    copied: NDArray[np.uint8],
) -> None:
    """Copy the fields of some columns, column after column.

    text:    uint8[bytes].
    ends:    int32[fields + 1, rows or more], see `field_ends`.
    wanted:  int32[columns], which columns.
    first:   int64[columns + 1], where the copy of each column begins; the last one ends at the end.
    offsets: int32[columns, rows + 1], written: field r of a column is
             copied[first + offsets[r] : first + offsets[r + 1]].
    copied:  uint8[bytes of all these fields], written.
    """
    rows = offsets.shape[1] - 1
    # So few rows at a time that their text stays in cache while one column after the other is read.
    step = max(rows * _CACHED_BYTES // max(text.shape[0], 1), 1)
    for column in range(wanted.shape[0]):
        offsets[column, 0] = 0
    for begin in range(0, rows, step):
        for column in range(wanted.shape[0]):
            before, after = ends[wanted[column]], ends[wanted[column] + 1]
            offset = offsets[column]
            copy = copied[first[column] : first[column + 1]]
            at = offset[begin]
            for row in range(begin, min(begin + step, rows)):
                for position in range(before[row] + 1, after[row]):
                    copy[at] = text[position]
                    at += 1
                offset[row + 1] = at
