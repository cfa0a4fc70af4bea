"""Tests of the paper: binomial tail, Spearman's rank correlation, Mann–Whitney.

Written with special functions only: SciPy's module of distributions can draw from them, and nothing
in redveil may draw from anything that can be repeated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def binomial_tail(both: int, left: int, right: int, entities: int) -> float:
    """Return P[X ≥ both] for X ~ Binomial(entities, left·right / entities²).

    >>> round(binomial_tail(3, 5, 4, 10), 4)
    0.3222
    """
    from scipy.special import betainc

    if both <= 0:
        return 1.0
    return float(betainc(both, entities - both + 1, left / entities * (right / entities)))


def ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values get the mean of their ranks.

    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def spearman(first: Floats, second: Floats) -> tuple[float, float] | None:
    """Return the rank correlation and its two-sided p-value; None if there is none.

    >>> spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 4.0, 3.0]))
    (0.6, 0.4)
    >>> spearman(np.array([1.0, 2.0]), np.array([2.0, 1.0])) is None
    True
    """
    from scipy.special import stdtr

    count = first.size
    if count < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    rho = float(np.clip(np.corrcoef(ranks(first), ranks(second))[0, 1], -1.0, 1.0))
    if abs(rho) > 1 - 1e-12:
        return round(rho), 0.0
    t = rho * math.sqrt((count - 2) / (1 - rho * rho))
    return round(rho, 12), round(float(2 * stdtr(count - 2, -abs(t))), 300)


def mann_whitney(better: Floats, other: Floats, *, larger: bool) -> float:
    """Return the one-sided p-value that one sample is larger, or smaller, than another.

    The normal approximation with corrections for ties and continuity.

    >>> round(mann_whitney(np.arange(5.0, 15.0), np.arange(10.0), larger=True), 5)
    0.00254
    """
    from scipy.special import ndtr

    if not larger:
        return mann_whitney(-better, -other, larger=True)
    n, m = better.size, other.size
    together = np.concatenate([better, other])
    wins = float(ranks(together)[:n].sum()) - n * (n + 1) / 2
    counts = np.unique(together, return_counts=True)[1].astype(np.float64)
    ties = float((counts**3 - counts).sum()) / ((n + m) * (n + m - 1))
    deviation = math.sqrt(n * m / 12 * (n + m + 1 - ties))
    if deviation == 0:
        return 1.0
    return float(ndtr(-(wins - n * m / 2 - 0.5) / deviation))
