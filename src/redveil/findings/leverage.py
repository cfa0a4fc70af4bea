"""What the noise allows the leverage of a pair of queries to be, whatever their true shares are.

The leverage is the overlap less the overlap expected if unrelated. With a and b the true shares of
the entities that the two queries cover, it is a weighted sum of the cells of a leaf table, with
weights (1 − a or −a) × (1 − b or −b). The shares are not known, but the errors of all these sums
can be bounded together, and so can the shares (findings/leverage.md). Every p-value and every
chance-corrected index that remains possible follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Counts, Estimate, Moments
from redveil.findings.fisher import log_fisher

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Shares are tried on a grid of this many values between their bounds, on each side.
SHARES_TRIED: Final = 5
# The chance-corrected index is steeper, and reaches 1 only where both shares are equal.
SHARES_TRIED_FOR_INTERVALS: Final = 17
# Below this share of the terms that it is made of, a difference is nothing but rounding.
ROUNDING: Final = 1e-12
# Bounds that are computed in another way than what they bound are widened by this share.
SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Leverages:
    """The possible leverages of pairs of queries, by the true shares of the queries.

    left, right: the shares, float64[shares, shares, pairs]
    low, high:   the bounds of the leverage at these shares, in entities, likewise
    sizes:       the bounds of the number of entities, float64[2, 1, 1, pairs]
    """

    left: Floats
    right: Floats
    low: Floats
    high: Floats
    sizes: Floats


def possible_leverages(
    moments: Moments, critical_value: float, tried: int = SHARES_TRIED, *, equal: bool = False
) -> Leverages:
    """Return the leverages that are consistent with the noise, pair by pair.

    tried: how many shares to try on each side; with one, only the estimates
    equal: try the other side's shares too, as far as the bounds allow
    """
    m = moments
    size = np.maximum(m.size, 1.0)
    off = critical_value * np.sqrt(m.size_size)
    steps = np.linspace(0.0, 1.0, tried) if tried > 1 else np.array([0.5])
    spread = critical_value if tried > 1 else 0.0
    lefts, rights = (
        low + steps[:, None] * (high - low)
        for low, high in (
            ratio_bounds(m.left, m.size, m.left_left, m.left_size, m.size_size, spread),
            ratio_bounds(m.right, m.size, m.right_right, m.right_size, m.size_size, spread),
        )
    )
    if equal:
        lefts, rights = (
            np.concatenate([ours, np.clip(theirs, ours[0], ours[-1])])
            for ours, theirs in ((lefts, rights), (rights, lefts))
        )
    a, b = np.broadcast_arrays(lefts[:, None, :], rights[None, :, :])
    middle = m.both - b * m.left - a * m.right + a * b * m.size
    width = critical_value * np.sqrt(leverage_variance(m, a, b))
    sizes = np.stack([np.maximum(size - off, 1.0), size + off])
    return Leverages(a, b, middle - width, middle + width, sizes[:, None, None, :])


def may_be_positive(estimate: Estimate, counts: Counts, critical_value: float) -> Flags:
    """Return where leverages may be above 0 in spite of the noise, bool[lefts, rights].

    That is where `possible_leverages` with one share on each side can say so. It is told from
    numbers of the unions alone, without the variances of each pair, and so for some pairs too many.
    """
    size = estimate.size
    a, b = (
        np.clip(each / size, 0.0, 1.0) if size > 0 else np.full_like(each, 0.5)
        for each in (counts.left, counts.right)
    )
    middle = counts.both - np.multiply.outer(counts.left, b)
    middle -= np.multiply.outer(a, counts.right - size * b)
    of_left, of_right = (np.sqrt(each) for each in estimate.least_variances(counts, a, b))
    width = critical_value * np.multiply.outer(of_left, of_right)
    # Both are rounded in another way than what they stand for.
    rounding = SLACK * max(float(np.abs(estimate.cells).sum()), abs(size))
    return np.asarray(middle > width * (1 - SLACK) - rounding)


def ratio_bounds(
    top: Floats,
    bottom: Floats,
    variance: Floats,
    covariance: Floats,
    bottom_variance: Floats,
    critical_value: float,
) -> tuple[Floats, Floats]:
    """Return the ratios in [0, 1] that two noisy counts do not contradict (Fieller's method).

    They are those x with |top − x·bottom| within `critical_value` standard errors. Nothing is known
    if the denominator could be 0.

    >>> known = [np.array([x]) for x in (30.0, 100.0, 4.0, 0.0, 0.0)]
    >>> [float(bound[0]) for bound in ratio_bounds(*known, 2.0)]
    [0.26, 0.34]
    """
    if critical_value == 0:
        return _ratio(top, bottom, 0.0), _ratio(top, bottom, 1.0)
    square = critical_value * critical_value
    a = bottom**2 - square * bottom_variance
    b = top * bottom - square * covariance
    # b² − a·c with its largest terms cancelled by hand: they would drown a small critical value.
    terms = bottom**2 * variance + top**2 * bottom_variance
    discriminant = (
        terms
        - 2 * top * bottom * covariance
        - square * (bottom_variance * variance - covariance**2)
    )
    # Everybody's share has no error; a root would make much of what rounding leaves of it.
    discriminant = np.where(discriminant > ROUNDING * terms, discriminant, 0.0)
    known = (a > 0) & (bottom > 0)
    safe = np.where(known, a, 1.0)
    root = critical_value * np.sqrt(discriminant)
    low = np.where(known, (b - root) / safe, 0.0)
    high = np.where(known, (b + root) / safe, 1.0)
    return _share(low), _share(high)


def _ratio(top: Floats, bottom: Floats, unknown: float) -> Floats:
    """Return the ratio of two counts without noise, as far as it is in [0, 1]."""
    known = bottom > 0
    return _share(np.where(known, top * bottom / np.where(known, bottom**2, 1.0), unknown))


def _share(x: Floats) -> Floats:
    """Return the nearest number in [0, 1]: 0 or 1 itself, if only rounding is in between."""
    return np.where(x < ROUNDING, 0.0, np.where(x > 1 - ROUNDING, 1.0, x))


def leverage_variance(moments: Moments, left: Floats, right: Floats) -> Floats:
    """Return the variance of both − b·left − a·right + a·b·size, for shares a (left) and b."""
    m, a, b = moments, left, right
    variance = (
        m.both_both
        + b**2 * m.left_left
        + a**2 * m.right_right
        + (a * b) ** 2 * m.size_size
        - 2 * (b * m.both_left + a * m.both_right - a * b * m.both_size)
        + 2 * a * b * m.left_right
        - 2 * a * b * (b * m.left_size + a * m.right_size)
    )
    return np.asarray(np.maximum(variance, 1e-12), dtype=np.float64)


def largest_log_p(moments: Moments, critical_value: float) -> Floats:
    """Return the logarithm of the largest p-value that the noise allows, float64[pairs].

    It is Fisher's, at the smallest leverage for each of the shares tried, with as few and as many
    entities as there can be.
    """
    tried = SHARES_TRIED if critical_value > 0 else 1
    p = possible_leverages(moments, critical_value, tried)
    a, b, n = p.left, p.right, p.sizes
    low = np.minimum(p.low, n * np.minimum(a * (1 - b), b * (1 - a)))
    counts = (
        a * b * n + low,
        a * (1 - b) * n - low,
        (1 - a) * b * n - low,
        (1 - a) * (1 - b) * n + low,
    )
    return np.asarray(log_fisher(*counts).max(axis=(0, 1, 2)))


def corrected_bounds(moments: Moments, critical_value: float) -> tuple[Floats, Floats, Floats]:
    """Return estimates, lower and upper bounds of the chance-corrected index, float64[pairs].

    It is (J − E) / (1 − E), where E is the Jaccard index expected if unrelated: 0 for unrelated
    queries, 1 for equal supports, negative if there is less overlap than expected.
    """
    at = possible_leverages(moments, 0.0, 1)
    estimate = corrected_index(at.left, at.right, at.low / at.sizes[0])[0, 0]
    if critical_value == 0:
        return estimate, estimate, estimate
    p = possible_leverages(moments, critical_value, SHARES_TRIED_FOR_INTERVALS, equal=True)
    low = corrected_index(p.left, p.right, p.low / p.sizes).min(axis=(0, 1, 2))
    high = corrected_index(p.left, p.right, p.high / p.sizes).max(axis=(0, 1, 2))
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def cautious_corrected(moments: Moments) -> Floats:
    """Return the chance-corrected index one standard error of the leverage below its estimate."""
    at = possible_leverages(moments, 1.0, 1)
    size = np.maximum(moments.size, 1.0)
    return np.asarray(corrected_index(at.left, at.right, at.low / size)[0, 0])


def corrected_index(left: Floats, right: Floats, leverage: Floats) -> Floats:
    """Return the chance-corrected index, from shares and a leverage per entity.

    >>> one = np.array([0.25])
    >>> corrected_index(one, one, np.array([0.1875])), corrected_index(one, one, np.array([0.0]))
    (array([1.]), array([0.]))
    """
    a, b = left, right
    most = np.minimum(a * (1 - b), b * (1 - a))
    surplus = np.clip(leverage, -np.minimum(a * b, (1 - a) * (1 - b)), most)
    # (J − E) / (1 − E) with everything over a common denominator.
    bottom = (a + b - a * b - surplus) * (a + b - 2 * a * b)
    safe = bottom > 1e-15
    index = np.divide((a + b) * surplus, bottom, out=np.zeros_like(bottom), where=safe)
    return np.asarray(np.clip(index, -1.0, 1.0))
