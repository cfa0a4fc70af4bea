"""Fisher's exact test: a bound for noisy, real-valued counts, and the p-value of true ones."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Ten standard deviations of the overlap of the most entities there can be: what lies beyond is
# nothing to a double.
MOST_TERMS: Final = 10**5


def log_fisher(
    both: ArrayLike, only_left: ArrayLike, only_right: ArrayLike, neither: ArrayLike
) -> Floats:
    """Return a bound on the logarithm of Fisher's one-sided p-value, for real-valued counts.

    The p-value is the hypergeometric tail from the observed overlap on. Each of its terms is a
    smaller multiple of the one before it, so the tail is at most the first term times a geometric
    series (findings/leverage.md). A pair of queries and the pair of their complements have the same
    bound. It is 0, for p = 1, if the overlap is not larger than expected. Negative counts count as
    0.

    >>> round(float(np.exp(log_fisher(8, 2, 1, 9))), 6), round(fisher_p_value(8, 10, 9, 20), 6)
    (0.00274, 0.002739)
    """
    cells = [np.maximum(np.asarray(x, dtype=np.float64), 0.0) for x in (both, only_left)]
    cells += [np.maximum(np.asarray(x, dtype=np.float64), 0.0) for x in (only_right, neither)]
    n11, n10, n01, n00 = np.broadcast_arrays(*cells)
    first = _log_chance(n11, n10, n01, n00)
    ratio = n10 * n01 / ((n11 + 1) * (n00 + 1))
    related = n11 * n00 > n10 * n01
    rest = np.log1p(-np.where(related, ratio, 0.0))
    return np.asarray(np.where(related, np.minimum(first - rest, 0.0), 0.0), dtype=np.float64)


def fisher_p_value(both: int, left: int, right: int, size: int) -> float:
    """Return Fisher's one-sided p-value of true counts: P[overlap ≥ both] of unrelated queries.

    >>> round(fisher_p_value(8, 10, 9, 20), 6), fisher_p_value(0, 10, 9, 20)
    (0.002739, 1.0)
    """
    if both <= max(left + right - size, 0):
        return 1.0
    if both * size < left * right:
        # Most of the distribution: what is left of it is the tail with the other's complement.
        return 1.0 - fisher_p_value(left - both + 1, left, size - right, size)
    n11, n10, n01, n00 = map(float, (both, left - both, right - both, size - left - right + both))
    steps = np.arange(min(n10, n01, MOST_TERMS))
    ratios = (n10 - steps) * (n01 - steps) / ((n11 + 1 + steps) * (n00 + 1 + steps))
    tail = 1.0 + float(np.cumprod(ratios).sum())
    return min(float(np.exp(_log_chance(n11, n10, n01, n00) + np.log(tail))), 1.0)


def _log_chance(n11: ArrayLike, n10: ArrayLike, n01: ArrayLike, n00: ArrayLike) -> Floats:
    """Return the logarithm of the hypergeometric probability of a table, given its margins."""
    from scipy.special import gammaln

    a, b, c, d = (np.asarray(x, dtype=np.float64) for x in (n11, n10, n01, n00))
    margins = sum(gammaln(x + 1) for x in (a + b, c + d, a + c, b + d))
    return np.asarray(
        margins - gammaln(a + b + c + d + 1) - sum(gammaln(x + 1) for x in (a, b, c, d))
    )
