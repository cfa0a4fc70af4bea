"""Lower bounds on ε hold as often as they say, and the events they are about are well chosen."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from redveil.errors import InputError
from redveil_research.audit.bounds import at_least, at_most, epsilon_at_least
from redveil_research.audit.events import Outcome, best_event, promise


@given(
    counts=st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    error=st.sampled_from([0.05, 0.025, 0.001]),
)
def test_clopper_pearson_is_scipys(counts: tuple[int, int], error: float) -> None:
    expected = binomtest(*counts).proportion_ci(1 - 2 * error, method="exact")
    assert at_least(*counts, error) == pytest.approx(expected.low, abs=1e-10)
    assert at_most(*counts, error) == pytest.approx(expected.high, abs=1e-10)


@pytest.mark.parametrize("runs", [1, 7, 60])
def test_the_bounds_hold_as_often_as_they_say(runs: int) -> None:
    hits = np.arange(runs + 1)
    low = np.array([at_least(int(k), runs, 0.05) for k in hits])
    high = np.array([at_most(int(k), runs, 0.05) for k in hits])
    for chance in np.linspace(0.01, 0.99, 25):
        law = binom.pmf(hits, runs, chance)
        assert law[low > chance].sum() <= 0.05
        assert law[high < chance].sum() <= 0.05


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_mechanism_that_spends_all_it_claims_is_seldom_accused(
    epsilon: float, delta: float
) -> None:
    likely_runs, unlikely_runs, error = 20, 16, 0.05
    accused = np.array(
        [
            [
                epsilon_at_least((a, likely_runs), (b, unlikely_runs), error, delta) > epsilon
                for b in range(unlikely_runs + 1)
            ]
            for a in range(likely_runs + 1)
        ]
    )
    assert accused.any()
    for unlikely in np.linspace(0.0, (1 - delta) / math.exp(epsilon), 40):
        law = np.outer(
            binom.pmf(range(likely_runs + 1), likely_runs, math.exp(epsilon) * unlikely + delta),
            binom.pmf(range(unlikely_runs + 1), unlikely_runs, unlikely),
        )
        assert law[accused].sum() <= error


def test_the_bound_is_sharper_than_two_bounds_of_probabilities() -> None:
    for likely, unlikely in product((60, 150, 300), (0, 10, 40)):
        for delta in (0.0, 0.01):
            low, high = at_least(likely, 400, 0.025), at_most(unlikely, 400, 0.025)
            bound = epsilon_at_least((likely, 400), (unlikely, 400), 0.05, delta)
            assert math.log((low - delta) / high) < bound
            assert bound < math.log((likely / 400 - delta) / (max(unlikely, 1) / 400))


def test_delta_explains_what_is_rare() -> None:
    assert epsilon_at_least((30, 1000), (0, 1000)) > 1
    assert epsilon_at_least((30, 1000), (0, 1000), delta=0.04) == 0
    assert epsilon_at_least((900, 1000), (300, 1000), delta=0.04) > 0.9


@pytest.mark.parametrize(("hits", "runs"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(hits: int, runs: int) -> None:
    with pytest.raises(InputError, match="0 <= hits <= runs"):
        at_least(hits, runs, 0.05)


# -- events --------------------------------------------------------------------------------


def seen(company: tuple[int, int, int], cell: float) -> Outcome:
    return Outcome(frozenset(), {"its cell (table 1)": cell}, (company,))


def test_evidence_joins_what_is_weak_by_itself() -> None:
    # Alone and counted: 1 in 16 without the entity, 9 in 16 with it. Each half of that by itself
    # is 1 in 4 against 3 in 4.
    alone, among = (0, 0, 0), (8, 8, 4)
    absent, present = (
        [seen(alone if i % 4 < often else among, float(i // 4 % 4 < often)) for i in range(800)]
        for often in (1, 3)
    )
    event = best_event(absent, present)
    assert str(event).startswith("leaves and counts together")
    assert event.epsilon(absent, present, 0.05) > 1.7
    assert event.test(seen(alone, 1.0)) != event.test(seen(among, 0.0))


def test_luck_promises_nothing() -> None:
    # Facts that each hold in a tenth of the runs, wherever: some seem telling, none is.
    rng = np.random.default_rng(1)
    absent, present = (
        [
            Outcome(frozenset(map(str, np.flatnonzero(row))), {})
            for row in rng.random((80, 200)) < 0.1
        ]
        for _ in range(2)
    )
    assert best_event(absent, present).promise(absent, present) > 0
    assert promise(absent, present) < 0
