"""Fisher's exact test by counting: whole numbers and fractions, nothing else."""

from __future__ import annotations

import math
from fractions import Fraction


def fisher_tail(both: int, left: int, right: int, size: int) -> Fraction:
    """Return the chance that random sets of these supports overlap at least as much.

    Of all sets of `right` entities, those are counted that share `both` or more with a given set of
    `left` entities.
    """
    ways = sum(
        math.comb(left, shared) * math.comb(size - left, right - shared)
        for shared in range(max(both, left + right - size, 0), min(left, right) + 1)
    )
    return Fraction(ways, math.comb(size, right))


def log_of(chance: Fraction) -> float:
    """Return the natural logarithm of a fraction that may be too small for a float."""
    if chance == 0:
        return -math.inf
    return math.log(chance.numerator) - math.log(chance.denominator)
