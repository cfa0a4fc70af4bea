"""The walk over trees against one that recounts everything at every step."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import pvariance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.walk import Candidates, Splits, TreeScore, Walk, candidates, proposed_split
from redveil.kernels.chain import Ending, accepts, below, ends, propose_split
from redveil.kernels.tree_walk import walk_tree
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

few = settings(max_examples=40, deadline=None)
UNIT = 2.0**-GRID_BITS
NEVER = -1.0


@dataclass(frozen=True)
class Setting:
    """A tree to start from, the target and the acceptance rate."""

    view: Candidates
    target: list[int]
    classes: int
    start: Splits
    rate: float
    cost: int = 0

    def score(self) -> TreeScore:
        return TreeScore(self.view, self.target, self.classes, GRID_BITS, self.cost)

    def by_hand(self, window: int = 0, threshold: float = NEVER) -> Walk:
        views = [self.view] * len(self.start)
        return Walk(views, self.score(), self.rate, UNIT, window, threshold)

    def walk(
        self, words: NDArray[np.uint64], ending: Ending, trace: NDArray[np.float64] | None = None
    ) -> tuple[tuple[int, int], Splits, list[float]]:
        """Run the kernel; return its result, the final splits and the trace."""
        splits, rows = np.array(self.start, np.int32), len(self.target)
        trace = np.zeros(len(words)) if trace is None else trace
        done = walk_tree(
            splits,
            sets_array(self.view, rows),
            packed_sets([range(rows)], rows)[0],
            np.array(self.target, np.int32),
            self.classes,
            words,
            self.rate,
            GRID_BITS,
            self.cost,
            ending,
            trace,
        )
        return done, tuple(splits.tolist()), trace.tolist()


@st.composite
def walk_settings(draw: st.DrawFn) -> Setting:
    rows, inner, classes = draw(entity_counts), draw(trees_inner), draw(st.integers(1, 4))
    view = draw(offers(rows))
    target = draw(spread(st.integers(-1, classes - 1), rows))
    cost = draw(st.sampled_from((0, 1 << GRID_BITS)))
    return Setting(view, target, classes, draw(full_trees(view, inner)), draw(rates), cost)


def forest(seed: int, rows: int, inner: int, rate: float) -> Setting:
    """A setting at random, for long walks: some values missing, some entities without a class."""
    generator = np.random.default_rng(seed)
    values = generator.integers(-1, 4, size=(4, rows)).tolist()
    runs = [(a, low, high) for a in range(4) for low, high in ((0, 0), (0, 1), (2, 3))[: a + 1]]
    view = candidates([[None if v < 0 else v for v in column] for column in values], runs)
    target = [min(column, 2) for column in generator.integers(-1, 4, size=rows).tolist()]
    start = tuple(generator.integers(0, len(runs), size=inner).tolist())
    return Setting(view, target, 3, start, rate)


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
    ("seed", "rows", "inner", "rate", "walk_steps"),
    [
        (1, 130, 7, 3e-4, 397),
        (2, 33, 3, 2e-3, 2000),
        (3, 65, 7, 1e-3, 901),
        (4, 30, 7, 1e-5, 1999),
    ],
)
def test_the_running_score_is_a_full_recount_after_many_steps(
    seed: int, rows: int, inner: int, rate: float, walk_steps: int
) -> None:
    setting = forest(seed, rows, inner, rate)
    words = random_words(seed, walk_steps)
    expected = setting.by_hand().run(setting.start, words.tolist())
    (taken, accepted), splits, trace = setting.walk(words, no_stop())
    assert (taken, accepted) == (walk_steps, expected.accepted)
    assert 0 < accepted < walk_steps
    assert splits == expected.splits
    assert trace == expected.trace
    # One more step records the running score, which must be that of the last tree.
    _, _, longer = setting.walk(np.concatenate([words, words[:1]]), no_stop())
    assert longer[-1] == setting.score()(splits) * UNIT
    assert len(set(trace)) > 10


@few
@given(walk_settings(), st.integers(1, 30), st.integers(0, 999))
def test_a_walk_can_be_cut_in_two(setting: Setting, walk_steps: int, seed: int) -> None:
    words = random_words(seed, 2 * walk_steps)
    done, splits, trace = setting.walk(words, no_stop())
    first, half_way, one = setting.walk(words[:walk_steps], no_stop())
    again = Setting(
        setting.view, setting.target, setting.classes, half_way, setting.rate, setting.cost
    )
    second, end, two = again.walk(words[walk_steps:], no_stop())
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
    assert trace == [setting.score()(setting.start) * UNIT] + [0.0] * (walk_steps - 1)


@pytest.mark.parametrize("last", [0, 1, 17, 199])
def test_the_flag_is_read_before_every_step(last: int) -> None:
    # The flag is part of the trace: the walk raises it itself when it records a score.
    setting, words = forest(5, 70, 3, 1e-3), random_words(5, 200)
    trace = np.zeros(200)
    highest_byte = trace.view(np.uint8)[8 * last + 7 : 8 * last + 8]
    done, splits, written = setting.walk(words, Ending(highest_byte, 0, NEVER), trace)
    expected = setting.by_hand().run(setting.start, words[:last].tolist())
    assert (done[0], done[1], splits) == (last, expected.accepted, expected.splits)
    assert written[:last] == expected.trace
    assert written[last] == setting.score()(splits) * UNIT
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


def test_the_published_rule_ends_some_walks_later_than_others() -> None:
    words = random_words(6, 400)
    cases = [forest(seed, 70, 3, 5e-3) for seed in range(6)]
    ended = [one.by_hand(50, 2.0).run(one.start, words.tolist()).walk_steps for one in cases]
    # Not before 50 steps have been taken, as in the paper's listings.
    assert min(ended) == 50
    assert len(set(ended)) > 2
    assert [one.walk(words, no_stop(50, 2.0))[0][0] for one in cases] == ended


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=30),
    st.integers(1, 10),
    st.sampled_from((0.0, 1e-6, 0.2, 1.0, 90.0)),
)
def test_the_variance_is_that_of_the_last_scores(
    scores: list[int], window: int, threshold: float
) -> None:
    trace = np.array([*scores, 10**6], np.float64)
    last = scores[-window:]
    expected = len(last) == window and pvariance(last) < threshold
    assert bool(ends(trace, len(scores), no_stop(window, threshold))) is expected


def test_one_jump_among_large_scores_is_not_lost() -> None:
    # Sums of squares of numbers like these would drown a variance of 1/4.
    trace = np.array([1e9, 1e9, 1e9 + 1, 1e9 + 1])
    assert not ends(trace, 4, no_stop(4, 0.25))
    assert ends(trace, 4, no_stop(4, 0.2500001))


@given(st.floats(0, 1e6), st.integers(1, 20), st.integers(0, 5))
def test_threshold_minus_one_never_ends(score: float, walk_steps: int, window: int) -> None:
    for step in range(walk_steps):
        assert not ends(np.full(walk_steps, score), step, no_stop(window))


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**31 - 1))
def test_the_low_half_is_scaled(word: int, bound: int) -> None:
    assert below(np.uint64(word), bound) == (word % 2**32) * bound // 2**32


@given(st.data(), st.integers(0, 2**64 - 1))
def test_the_high_half_chooses_the_attribute(data: st.DataObject, word: int) -> None:
    view = data.draw(offers(1))
    first = sets_array(view, 1).first_split
    assert propose_split(np.uint64(word), first) == proposed_split(word, view)


@pytest.mark.parametrize(
    ("word", "split"),
    [(0, 0), (2**32 - 1, 2), (2**63, 3), (2**64 - 2**32, 4), (2**64 - 1, 8)],
)
def test_the_ends_of_the_range_are_reached_and_not_passed(word: int, split: int) -> None:
    # Three attributes, with three splits, one and five.
    assert propose_split(np.uint64(word), np.array([0, 3, 4, 9], np.int32)) == split


def test_acceptance_turns_at_the_exponential() -> None:
    # exp(0.25 · −4 · ln 2) is a half: 53 bits below 2^52 pass, from there on they do not.
    rate = float(np.log(2)) / 4
    limit = int(np.exp(rate * -4) * 2**53)
    for uniform, passes in ((0, True), (limit - 2, True), (limit + 2, False), (2**53 - 1, False)):
        for rest in (0, 2**11 - 1):
            assert accepts(np.uint64((uniform << 11) + rest), rate, -4) is passes
    assert abs(limit - 2**52) <= 1


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**9), st.floats(0, 10))
def test_a_proposal_that_is_no_worse_is_always_accepted(
    word: int, change: int, rate: float
) -> None:
    assert accepts(np.uint64(word), rate, change)


def test_a_hopeless_proposal_is_refused_without_a_warning() -> None:
    assert not accepts(np.uint64(0), 1.0, -(10**9))
