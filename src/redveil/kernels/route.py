"""Moving entities down a tree by one level.

Nodes are numbered in heap order: the root is 0, the children of n are 2n + 1 (the split holds) and
2n + 2 (it does not). An entity with a missing value is stuck at the node that tests it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

# The test of a node; its `row` then refers to bits or codes.
LEAF = -1
BIT = 0
AT_MOST = 1
EQUAL = 2


@kernel
def descend(
    position: NDArray[np.int16],
    first: int,
    test: NDArray[np.int8],
    row: NDArray[np.int32],
    code: NDArray[np.uint32],
    begin: int,
    bits: NDArray[np.uint64],
    absent: NDArray[np.uint64],
    absent_row: NDArray[np.int32],
    codes: NDArray[np.uint8],
) -> None:
    """Move every entity at a node numbered `first` or higher one level down.

    position: int16[some], changed in place; entities at nodes below `first` are stuck and stay
              there.
    test:     int8[nodes], LEAF (stay), BIT, AT_MOST (code <= node's code) or EQUAL.
    row:      int32[nodes], the row of `bits` or `codes` that the node's test reads.
    code:     uint32[nodes], the code that AT_MOST and EQUAL compare with.
    begin:    the entity in the columns that `position` begins with.
    bits, absent, absent_row, codes: the view's columns, as in the histogram kernels.
    """
    # The highest node first: its entities are gone before others arrive from above.
    for node in range(test.shape[0] - 1, first - 1, -1):
        if test[node] == LEAF:
            continue
        column = row[node]
        if test[node] == BIT:
            where = absent_row[column]
            # Somebody's value, never looked at, where none is missing.
            missing = absent[where] if where >= 0 else bits[column]
            _by_bit(position, node, begin, bits[column], missing, where >= 0)
        elif test[node] == AT_MOST:
            _by_range(position, node, np.uint32(0), code[node], codes[column, begin:])
        else:
            _by_range(position, node, code[node], code[node], codes[column, begin:])


@kernel
def _by_bit(
    position: NDArray[np.int16],
    node: int,
    begin: int,
    bits: NDArray[np.uint64],
    absent: NDArray[np.uint64],
    lacking: bool,  # noqa: FBT001
) -> None:
    """Move the entities of a node by a flag; `absent` says who lacks it, if somebody does."""
    for i in range(position.shape[0]):
        word, shift = (begin + i) >> 6, np.uint64((begin + i) & 63)
        holds = np.int64((bits[word] >> shift) & np.uint64(1))
        lacks = lacking and (absent[word] >> shift) & np.uint64(1) != np.uint64(0)
        moves = position[i] == node and not lacks
        position[i] = 2 * node + 2 - holds if moves else position[i]


@kernel
def _by_range(
    position: NDArray[np.int16],
    node: int,
    low: np.uint32,
    high: np.uint32,
    codes: NDArray[np.uint8],
) -> None:
    """Move the entities of a node by whether their code is in a range, without branches."""
    missing = np.iinfo(codes.dtype).max
    for i in range(position.shape[0]):
        value = np.uint32(codes[i])
        child = 2 * node + (1 if (value >= low) & (value <= high) else 2)
        moves = (position[i] == node) & (value != missing)
        position[i] = child if moves else position[i]
