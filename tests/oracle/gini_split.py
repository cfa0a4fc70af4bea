"""The impurity that the best single split of a view leaves, by trying all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from oracle.baseline_starts import single_literals
from redveil.data.table import Column
from redveil.query.formula import Known, evaluate


def impurity(target: NDArray[np.int64], parts: list[NDArray[np.bool_]]) -> float:
    """Return the sum over the parts of their size times their Gini index."""
    total = 0.0
    for part in parts:
        size = int(part.sum())
        shares = [int(n) / size for n in np.bincount(target[part]) if size]
        total += size * (1 - sum(share**2 for share in shares))
    return total


def least_impurity(
    columns: Mapping[str, Column], target: NDArray[np.int64], min_leaf: int
) -> float:
    """Return the least impurity after one split; missing values go to the better side."""
    everybody = np.ones(target.size, dtype=np.bool_)
    best = impurity(target, [everybody])
    for name, column in columns.items():
        gaps = evaluate(Known(name), columns).false
        sides = [evaluate(literal, columns).true for literal in single_literals(column)]
        sides += [side | gaps for side in sides]
        sides.append(gaps)
        for side in sides:
            if min(int(side.sum()), int((~side).sum())) >= min_leaf:
                best = min(best, impurity(target, [side, ~side]))
    return best
