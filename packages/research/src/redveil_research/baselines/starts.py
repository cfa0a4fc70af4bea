"""Where to start: the attributes that a single test of the other view matches best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.seam.queries import Side
from redveil_research.baselines.branches import BoolArray
from redveil_research.baselines.features import Features

# Thresholds to try for an attribute with many values: as many quantiles.
QUANTILES: Final = 19
# As many entities at a time, so that the tests of large tables fit into memory.
_BLOCK: Final = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Comparisons of codes with thresholds, two for each: up to it, and above."""

    place: NDArray[np.intp]
    threshold: NDArray[np.float32]
    is_low: BoolArray

    def holds(self, matrix: NDArray[np.float32]) -> BoolArray:
        """Return where each is true, bool[rows, tests]; nowhere if the value is missing."""
        codes = matrix[:, self.place]
        return np.where(self.is_low, codes <= self.threshold, codes > self.threshold)


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A target for the first tree, which is grown on the other side.

    holds:   who is in the target, bool[N]
    jaccard: of the target and the best single test of the other view
    """

    side: Side
    attribute: str
    holds: BoolArray
    jaccard: float


def tests_of(features: Features) -> Tests:
    """Return the single tests of a view that are tried as starts.

    >>> from redveil.schema import Attribute, Kind
    >>> from redveil_research.baselines.features import Feature
    >>> sick = Features(np.array([[0], [1]], np.float32), (Feature(Attribute("a", Kind.BOOLEAN)),))
    >>> tests_of(sick).threshold.tolist()
    [0.5, 0.5]
    """
    found: list[tuple[int, float, bool]] = []
    levels = np.arange(1, QUANTILES + 1) / (QUANTILES + 1)
    for place in range(len(features.columns)):
        codes = features.matrix[:, place]
        values = np.unique(codes[~np.isnan(codes)])
        if len(values) > QUANTILES + 1:
            known = codes[~np.isnan(codes)]
            values = np.append(np.unique(np.quantile(known, levels, method="lower")), np.inf)
        # The largest value has nothing above it.
        found += [(place, float(x) + 0.5, low) for x in values[:-1] for low in (True, False)]
    places, thresholds, lows = zip(*found, strict=True) if found else ((), (), ())
    return Tests(
        np.array(places, dtype=np.intp),
        np.array(thresholds, dtype=np.float32),
        np.array(lows, dtype=np.bool_),
    )


def best_starts(
    views: Mapping[Side, Features], count: int, min_support: int, max_support: float
) -> list[Start]:
    """Return up to `count` starts, best first: of each attribute, the test that matches best.

    A match is a test of each view, with an overlap of at least `min_support` entities; neither may
    cover more than the share `max_support` of all.
    """
    left, right = views[Side.LEFT], views[Side.RIGHT]
    tests = {side: tests_of(views[side]) for side in Side}
    jaccard = _jaccard(left, tests[Side.LEFT], right, tests[Side.RIGHT], min_support, max_support)
    if not jaccard.size:
        return []
    starts: list[Start] = []
    for side, best in ((Side.LEFT, jaccard.max(axis=1)), (Side.RIGHT, jaccard.max(axis=0))):
        names = [one.attribute.name for one in views[side].columns]
        strongest: dict[str, int] = {}
        for test, place in enumerate(tests[side].place):
            name = names[place]
            if best[test] > (best[strongest[name]] if name in strongest else 0):
                strongest[name] = test
        for name, test in strongest.items():
            one = tests[side]
            codes = views[side].matrix[:, one.place[test]]
            true = codes <= one.threshold[test] if one.is_low[test] else codes > one.threshold[test]
            starts.append(Start(side, name, true, float(best[test])))
    return sorted(starts, key=lambda start: -start.jaccard)[:count]


def _jaccard(
    left: Features,
    left_tests: Tests,
    right: Features,
    right_tests: Tests,
    min_support: int,
    max_support: float,
) -> NDArray[np.float64]:
    """Return the Jaccard index of each pair of tests, 0 if it is not within the limits."""
    both = np.zeros((len(left_tests.place), len(right_tests.place)))
    lefts, rights = np.zeros(len(left_tests.place)), np.zeros(len(right_tests.place))
    for begin in range(0, left.rows, _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        here = left_tests.holds(left.matrix[rows]).astype(np.float32)
        there = right_tests.holds(right.matrix[rows]).astype(np.float32)
        both += here.T @ there
        lefts += here.sum(axis=0)
        rights += there.sum(axis=0)
    either = lefts[:, None] + rights - both
    most = max_support * left.rows
    fits = (both >= max(min_support, 1)) & (lefts[:, None] <= most) & (rights <= most)
    return np.divide(both, either, out=np.zeros_like(both), where=fits)
