"""The baselines: three ways to grow trees on two views in turn.

All begin with a target, a set of entities that one test of one view describes, and grow the first
tree on the other view. They differ in what the next tree predicts, and in how it grows.

Split trees and layered trees are those of Zinchenko, Galbrun and Miettinen, "Mining predictive
redescriptions with trees" (2015); CARTwheels is that of Ramakrishnan, Kumar, Mishra, Potts and
Helm, "Turning CARTwheels: an alternating algorithm for mining redescriptions" (2004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.seam.queries import Side
from redveil_research.baselines.branches import (
    BoolArray,
    Branch,
    Features,
    grow,
    holds,
    positive,
    whole,
)

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
    >>> from redveil_research.baselines.branches import Feature
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


#: Leaves of a left tree and leaves of a right tree that describe nearly the same entities.
Match: TypeAlias = Mapping[Side, list[Branch]]
# More trees than these hardly change what CARTwheels finds.
MOST_ALTERNATIONS: Final = 8


@dataclass(frozen=True, slots=True)
class Growth:
    """How large trees may grow: their depth, and the fewest entities in a leaf."""

    depth: int
    min_leaf: int


Method: TypeAlias = Callable[[Mapping[Side, Features], Start, Growth], Iterator[Match]]


def split_trees(views: Mapping[Side, Features], start: Start, growth: Growth) -> Iterator[Match]:
    """SplitT: grow trees anew in turn, each round one level deeper.

    The target of each tree is the positive part of the other one. Where a tree of some depth is
    positive nowhere or everywhere, the next round tries the same side. It ends with the last depth,
    or when a round has changed nothing.
    """

    def deeper(side: Side, target: BoolArray, level: int) -> list[Branch]:
        features = views[side]
        classes = target.astype(np.int64)
        return positive(grow(features, whole(features), classes, level, growth.min_leaf), target)

    yield from _in_turn(views, start, growth.depth, deeper)


def layered_trees(views: Mapping[Side, Features], start: Start, growth: Growth) -> Iterator[Match]:
    """LayeredT: extend the two trees in turn, each time by one layer.

    A layer is one split in every leaf, each chosen among the entities of that leaf alone. Earlier
    splits stay. The target of a layer is the positive part of the other tree.
    """
    trees = {side: [whole(views[side])] for side in Side}

    def deeper(side: Side, target: BoolArray, _: int) -> list[Branch]:
        classes = target.astype(np.int64)
        trees[side] = [
            leaf
            for branch in trees[side]
            for leaf in grow(views[side], branch, classes, 1, growth.min_leaf)
        ]
        return positive(trees[side], target)

    yield from _in_turn(views, start, growth.depth, deeper)


def _in_turn(
    views: Mapping[Side, Features],
    start: Start,
    depth: int,
    deeper: Callable[[Side, BoolArray, int], list[Branch]],
) -> Iterator[Match]:
    """Grow trees on the two sides in turn, and yield the last pair of them, if there is one."""
    side, target = start.side.other, start.holds
    found: dict[Side, list[Branch]] = {}
    supports: dict[Side, BoolArray] = {}
    for level in range(1, depth + 1):
        changed = False
        for _ in Side:
            leaves = deeper(side, target, level)
            support = holds(leaves, views[side].rows)
            if not support.any() or support.all():
                # Perhaps a deeper tree says more.
                changed = True
                break
            changed = changed or side not in supports or (support != supports[side]).any()
            found[side], supports[side] = leaves, support
            side, target = side.other, support
        if not changed:
            break
    if len(found) == 2:
        yield found


def cartwheels(views: Mapping[Side, Features], start: Start, growth: Growth) -> Iterator[Match]:
    """CARTwheels: grow trees of full depth in turn, each to predict the leaves of the one before.

    Every leaf is a class. What is read off a pair of trees is a leaf of the older one, and those
    leaves of the newer one that predict it. It ends when a tree divides the entities as the last
    one on its side did, or after eight trees.
    """
    side = start.side.other
    classes: NDArray[np.int64] = start.holds.astype(np.int64)
    older: list[Branch] = []
    divided: dict[Side, NDArray[np.int64]] = {}
    for _ in range(MOST_ALTERNATIONS):
        features = views[side]
        newer = grow(features, whole(features), classes, growth.depth, growth.min_leaf)
        predicted: dict[int, list[Branch]] = {}
        for branch in newer:
            majority = int(np.bincount(classes[branch.members]).argmax())
            predicted.setdefault(majority, []).append(branch)
        if older:
            for number, leaf in enumerate(older):
                if number in predicted:
                    yield {side.other: [leaf], side: predicted[number]}
        classes = np.empty(features.rows, dtype=np.int64)
        for number, branch in enumerate(newer):
            classes[branch.members] = number
        if side in divided and (divided[side] == classes).all():
            return
        divided[side] = classes
        older, side = newer, side.other


METHODS: Final[Mapping[str, Method]] = {
    "split-trees": split_trees,
    "layered-trees": layered_trees,
    "cartwheels": cartwheels,
}
