"""Joint counts of the splits of two views, on as many threads as there are cores."""

from __future__ import annotations

import os
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.joint import TILE_LEFTS, JointCounts, joint_counts
from redveil.kernels.subtree import SplitSets
from redveil.waiting import run_all

Sets = NDArray[np.uint64]
Integers = NDArray[np.int64]

# Fewer pairs of words than this are counted faster than threads start.
FEWEST_WORD_PAIRS_FOR_THREADS: Final = 2**21
# Work is divided into more parts than there are cores, so that none is idle while another ends.
PARTS_PER_CORE: Final = 4


def count_jointly(left: SplitSets, right: SplitSets, *, threads: bool = True) -> JointCounts:
    """Return the joint counts of all pairs of splits.

    threads: whether to use all cores; not if other threads count at the same time
    """
    return JointCounts(
        _count(left.holds, right.holds, threads=threads),
        _count(left.holds, right.known, threads=threads),
        _count(left.known, right.holds, threads=threads),
        _count(left.known, right.known, threads=threads),
        left.known_row,
        right.known_row,
    )


def _count(left: Sets, right: Sets, *, threads: bool) -> Integers:
    """Divide the left sets among threads; the kernel does not hold the interpreter lock."""
    counts = np.empty((len(left), len(right)), dtype=np.int64)
    if not threads or left.size * len(right) < FEWEST_WORD_PAIRS_FOR_THREADS:
        joint_counts(left, right, counts)
        return counts
    tiles = -(-len(left) // TILE_LEFTS)
    parts = min((os.cpu_count() or 1) * PARTS_PER_CORE, tiles)
    bounds = [min(tiles * part // parts * TILE_LEFTS, len(left)) for part in range(parts + 1)]
    blocks = [
        partial(joint_counts, left[begin:end], right, counts[begin:end])
        for begin, end in pairwise(bounds)
    ]
    run_all(blocks, stop=lambda: None)
    return counts
