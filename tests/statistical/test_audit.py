"""The audit catches planted faults and lets the honest program pass.

All is seeded but the slow test, in which a correct program is accused less than once in 100 times.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from redveil.audit.audit import FEWEST, Runner, audit
from redveil.audit.bounds import at_least, at_most, epsilon_at_least
from redveil.audit.cases import Case, cases
from redveil.audit.outcome import Observer
from redveil.audit.pairs import SCHEMA, Pair, pair, pairs
from redveil.data.dataset import Dataset
from redveil.errors import InputError
from redveil.mining.interpretation import Mined
from redveil.mining.mine import run
from redveil.mining.parameters import Parameters
from redveil.mining.published import observed_dataset
from redveil.sealed import open_for_owner
from support.command_line import caller
from support.seeded import SeededRandomness

CLAIMED = Fraction(1)
HARDENED = cases(profile="hardened")


class HalfTheNoise(SeededRandomness):
    """A fault: noise of half the scale that was paid for."""

    def laplace(self, epsilon: Fraction, count: int) -> np.ndarray:
        return super().laplace(2 * epsilon, count)


class ForgetsTheSecondNoise(SeededRandomness):
    """A fault: what is measured after the cells is exact, as if it were theirs to tell."""

    called = False

    def laplace(self, epsilon: Fraction, count: int) -> np.ndarray:
        noise = super().laplace(epsilon, count)
        first, self.called = not self.called, True
        return noise if first else np.zeros_like(noise)


def seeded(source: type[SeededRandomness] = SeededRandomness) -> Runner:
    """Mine as the package does, but repeatably: every run and trial has its own stream."""
    streams = count(1)

    def mine(dataset: Dataset, parameters: Parameters, epsilon: Fraction) -> Mined:
        return run(dataset, parameters, epsilon, lambda _: source(next(streams)), workers=1)

    return mine


def rows(dataset: Dataset) -> int:
    return open_for_owner(dataset.table).rows


def with_cuts_from_the_data() -> Runner:
    """A fault: the hardened profile under a schema that the rows made."""
    mine = seeded()
    return lambda dataset, parameters, epsilon: mine(observed_dataset(dataset), parameters, epsilon)


def with_the_exact_size() -> Runner:
    """A fault: a parameter in the certificate that was set by looking, and not paid for."""
    mine = seeded()

    def leak(dataset: Dataset, parameters: Parameters, epsilon: Fraction) -> Mined:
        mined = mine(dataset, parameters, epsilon)
        constraints = replace(mined.parameters.constraints, min_support=rows(dataset))
        told = replace(mined.parameters, constraints=constraints)
        return replace(mined, parameters=told)

    return leak


def that_refuses_the_few() -> Runner:
    """A fault: an error that depends on the private size."""
    mine = seeded()

    def refuse(dataset: Dataset, parameters: Parameters, epsilon: Fraction) -> Mined:
        if rows(dataset) < 25:
            raise InputError("too few")
        return mine(dataset, parameters, epsilon)

    return refuse


def test_the_honest_program_passes_and_the_bound_is_not_idle() -> None:
    found = audit(cases("twin")[0], CLAIMED, 600, seeded())
    assert 0.2 < found.bound <= 1
    assert found.verdict == "consistent with the claim"
    assert not found.alarming
    assert 580 <= found.runs <= 600


@pytest.mark.parametrize(
    "case", HARDENED[1:], ids=lambda c: f"{c.parameters.algorithm} {c.spent_on}"
)
def test_every_honest_algorithm_passes(case: Case) -> None:
    assert not audit(case, CLAIMED, 120, seeded()).violates


def test_half_the_noise_is_caught() -> None:
    found = audit(cases("twin")[0], CLAIMED, 480, seeded(HalfTheNoise))
    assert found.bound > 1.1
    assert found.verdict == "VIOLATION"
    assert found.alarming
    assert "its cell" in found.event


def test_cut_points_from_the_data_are_caught() -> None:
    found = audit(cases("twin")[1], CLAIMED, 400, with_cuts_from_the_data())
    assert found.bound > 1.1
    assert found.alarming
    assert "tree asks [" in found.event
    assert found.event.endswith("likelier with the entity")


def test_an_exact_size_in_the_certificate_is_caught() -> None:
    found = audit(cases("twin")[0], CLAIMED, 120, with_the_exact_size())
    assert found.bound > 1.5
    assert "min_support is" in found.event


def test_a_count_without_noise_is_caught() -> None:
    parameters = Parameters.of(algorithm="twin", tree_share="9/10", counts="two-pass")
    case = Case(parameters, "mostly trees")
    found = audit(case, CLAIMED, 160, seeded(ForgetsTheSecondNoise))
    assert found.bound > 1.5
    assert "its left leaf" in found.event


def test_an_error_that_depends_on_the_rows_is_caught() -> None:
    found = audit(cases("twin")[0], CLAIMED, 120, that_refuses_the_few())
    assert found.bound > 1.5
    # 24 others: with the entity they are enough.
    assert found.pair == "a lone value"


@pytest.mark.parametrize("algorithm", ["alt-expm", "tree-pair"])
def test_the_published_profile_leaks_and_the_verdict_expects_it(algorithm: str) -> None:
    [case] = cases(algorithm, "published")
    found = audit(case, CLAIMED, 240, seeded())
    assert found.bound > 1.5
    assert "asks [" in found.event
    assert found.verdict == "VIOLATION, as known limits say"
    assert not found.alarming


def test_progress_only_grows_and_ends_at_one() -> None:
    shares: list[float] = []
    audit(cases("tree-pair", "hardened")[0], CLAIMED, FEWEST, seeded(), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_too_few_runs_and_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="runs must be at least 120"):
        audit(cases("twin")[0], CLAIMED, FEWEST - 1, seeded())
    with pytest.raises(InputError, match="unknown algorithm; use one of twin, alt-expm"):
        cases("oak")
    with pytest.raises(InputError, match="unknown profile; use one of hardened, published"):
        cases(profile="soft")
    with pytest.raises(InputError, match="twin has no published profile"):
        cases("twin", "published")
    with pytest.raises(InputError, match="no such pair of data sets; use one of an outlier"):
        pair("twins")


# -- data sets -----------------------------------------------------------------------------


@pytest.mark.parametrize("one", pairs(), ids=lambda one: one.name)
def test_the_two_data_sets_differ_in_the_last_row_alone(one: Pair) -> None:
    without, having = (
        open_for_owner(one.dataset(with_entity=present).table) for present in (False, True)
    )
    assert having.rows == without.rows + 1 == len(one.others) + 1
    for side in ("left", "right"):
        for name, column in getattr(having, side).items():
            less = getattr(without, side)[name]
            values = "values" if hasattr(column, "values") else "codes"
            np.testing.assert_array_equal(getattr(column, values)[:-1], getattr(less, values))


@pytest.mark.parametrize("one", pairs(), ids=lambda one: one.name)
def test_without_noise_the_entity_alone_is_left_of_a_count(one: Pair) -> None:
    class Noiseless(SeededRandomness):
        def laplace(self, _epsilon: Fraction, count: int) -> np.ndarray:
            return np.zeros(count, np.int64)

    parameters = Parameters.of(algorithm="alt-expm", alternations=1, counts="least-squares")
    for present in (False, True):
        mined = seeded(Noiseless)(one.dataset(with_entity=present), parameters, CLAIMED)
        numbers = Observer(one).outcome(mined).numbers
        assert {name.partition(" (")[0] for name in numbers} == {
            "its cell",
            "everybody",
            "its left leaf",
            "its right leaf",
        }
        assert set(numbers.values()) == {float(present)}


def test_the_schema_is_small_and_declared() -> None:
    assert all(2 <= len(view.attributes) <= 3 for view in (SCHEMA.left, SCHEMA.right))
    assert SCHEMA.status.value == "declared"


# -- bounds --------------------------------------------------------------------------------


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


def test_a_mechanism_that_spends_all_it_claims_is_seldom_accused() -> None:
    # Randomised response with ε = 1: the answer is true with probability e/(1+e).
    rng, runs, trials = np.random.default_rng(7), 400, 2000
    truth = math.e / (1 + math.e)
    likely, unlikely = rng.binomial(runs, truth, trials), rng.binomial(runs, 1 - truth, trials)
    bounds = [
        epsilon_at_least((int(a), runs), (int(b), runs), 0.05)
        for a, b in zip(likely, unlikely, strict=True)
    ]
    assert np.mean(np.array(bounds) > 1) <= 0.05
    assert np.median(bounds) > 0.7


@pytest.mark.parametrize(("hits", "runs"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(hits: int, runs: int) -> None:
    with pytest.raises(InputError, match="0 <= hits <= runs"):
        at_least(hits, runs, 0.05)


# -- command line --------------------------------------------------------------------------


def test_the_command_reports_as_json_and_as_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def in_this_process() -> Iterator[type[map]]:  # type: ignore[type-arg]
        yield map

    streams = count(1)
    monkeypatch.setattr("redveil.audit.pool.processes", in_this_process)
    for source in ("SystemRandomness", "PublishedRandomness"):
        monkeypatch.setattr(
            f"redveil.audit.audit.{source}", lambda: SeededRandomness(next(streams))
        )
    command = caller(monkeypatch, capsys)
    done = command(
        "audit", "--profile", "published", "--algorithm", "alt-expm", "--runs", 120, "--json"
    )
    assert done.code == 0
    assert "generated data only" in done.err
    [published] = json.loads(done.out)
    assert (published["violation"], published["expected"]) == (True, True)
    assert published["epsilon_at_least"] > 1 == int(published["epsilon"])
    table = command("audit", "--algorithm", "twin", "--runs", FEWEST)
    assert table.code == 0
    assert table.out.count("consistent with the claim") == 2

    monkeypatch.setattr("redveil.audit.audit.Finding.violates", property(lambda _: True))
    accused = command("audit", "--algorithm", "twin", "--runs", FEWEST)
    assert accused.code == 1
    assert accused.out.count("VIOLATION") == 2


@pytest.mark.slow
def test_the_whole_audit_in_processes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = caller(monkeypatch, capsys)("audit", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert len(found) == 9
    assert all(one["violation"] == (one["profile"] == "published") for one in found)
