"""The paper's test of significance: the binomial tail. The published profile uses it.

It is weak for common queries: a pair and the pair of their complements get different p-values.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redveil.errors import InputError
from redveil.findings.estimate import Estimate, Moments
from redveil.findings.leverage import leverage_variance

Floats = NDArray[np.float64]

# How many expected overlaps are tried in search of the largest p-value.
EXPECTED_OVERLAPS_TRIED: Final = 33


def binomial_p_values(
    both: ArrayLike, left: ArrayLike, right: ArrayLike, size: ArrayLike
) -> Floats:
    """Return P[X ≥ both] for X ~ Binomial(size, left·right / size²), for real-valued counts.

    The binomial tail is an incomplete beta function, which needs no whole numbers and does not
    lose small probabilities as 1 − cdf would.

    >>> binomial_p_values(3, 5, 4, 10).round(4).tolist()
    0.3222
    """
    entities = np.maximum(np.asarray(size, dtype=np.float64), 1.0)
    lefts, rights = np.clip(left, 0.0, entities), np.clip(right, 0.0, entities)
    overlap = np.asarray(np.minimum(both, np.minimum(lefts, rights)), dtype=np.float64)
    chance = lefts * rights / entities**2
    return _tail(overlap, entities, chance)


def largest_binomial_p(moments: Moments, estimate: Estimate, critical_value: float) -> Floats:
    """Return the largest p-values that the noise allows, within `critical_value` standard errors.

    What makes a find significant is its leverage, both − left·right / size. The four counts have
    errors in common, so the leverage is bounded as a whole, by its linear part and a bound of the
    rest; the p-value is then taken at the worst expected overlap within its own interval.
    """
    m = moments
    likely = binomial_p_values(m.both, m.left, m.right, estimate.size)
    if critical_value == 0:
        return likely
    size = np.maximum(m.size, 1.0)
    lefts, rights = np.clip(m.left, 0.0, size), np.clip(m.right, 0.0, size)
    off_left, off_right, off_size = (
        critical_value * np.sqrt(variance) for variance in (m.left_left, m.right_right, m.size_size)
    )
    smallest, largest = np.maximum(size - off_size, 1.0), size + off_size
    # left·right / size less its linear part: its second derivatives, at their largest.
    share, other = (
        np.minimum((count + off) / smallest, 1.0)
        for count, off in ((lefts, off_left), (rights, off_right))
    )
    mixed = other * off_left + share * off_right + share * other * off_size
    curved = (off_left * off_right + mixed * off_size) / smallest
    linear = critical_value * np.sqrt(leverage_variance(m, lefts / size, rights / size))
    leverage = m.both - lefts * rights / size - linear - curved
    least = np.maximum(lefts - off_left, 0.0) * np.maximum(rights - off_right, 0.0) / largest
    most = np.minimum((lefts + off_left) * (rights + off_right) / smallest, largest)
    # Where a fixed surplus is likeliest by chance is found by trying.
    expected = np.linspace(least, most, EXPECTED_OVERLAPS_TRIED)
    tails = _tail(expected + leverage, largest, expected / largest)
    worst = np.where(leverage > 0, tails.max(axis=0), 1.0)
    # Noise can make an overlap larger than its supports; then the estimates are the worse end.
    return np.asarray(np.maximum(worst, likely), dtype=np.float64)


def _tail(overlap: Floats, size: Floats, chance: Floats) -> Floats:
    """Return P[X ≥ overlap] for X ~ Binomial(size, chance), for real-valued counts."""
    must_have_scipy()
    from scipy.special import betainc

    above = np.maximum(size - overlap + 1, 1e-12)
    tail = betainc(np.maximum(overlap, 1e-12), above, np.clip(chance, 0.0, 1.0))
    return np.asarray(np.where(overlap <= 0, 1.0, tail), dtype=np.float64)


def must_have_scipy() -> None:
    """Refuse to go on without SciPy, which the paper's test alone takes.

    >>> must_have_scipy()
    """
    try:
        import scipy  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            "results of the published profile need SciPy; run pip install scipy"
        ) from None
