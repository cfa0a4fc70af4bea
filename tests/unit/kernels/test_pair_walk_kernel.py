"""The walk over pairs of trees against one that recounts everything at every step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.walk import (
    Candidates,
    PairScore,
    Splits,
    Walk,
    candidates,
    leaves,
    reached,
    tabulate,
)
from redveil.kernels.chain import Ending
from redveil.kernels.pair_walk import PairCounts, recount_pair, take, walk_pair
from redveil.kernels.subtree import label_sets
from redveil.trees.scores import GRID_BITS
from strategies.arrays import spread
from strategies.walks import (
    entity_counts,
    full_trees,
    offers,
    packed_sets,
    random_words,
    rates,
    sets_array,
    trees_inner,
)
from support.compiled import compiled_only

few = settings(max_examples=30, deadline=None)
UNIT = 2.0**-GRID_BITS
NEVER = -1.0
ASSOCIATION = 0  # no classes: nothing to predict


@dataclass(frozen=True)
class Setting:
    """A pair of trees to start from, end to end, and what the first is to predict."""

    views: tuple[Candidates, Candidates]
    target: list[int]
    classes: int
    start: Splits
    rate: float
    scale: float = UNIT

    @property
    def inner(self) -> int:
        return len(self.start) // 2

    def score(self) -> PairScore:
        rows = len(self.target)
        return PairScore(*self.views, rows, self.target, self.classes, GRID_BITS)

    def by_hand(self, window: int = 0, threshold: float = NEVER) -> Walk:
        nodes = [view for view in self.views for _ in range(self.inner)]
        return Walk(nodes, self.score(), self.rate, self.scale, window, threshold)

    def walk(
        self, words: NDArray[np.uint64], ending: Ending, trace: NDArray[np.float64] | None = None
    ) -> tuple[tuple[int, int], Splits, list[float]]:
        """Run the kernel; return its result, the final splits and the trace."""
        rows, inner = len(self.target), self.inner
        first, second = (np.array(s, np.int32) for s in (self.start[:inner], self.start[inner:]))
        trace = np.zeros(len(words)) if trace is None else trace
        done = walk_pair(
            (first, second),
            (sets_array(self.views[0], rows), sets_array(self.views[1], rows)),
            packed_sets([range(rows)], rows)[0],
            rows,
            np.array(self.target, np.int32),
            self.classes,
            words,
            self.rate,
            GRID_BITS,
            self.scale,
            ending,
            trace,
        )
        return done, tuple(first.tolist() + second.tolist()), trace.tolist()


@st.composite
def walk_settings(draw: st.DrawFn) -> Setting:
    rows, inner, classes = (
        draw(entity_counts),
        draw(trees_inner),
        draw(st.sampled_from((2, 0, 3, 0, 1))),
    )
    views = draw(offers(rows)), draw(offers(rows))
    target = draw(spread(st.integers(-1, max(classes, 1) - 1), rows))
    start = draw(full_trees(views[0], inner)) + draw(full_trees(views[1], inner))
    return Setting(views, target, classes, start, draw(rates), draw(st.sampled_from((UNIT, 0.3))))


def grove(seed: int, rows: int, inner: int, rate: float, classes: int) -> Setting:
    """A setting at random, for long walks: some values missing, views that have to do with another.

    The right view's values are the left one's, changed here and there.
    """
    generator = np.random.default_rng(seed)
    left = generator.integers(-1, 4, size=(4, rows))
    right = np.where(generator.random(left.shape) < 0.7, left, generator.integers(-1, 4, (4, rows)))
    runs = [(a, low, high) for a in range(4) for low, high in ((0, 0), (0, 1), (2, 3))[: a + 1]]
    one, two = (
        candidates([[None if v < 0 else v for v in column] for column in values.tolist()], runs)
        for values in (left, right)
    )
    target = [min(v, max(classes, 1) - 1) for v in left[0].tolist()]
    start = tuple(generator.integers(0, len(runs), size=2 * inner).tolist())
    return Setting((one, two), target, classes, start, rate)


def no_stop(window: int = 0, threshold: float = NEVER) -> Ending:
    return Ending(np.zeros(1, np.uint8), window, threshold)


@few
@given(walk_settings(), st.integers(0, 40), st.integers(0, 999))
def test_every_step_is_the_one_taken_by_hand(setting: Setting, walk_steps: int, seed: int) -> None:
    words = random_words(seed, walk_steps)
    expected = setting.by_hand().run(setting.start, words.tolist())
    (taken, accepted), splits, trace = setting.walk(words, no_stop())
    assert (taken, accepted) == (walk_steps, expected.accepted)
    assert splits == expected.splits
    assert trace == expected.trace


@compiled_only
@pytest.mark.parametrize(
    ("seed", "rows", "inner", "rate", "classes", "walk_steps"),
    [
        (1, 130, 7, 3e-4, ASSOCIATION, 331),
        (2, 32, 3, 3e-4, ASSOCIATION, 2000),
        (3, 65, 7, 4e-4, 3, 512),
        (4, 64, 3, 3e-4, 2, 777),
        (5, 20, 1, 1e-4, 2, 1000),
    ],
)
def test_the_running_score_is_a_full_recount_after_many_steps(
    seed: int, rows: int, inner: int, rate: float, classes: int, walk_steps: int
) -> None:
    setting = grove(seed, rows, inner, rate, classes)
    words = random_words(seed, walk_steps)
    expected = setting.by_hand().run(setting.start, words.tolist())
    (taken, accepted), splits, trace = setting.walk(words, no_stop())
    assert (taken, accepted) == (walk_steps, expected.accepted)
    assert 0 < accepted < walk_steps
    assert splits == expected.splits
    assert trace == expected.trace
    # One more step records the running score, which must be that of the last pair.
    _, _, longer = setting.walk(np.concatenate([words, words[:1]]), no_stop())
    assert longer[-1] == setting.score()(splits) * UNIT
    assert len(set(trace)) > 10


@few
@given(walk_settings(), st.integers(1, 20), st.integers(0, 999))
def test_a_walk_can_be_cut_in_two(setting: Setting, walk_steps: int, seed: int) -> None:
    words = random_words(seed, 2 * walk_steps)
    done, splits, trace = setting.walk(words, no_stop())
    first, half_way, one = setting.walk(words[:walk_steps], no_stop())
    second, end, two = replace(setting, start=half_way).walk(words[walk_steps:], no_stop())
    assert splits == end
    assert trace == one + two
    assert done == tuple(a + b for a, b in zip(first, second, strict=True))


@few
@given(walk_settings(), st.integers(1, 30))
def test_a_raised_flag_ends_a_walk_before_its_first_step(setting: Setting, walk_steps: int) -> None:
    raised = Ending(np.ones(1, np.uint8), 0, NEVER)
    done, splits, trace = setting.walk(random_words(0, walk_steps), raised)
    assert done == (0, 0)
    assert splits == setting.start
    assert trace == [setting.score()(setting.start) * setting.scale] + [0.0] * (walk_steps - 1)


@pytest.mark.parametrize("last", [0, 1, 17, 99])
def test_the_flag_is_read_before_every_step(last: int) -> None:
    # The flag is part of the trace: the walk raises it itself when it records a score.
    setting, words = grove(6, 70, 3, 1e-3, 2), random_words(6, 100)
    trace = np.zeros(100)
    highest_byte = trace.view(np.uint8)[8 * last + 7 : 8 * last + 8]
    done, splits, written = setting.walk(words, Ending(highest_byte, 0, NEVER), trace)
    expected = setting.by_hand().run(setting.start, words[:last].tolist())
    assert (done[0], done[1], splits) == (last, expected.accepted, expected.splits)
    assert written[:last] == expected.trace
    assert not any(written[last + 1 :])


@few
@given(
    walk_settings(),
    st.integers(1, 40),
    st.integers(1, 12),
    st.sampled_from((0.0, 1e-9, 0.3, 2.0, 30.0)),
)
def test_a_walk_ends_where_its_last_scores_vary_little(
    setting: Setting, walk_steps: int, window: int, threshold: float
) -> None:
    words = random_words(walk_steps, walk_steps)
    expected = setting.by_hand(window, threshold).run(setting.start, words.tolist())
    (taken, accepted), splits, trace = setting.walk(words, no_stop(window, threshold))
    assert (taken, accepted) == (expected.walk_steps, expected.accepted)
    assert splits == expected.splits
    assert trace[: len(expected.trace)] == expected.trace
    assert not any(trace[len(expected.trace) :])


@dataclass(frozen=True)
class Replacement:
    """Two trees, and a split replaced in one of them."""

    views: tuple[Candidates, Candidates]
    target: list[int]
    classes: int
    trees: tuple[Splits, Splits]
    side: int
    node: int
    split: int

    @property
    def replaced(self) -> tuple[Splits, Splits]:
        old = self.trees[self.side]
        new = (*old[: self.node], self.split, *old[self.node + 1 :])
        return (new, self.trees[1]) if self.side == 0 else (self.trees[0], new)

    def reach(self, trees: tuple[Splits, Splits]) -> list[set[int]]:
        return reached(trees[self.side], self.views[self.side], len(self.target))

    def leaves(self, trees: tuple[Splits, Splits]) -> list[list[int]]:
        return [leaves(trees[i], self.views[i], len(self.target)) for i in range(2)]

    def counts(self, trees: tuple[Splits, Splits]) -> PairCounts:
        """Return leaves of the second tree by leaves of the first, and those by classes."""
        width = len(trees[0]) + 1
        one, two = self.leaves(trees)
        # Without classes there is nothing to predict, and the target says nothing.
        target = self.target if self.classes else [-1] * len(self.target)
        classes = tabulate(one, target, width, self.classes)
        return PairCounts(
            np.array(classes, np.int64).reshape(width, self.classes),
            np.array(tabulate(two, one, width, width), np.int64),
        )


@st.composite
def replacements(draw: st.DrawFn) -> Replacement:
    setting, side = draw(walk_settings()), draw(st.integers(0, 1))
    inner = setting.inner
    split = draw(st.integers(0, len(setting.views[side].holds) - 1))
    trees = setting.start[:inner], setting.start[inner:]
    node = draw(st.integers(0, inner - 1))
    return Replacement(setting.views, setting.target, setting.classes, trees, side, node, split)


@few
@given(replacements())
def test_both_tables_follow_the_replaced_split(case: Replacement) -> None:
    rows = len(case.target)
    members = np.array(
        [
            packed_sets(reached(t, v, rows), rows)
            for t, v in zip(case.trees, case.views, strict=True)
        ]
    )
    fresh = packed_sets(case.reach(case.replaced), rows)
    labels = (
        label_sets(np.array(case.target, np.int32), case.classes, fresh.shape[1])
        if case.classes
        else fresh[:0]
    )
    found, expected = case.counts(case.trees), case.counts(case.replaced)
    recount_pair(case.node, case.side, members, fresh, labels, found)
    assert [each.tolist() for each in found] == [each.tolist() for each in expected]
    # What is taken over is all that the replacement changed.
    again = case.counts(case.trees)
    take(case.node, case.side, expected, again)
    assert [each.tolist() for each in again] == [each.tolist() for each in expected]
