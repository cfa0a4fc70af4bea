"""Twin trees: two trees grown at once, so that their nodes match.

At a matched pair of nodes, over the entities that lie in both, one private choice takes a left
split, a right split and which of their sides correspond. The two pairs of corresponding children
are the next matched pairs. Below the roots, a pair may also stay as it is, which is likely where no
splits stand out. The matched pairs of a level hold disjoint entities, so a level costs its price
once (privacy/parallel.md). No initial target, no chain: the guarantee is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from redveil.growing.pairing import Earlier, Pairing
from redveil.kernels.joint import (
    JointCounts,
    agreement_units,
    correspondence_units,
    leverage_units,
)
from redveil.losses.plan import StepKey
from redveil.losses.score import Score
from redveil.privacy.mechanisms import choose
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released, combine, within
from redveil.trees.scores import CORRESPONDENCE, GRID_BITS, LEVERAGE, agreement
from redveil.trees.scores.correspondence import pieces
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

if TYPE_CHECKING:
    from redveil.counting.prepared import PreparedData

Integers = NDArray[np.int64]
NodePair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matching:
    """What a twin choice is scored by.

    units: returns the scores of all pairs of splits, int64[2, left, right], from joint counts
    """

    score: Score
    units: Callable[[JointCounts], Integers]


BY_LEVERAGE: Final = Matching(LEVERAGE, lambda counts: leverage_units(counts, GRID_BITS))
BY_AGREEMENT: Final = Matching(agreement(1), lambda counts: agreement_units(counts, 1))
BY_CORRESPONDENCE: Final = Matching(
    CORRESPONDENCE, lambda counts: correspondence_units(counts, pieces())
)


@dataclass(frozen=True, slots=True)
class Twins:
    """Two trees and their matched leaves, as (left node, right node). Released."""

    left: Tree
    right: Tree
    matches: tuple[NodePair, ...]

    def tree(self, side: Side) -> Tree:
        """Return the tree on one side."""
        return self.left if side is Side.LEFT else self.right

    def roots(self, splits: Mapping[Side, Splits]) -> dict[Side, int]:
        """Return the attributes that the two roots ask for."""
        return {side: _attribute(splits[side], self.tree(side).splits[0]) for side in Side}

    def matched(self, splits: Mapping[Side, Splits]) -> set[tuple[int, int]]:
        """Return the pairs of attributes, left and right, that stand at matched nodes."""
        return {
            (
                _attribute(splits[Side.LEFT], self.left.splits[left]),
                _attribute(splits[Side.RIGHT], self.right.splits[right]),
            )
            for match in self.matches
            for left, right in _above(match)
        }


def _above(match: NodePair) -> Iterator[NodePair]:
    """Yield the matched nodes above a matched pair, up to the roots."""
    left, right = match
    while left > 0:
        left, right = (left - 1) // 2, (right - 1) // 2
        yield left, right


ROOTS: Final = (0, 0)
BEFORE_GROWTH: Final = Twins(Tree(Side.LEFT, ()), Tree(Side.RIGHT, ()), (ROOTS,))


def grow_twins(
    data: PreparedData,
    root: Matching,
    earlier: Earlier,
    steps: Sequence[StepKey],
    purse: Purse,
    randomness: Randomness,
    required: Mapping[Side, Collection[str]] = MappingProxyType({}),
    grown: Released[Twins] | None = None,
    start: Twins = BEFORE_GROWTH,
) -> Released[Twins]:
    """Grow a pair of matched trees, one level for each of the plan's steps.

    root:     what the first choice is scored by; those below are scored by correspondence.
    earlier:  what earlier pairs of twins ask, which these leave alone so that they differ.
    required: names of attributes, of which each root takes one; any, if there are none.
    grown:    trees that are grown already, and are grown deeper.
    start:    what to grow from, if a person gave the first splits; public.
    """
    pairing = Pairing.of(data.schema, data.splits, required)
    for step in steps:
        if data.stop[0]:
            raise KeyboardInterrupt
        receipt = purse.pay(step, "choose")
        now = grown.value if grown else start
        matches, base = _open_matches(now, pairing, earlier)
        if not matches:
            continue
        # A candidate that always scores 0 fits the width of correspondence (its proof), and is
        # offered below the roots only.
        matching = root if matches == [ROOTS] else BY_CORRESPONDENCE
        counts = data.joint(now.left, now.right, matches)
        units = within(partial(_scores, matching, base.shape), counts)
        chosen = choose(units, matching.score, base, receipt, randomness)
        extend = partial(_extend, now, data.splits, matches)
        grown = combine(extend, chosen, *([grown] if grown else []))
    assert grown is not None, "parameters that leave nothing to match are refused before a run"
    return grown


def _scores(matching: Matching, shape: tuple[int, int], counted: Sequence[JointCounts]) -> Integers:
    """Score all candidates at some matched pairs of nodes, int64[matches, candidates].

    Staying as it is, the last candidate below the roots, has a score of 0.
    """
    scores = np.zeros(shape, dtype=np.int64)
    for row, counts in zip(scores, counted, strict=True):
        units = matching.units(counts)
        row[: units.size] = units.ravel()
    return scores


def _open_matches(
    twins: Twins, pairing: Pairing, earlier: Earlier
) -> tuple[list[NodePair], Integers]:
    """Return the matched pairs that can still be split, and what may be chosen there.

    That is, int64[matches, candidates]: all pairs of splits, once for each way in which their sides
    correspond. Below the roots there is one candidate more, to stay as it is. It weighs as much as
    all others together: without anything to find, a pair stays as it is at least every second time.
    Public: follows from the released trees and from public parameters alone.
    """
    matches: list[NodePair] = []
    base: list[Integers] = []
    for match in twins.matches:
        left, right = twins.left.path(match[0]), twins.right.path(match[1])
        both = pairing.allowed(left, right, earlier).astype(np.int64).ravel()
        if both.any():
            matches.append(match)
            stays = [2 * both.sum()] if match != ROOTS else []
            base.append(np.concatenate([both, both, stays]).astype(np.int64))
    return matches, np.array(base)


def _extend(
    twins: Twins,
    splits: Mapping[Side, Splits],
    matches: Sequence[NodePair],
    chosen: Sequence[int],
    *_earlier: Twins,
) -> Twins:
    """Return the twins with one more level."""
    rights = len(splits[Side.RIGHT])
    pairs = len(splits[Side.LEFT]) * rights
    below: list[NodePair] = []
    new: dict[Side, dict[int, int]] = {side: {} for side in Side}
    for (left, right), number in zip(matches, chosen, strict=True):
        crossed, pair = divmod(number, pairs)
        if crossed > 1:
            below.append((left, right))
            continue
        new[Side.LEFT][left], new[Side.RIGHT][right] = divmod(pair, rights)
        first, second = 2 * right + 1 + crossed, 2 * right + 2 - crossed
        below += [(2 * left + 1, first), (2 * left + 2, second)]
    closed = [match for match in twins.matches if match not in matches]
    trees = [_with_splits(twins.tree(side), splits[side], new[side]) for side in Side]
    return Twins(trees[0], trees[1], (*closed, *below))


def _with_splits(tree: Tree, splits: Splits, new: dict[int, int]) -> Tree:
    """Return a tree with splits at some of its leaves."""
    inner = tree.inner_splits | new
    return Tree.of(tree.side, inner, splits.stops(inner))


def _attribute(splits: Splits, split: int | None) -> int:
    assert split is not None, "a grown tree has a split at its root"
    return int(splits.attribute[split])
