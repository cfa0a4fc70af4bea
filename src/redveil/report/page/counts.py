"""The counts of a finding as they are printed: rounded once, so that they add up everywhere.

`counts.js` does the same for answers in the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from redveil.report.document import IntervalPart, SupportPart


@dataclass(frozen=True, slots=True)
class Counts:
    """How many fit only the left description, both, and only the right one, as printed.

    Noise can make an overlap larger than a support. Then nobody fits that description alone, and
    what is missing there is taken from the other: so overlap and union stay as they were estimated,
    and their ratio is the Jaccard index.
    """

    only_left: int
    both: int
    only_right: int
    #: Whether the estimates would have been negative.
    adjusted: bool

    @classmethod
    def of(cls, support: SupportPart) -> Counts:
        """Return the counts of a pair of descriptions."""
        whole = (support.left, support.both, support.right)
        unit = rounding_unit(min(map(_spread, whole)))
        both = max(support.both.estimate, 0.0)
        left, right = support.left.estimate - both, support.right.estimate - both
        return cls(
            only_left=_rounded(left + min(right, 0.0), unit),
            both=_rounded(both, unit),
            only_right=_rounded(right + min(left, 0.0), unit),
            adjusted=min(left, right) <= -unit / 2,
        )

    @property
    def left(self) -> int:
        """How many fit the left description."""
        return self.only_left + self.both

    @property
    def right(self) -> int:
        """How many fit the right description."""
        return self.both + self.only_right


def rounded_count(count: IntervalPart) -> int:
    """Return a count with no more digits than the noise leaves.

    >>> rounded_count(IntervalPart(estimate=1137, low=848, high=1426))
    1140
    >>> rounded_count(IntervalPart(estimate=342, low=327, high=357))
    342
    """
    return _rounded(count.estimate, rounding_unit(_spread(count)))


def rounding_unit(spread: float) -> int:
    """Return the power of ten to which a count is rounded: at most a tenth of its spread.

    >>> rounding_unit(289), rounding_unit(99), rounding_unit(0)
    (10, 1, 1)
    """
    return int(10 ** math.floor(math.log10(max(spread / 10, 1)))) if math.isfinite(spread) else 1


def _spread(count: IntervalPart) -> float:
    # No count is below 0: there, the lower end says nothing about the noise.
    return max((count.high - count.low) / 2, count.high - count.estimate)


def _rounded(count: float, unit: int) -> int:
    # Halves upwards, as in JavaScript.
    return max(math.floor(count / unit + 0.5) * unit, 0)
