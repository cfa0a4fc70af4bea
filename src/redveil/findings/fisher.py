"""Fisher's exact test: a bound for noisy, real-valued counts, and the p-value of true ones."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Ten standard deviations of the overlap of the most entities there can be: what lies beyond is
# nothing to a double.
MOST_TERMS: Final = 10**5
# From here on, a few terms of Stirling's series are as exact as a double can be.
STIRLING_FROM: Final = 16.0


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
    """Return the logarithm of the hypergeometric probability of a table, given its margins.

    With log x! = x·log x − x + rest(x), the large terms add up to half the likelihood ratio of the
    table against the one expected if unrelated. Factorials of millions of entities would drown
    p-values near 1 in rounding errors; this does not.
    """
    a, b, c, d = (np.asarray(x, dtype=np.float64) for x in (n11, n10, n01, n00))
    left, right, not_left, not_right = a + b, a + c, c + d, b + d
    size = np.maximum(left + not_left, 1e-300)
    surplus = (a * d - b * c) / size
    unlikely = (
        _deviance(a, left / size * right, surplus)
        + _deviance(b, left / size * not_right, -surplus)
        + _deviance(c, not_left / size * right, -surplus)
        + _deviance(d, not_left / size * not_right, surplus)
    )
    margins = sum(_log_factorial_rest(x) for x in (left, not_left, right, not_right))
    inside = sum(_log_factorial_rest(x) for x in (size, a, b, c, d))
    return np.asarray(margins - inside - unlikely)


def _deviance(count: Floats, expected: Floats, surplus: Floats) -> Floats:
    """Return n·log(n / e) − (n − e), where the surplus is n − e."""
    there = (count > 0) & (expected > 0)
    n, e = np.where(there, count, 1.0), np.where(there, expected, 1.0)
    off = np.where(there, surplus / e, 0.0)
    near = off > -0.5
    logs = np.where(near, np.log1p(np.where(near, off, 0.0)), np.log(n / e))
    return np.where(there, count * logs, 0.0) - surplus


def _log_factorial_rest(x: Floats) -> Floats:
    """Return log x! less x·log x − x, for numbers that are not negative."""
    small = x < STIRLING_FROM
    large = np.where(small, x + STIRLING_FROM, x)
    square = large * large
    series = 1 / 1680 - 1 / 1188 / square
    for coefficient in (1 / 1260, 1 / 360, 1 / 12):
        series = coefficient - series / square
    rest = np.asarray(0.5 * np.log(2 * np.pi * large) + series / large)
    if not small.any():
        return rest
    # log x! is log (x + 16)! less the logarithms of the sixteen numbers in between.
    few, more = x[small], large[small]
    between = sum(np.log(few + step) for step in range(1, int(STIRLING_FROM) + 1))
    own = few * np.log(np.where(few > 0, few, 1.0)) - few
    rest[small] += more * np.log(more) - more - between - own
    return rest
