"""Cut points of numeric attributes. They are public and declared, never taken from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

Method = Literal["explicit", "equal-width", "decades", "symmetric-decades"]
METHODS: Final[tuple[Method, ...]] = ("explicit", "equal-width", "decades", "symmetric-decades")

# The code of a bin is a byte, and one code means missing.
MOST_BINS: Final = 255
DEFAULT_INTERVALS: Final = 20
MOST_DEFAULT_INTEGER_CUTS: Final = 64


@dataclass(frozen=True, slots=True)
class CutRule:
    """The declared rule for the cut points of one numeric attribute.

    `explicit` lists them, `equal-width` gives the number of intervals, `decades` means 0 and 1-2-5
    per power of ten from `smallest` on, `symmetric-decades` the same on both sides of 0.

    >>> CutRule("decades", smallest=1.0).points(0, 30)
    (0.0, 1.0, 2.0, 5.0, 10.0, 20.0)
    """

    method: Method
    count: int = DEFAULT_INTERVALS
    values: tuple[float, ...] = ()
    smallest: float | None = None

    def points(self, minimum: float, maximum: float, *, integer: bool = False) -> tuple[float, ...]:
        """Return the cut points within the bounds: at least the minimum, below the maximum.

        Integers are cut between whole numbers: 3.7 would separate the same ones as 3. Listed cut
        points are not changed.

        >>> CutRule("equal-width", count=4).points(0, 1)
        (0.25, 0.5, 0.75)
        >>> CutRule("equal-width", count=4).points(0, 11, integer=True)
        (2.0, 5.0, 8.0)
        """
        if self.method == "explicit":
            return self.values
        if self.method == "equal-width":
            width = (maximum - minimum) / self.count
            # A set, because neighbours in narrow bounds may round to the same number.
            steps = range(1, self.count)
            candidates = sorted({rounded(minimum + i * width) for i in steps})
        else:
            smallest = self.smallest or default_smallest(minimum, maximum)
            upward = _decades(smallest, max(abs(minimum), abs(maximum)))
            downward = [-x for x in upward] if self.method == "symmetric-decades" else []
            candidates = sorted({0.0, *upward, *downward})
        if integer:
            candidates = whole(candidates)
        return tuple(x for x in candidates if minimum <= x < maximum)


def default_rule(minimum: float, maximum: float, *, integer: bool) -> CutRule:
    """Return the rule for attributes with declared bounds and no declared cut points.

    Every integer of a short range, otherwise intervals of equal width.

    >>> default_rule(1, 5, integer=True).points(1, 5)
    (1.0, 2.0, 3.0, 4.0)
    >>> len(default_rule(0, 1, integer=False).points(0, 1))
    19
    """
    first, last = math.ceil(minimum), math.floor(maximum)
    if integer and last - first <= MOST_DEFAULT_INTEGER_CUTS:
        # A set, because doubles beyond 2^53 skip integers.
        points = sorted({float(x) for x in range(first, last)})
        return CutRule("explicit", values=tuple(x for x in points if x < maximum))
    return CutRule("equal-width")


def default_smallest(minimum: float, maximum: float) -> float:
    """Return the start of decades: 1 for wide bounds, else three powers of ten below the top.

    >>> default_smallest(0, 50_000)
    1.0
    >>> default_smallest(0, 0.5)
    0.0001
    """
    top = max(abs(minimum), abs(maximum))
    if top >= 10:
        return 1.0
    return float(f"1e{math.floor(math.log10(top)) - 3}") or math.ulp(0.0)


def faults(values: Sequence[float], minimum: float, maximum: float) -> str | None:
    """Return what is wrong with explicit cut points, or None.

    >>> faults([3, 2], 0, 10)
    'cut points are not strictly increasing'
    """
    if not all(math.isfinite(x) for x in values):
        return "a cut point is not a finite number"
    if any(a >= b for a, b in pairwise(values)):
        return "cut points are not strictly increasing"
    if values and not (minimum <= values[0] and values[-1] < maximum):
        return "a cut point lies outside the bounds (cut points must be >= minimum and < maximum)"
    return None


def _decades(smallest: float, largest: float) -> list[float]:
    """Return 1-2-5 steps per power of ten in [smallest, largest]."""
    first = math.floor(math.log10(smallest))
    last = math.ceil(math.log10(largest))
    steps = (float(f"{m}e{p}") for p in range(first, last + 1) for m in (1, 2, 5))
    return [x for x in steps if smallest <= x <= largest]


def whole(points: Iterable[float]) -> list[float]:
    """Return the cut points at whole numbers that divide integers like the given ones, in order.

    >>> whole([0.5, 0.7, 3.0])
    [0.0, 3.0]
    """
    return sorted({float(math.floor(x)) + 0.0 for x in points})


def rounded(x: float) -> float:
    """Round to twelve significant digits, so that cut points print as short numbers.

    >>> rounded(0.1 + 0.2)
    0.3
    """
    return float(f"{x:.12g}")
