"""Do walks converge? The diagnosis for the owner, and the statistics it rests on."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from redveil.data.synthetic import wide_dataset
from redveil.errors import InputError
from redveil_research.diagnosis import Diagnosis, diagnose, effective_sample_size, split_rhat
from support.page import Page, must_be_ours

DATA = wide_dataset(600, booleans=8, numerics=4)
TARGET = DATA.schema.right.names[1]


def diagnosed(epsilon: Fraction, **given: Any) -> Diagnosis:
    return diagnose(DATA, epsilon, **({"depth": 2, "walk_steps": 1500, "trials": 1} | given))


def test_a_cold_chain_converges_and_the_diagnosis_says_so() -> None:
    # Long enough that a chain which mixes at once is never called unconverged by chance.
    found = diagnosed(Fraction(1, 100), algorithm="alt-mcmc", walk_steps=40_000, walks=3)
    assert found.traces.shape == (3, 40_000)
    assert found.converged
    assert found.acceptance > 0.9
    assert found.lines()[0] == "3 walks of 40,000 steps: converged"


def test_a_greedy_chain_climbs() -> None:
    found = diagnosed(Fraction(50))
    assert np.median(found.traces[:, -1]) > 2 * np.median(found.traces[:, 0])
    assert found.acceptance < 0.5


@pytest.mark.parametrize(
    ("rhat", "effective", "converged"),
    [(1.009, 400.0, True), (1.01, 400.0, False), (1.0, 399.9, False)],
)
def test_walks_have_converged_if_both_statistics_are_good(
    rhat: float,
    effective: float,
    converged: bool,  # noqa: FBT001
) -> None:
    found = Diagnosis(rhat, effective, 0.5, np.zeros((2, 10)))
    assert found.converged is converged
    assert ("NOT converged" in found.lines()[0]) is not converged


def test_the_published_pair_score_hardly_notices_epsilon_and_ours_does() -> None:
    def mean(profile: str, score: str, epsilon: Fraction) -> tuple[float, float]:
        found = diagnosed(epsilon, profile=profile, pair_score=score, target=TARGET)
        late = found.traces[:, 750:]
        return float(late.mean()), float(late.std())

    high, low = Fraction(10), Fraction(1, 10_000)
    (theirs_high, spread), (theirs_low, _) = (mean("published", "purity", e) for e in (high, low))
    assert abs(theirs_high - theirs_low) < spread
    (ours_high, _), (ours_low, spread) = (mean("hardened", "association", e) for e in (high, low))
    assert ours_high - ours_low > 3 * spread


@pytest.mark.parametrize("algorithm", ["alt-mcmc", "tree-pair"])
def test_published_walks_are_diagnosed_at_their_full_length(algorithm: str) -> None:
    # Without an early stop, which would leave zeros behind.
    found = diagnosed(Fraction(1), algorithm=algorithm, profile="published", target=TARGET)
    assert found.traces.shape == (4, 1500)
    assert (found.traces[:, -1] != 0).all()


@pytest.mark.parametrize(
    "given",
    [
        {"algorithm": "twin"},
        {"algorithm": "alt-expm"},
        {"algorithm": "alt-expm", "profile": "published"},
    ],
)
def test_what_does_not_walk_cannot_be_diagnosed(given: dict[str, Any]) -> None:
    message = "this algorithm runs no Markov chain; diagnose tree-pair or alt-mcmc"
    with pytest.raises(InputError, match=message):
        diagnose(DATA, 1, **given)


def test_one_walk_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(InputError, match="at least 2"):
        diagnosed(Fraction(1), walks=1)


def test_a_few_steps_say_nothing() -> None:
    with pytest.raises(InputError, match="walk_steps must be at least 100"):
        diagnosed(Fraction(1), walk_steps=99)


def test_the_target_is_an_attribute_of_either_view() -> None:
    for target in (DATA.schema.left.names[0], TARGET):
        assert diagnose(DATA, 1, depth=1, walk_steps=100, target=target).traces.any()
    with pytest.raises(InputError, match="target gout: no attribute of that name in either view"):
        diagnosed(Fraction(1), target="gout")


def test_epsilon_is_read_as_everywhere() -> None:
    assert diagnose(DATA, "1/2", depth=1, walk_steps=100).traces.shape == (4, 100)
    with pytest.raises(InputError, match="epsilon must be a number"):
        diagnose(DATA, 0)


# Split-R̂ and the effective sample size


def chains(correlation: float, walks: int = 4, walk_steps: int = 4000) -> np.ndarray:
    """Autoregressive chains, whose effective sample size is known."""
    noise = np.random.default_rng(3).normal(size=(walks, walk_steps + 200))
    values = np.zeros_like(noise)
    for step in range(1, noise.shape[1]):
        values[:, step] = correlation * values[:, step - 1] + noise[:, step]
    return values[:, 200:]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_the_effective_sample_size_of_a_known_chain(correlation: float) -> None:
    known = 16_000 * (1 - correlation) / (1 + correlation)
    assert effective_sample_size(chains(correlation)) == pytest.approx(known, rel=0.2)


def test_walks_that_agree_have_rhat_near_one() -> None:
    assert split_rhat(chains(0.5)) == pytest.approx(1.0, abs=0.01)


def test_walks_that_disagree_are_noticed() -> None:
    apart = chains(0.5) + np.array([[0.0], [0.0], [0.0], [5.0]])
    assert split_rhat(apart) > 1.5


def test_a_drift_is_noticed_within_a_single_walk() -> None:
    assert split_rhat(chains(0.0, walks=1) + np.linspace(0, 5, 4000)) > 1.5


def test_walks_that_never_move() -> None:
    still = np.ones((3, 100))
    assert split_rhat(still) == 1.0
    assert effective_sample_size(still) == 3.0
    assert split_rhat(still * np.array([[1.0], [2.0], [3.0]])) == math.inf


def test_a_diagnosis_is_marked_as_not_private() -> None:
    traces: Any = np.arange(800.0).reshape(2, 400)
    shown = Diagnosis(1.5, 12.0, 0.25, traces)
    page = Page(shown._repr_html_())
    must_be_ours(page)
    assert page.text.startswith("NOT PRIVATE")
    for fact in ("NOT converged", "1.5000", "12 of 400", "25.0 %"):
        assert fact in page.text
        assert fact in str(shown)
    assert repr(shown).startswith("<Diagnosis of 2 walks: NOT converged")
