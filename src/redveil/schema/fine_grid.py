"""The fine grid: candidate cut points of a numeric attribute, independent of its values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.cuts import default_smallest, rounded, whole

# Round numbers per power of ten, with nearly equal ratios.
_ROUND: Final = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
# The smallest power of ten, as a share of the largest bound.
_DEPTH: Final = 1e-9
_FEWEST_INTERVALS: Final = 100
# Within this many equal steps from 0, round numbers are denser than the steps.
_NEAR: Final = 4
# The ratio of the widest to the narrowest interval from which on a tail counts as heavy.
_UNEVEN: Final = 50


def is_heavy_tailed(attribute: Attribute) -> bool:
    """Return whether declared cut points are spaced as for a heavy tail, like decades.

    >>> is_heavy_tailed(Attribute("cost", Kind.NUMERIC, maximum=900, cuts=(0, 1, 10, 100)))
    True
    >>> is_heavy_tailed(Attribute("age", Kind.NUMERIC, maximum=110, cuts=(18, 40, 65)))
    False
    """
    if attribute.kind is not Kind.NUMERIC:
        return False
    gaps = [b - a for a, b in pairwise(attribute.cuts)]
    return len(gaps) > 1 and max(gaps) >= _UNEVEN * min(gaps)


def fine_grid(attribute: Attribute) -> tuple[float, ...]:
    """Return the candidate cut points of a numeric attribute, from its declaration alone.

    0, ten round numbers per power of ten on either side of it, and the declared cut points. Unless
    the declared cut points indicate a heavy tail, equal steps replace round numbers where these are
    sparser. All points are at least the minimum (a cut there separates the minimum from all other
    values) and below the maximum. Points for integers are whole, except for declared
    ones.

    >>> fine_grid(Attribute("cost", Kind.NUMERIC, maximum=12, cuts=(0, 0.01, 0.7)))[:6]
    (0.0, 0.01, 0.7, 1.0, 1.2, 1.5)
    >>> fine_grid(Attribute("age", Kind.NUMERIC, maximum=110, cuts=(18, 65)))[-3:]
    (107.0, 108.0, 109.0)
    """
    low, high = float(attribute.minimum), float(attribute.maximum)
    steps = _round_numbers(low, high)
    points = {0.0, *steps, *(-x for x in steps)}
    if not is_heavy_tailed(attribute):
        step = _equal_step(high - low)
        points = {x for x in points if abs(x) < _NEAR * step}
        first, last = math.ceil(low / step), math.ceil(high / step)
        equal = (rounded(i * step) for i in range(first, last))
        points |= {x for x in equal if abs(x) >= _NEAR * step}
    if attribute.integer:
        points = set(whole(points))
    points |= {low, *map(float, attribute.cuts)}
    return tuple(x for x in sorted(points) if low <= x < high)


def _round_numbers(low: float, high: float) -> list[float]:
    """Return round numbers from the default start of decades up to the larger bound."""
    top = max(abs(low), abs(high))
    start = max(default_smallest(low, high), top * _DEPTH)
    powers = range(math.floor(math.log10(start)), math.ceil(math.log10(top)) + 1)
    found = (float(f"{m}e{p}") for p in powers for m in _ROUND)
    return [x for x in found if start <= x <= top]


def _equal_step(span: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that gives enough intervals."""
    power = math.floor(math.log10(span)) - 2
    steps = [float(f"{m}e{p}") for p in range(power - 1, power + 2) for m in (1, 2, 5)]
    return max(x for x in steps if x * _FEWEST_INTERVALS <= span) or math.ulp(0.0)
