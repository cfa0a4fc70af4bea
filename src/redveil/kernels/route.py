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
    bits: NDArray[np.uint64],
    absent: NDArray[np.uint64],
    absent_row: NDArray[np.int32],
    codes: NDArray[np.uint8],
) -> None:
    """Move every entity at a node numbered `first` or higher one level down.

    position: int16[N], changed in place; entities at nodes below `first` are stuck and stay there.
    test:     int8[nodes], LEAF (stay), BIT, AT_MOST (code <= node's code) or EQUAL.
    row:      int32[nodes], the row of `bits` or `codes` that the node's test reads.
    code:     uint32[nodes], the code that AT_MOST and EQUAL compare with.
    bits, absent, absent_row, codes: the view's columns, as in the histogram kernels.
    """
    for i in range(position.shape[0]):
        node = position[i]
        if node < first or test[node] == LEAF:
            continue
        column = row[node]
        if test[node] == BIT:
            word, shift = i >> 6, np.uint64(i & 63)
            where = absent_row[column]
            if where >= 0 and (absent[where, word] >> shift) & np.uint64(1):
                continue
            holds = ((bits[column, word] >> shift) & np.uint64(1)) == np.uint64(1)
        else:
            value = codes[column, i]
            if value == np.iinfo(codes.dtype).max:
                continue
            holds = value <= code[node] if test[node] == AT_MOST else value == code[node]
        position[i] = 2 * node + (1 if holds else 2)
