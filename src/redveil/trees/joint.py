"""From the split sets of two views to joint counts, on as many threads as there are cores."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.joint import JointCounts, joint_counts
from redveil.kernels.subtree import SplitSets

Sets = NDArray[np.uint64]
Integers = NDArray[np.int64]

# Pairs of words that are counted faster than threads start.
FEW: Final = 2**18


def count_jointly(left: SplitSets, right: SplitSets, members: Sets) -> JointCounts:
    """Count how all pairs of splits fall together among some entities.

    members: uint64[words], the entities that are counted.
    """
    holds, known = left.holds & members, left.known & members
    return JointCounts(
        _count(holds, right.holds),
        _count(holds, right.known),
        _count(known, right.holds),
        _count(known, right.known),
        left.known_row,
        right.known_row,
    )


def _count(left: Sets, right: Sets) -> Integers:
    """Share the left sets out among threads; the kernel holds no lock."""
    counts = np.empty((len(left), len(right)), dtype=np.int64)
    if left.size * len(right) < FEW:
        joint_counts(left, right, counts)
        return counts
    cores = min(os.cpu_count() or 1, len(left))
    bounds = [len(left) * core // cores for core in range(cores + 1)]
    with ThreadPoolExecutor(cores) as pool:
        blocks = [
            pool.submit(joint_counts, left[begin:end], right, counts[begin:end])
            for begin, end in pairwise(bounds)
        ]
        for block in blocks:
            block.result()
    return counts
