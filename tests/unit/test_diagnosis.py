from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from redveil.algorithms.parameters import Parameters

from redveil.data.synthetic import wide_dataset
from redveil.diagnosis import diagnose
from redveil.errors import InputError
from redveil.schema import Side

DATA = wide_dataset(600, booleans=8, numerics=4)


def parameters(**given: object) -> Parameters:
    return Parameters.of(**({"depth": 2, "steps": 1500, "trials": 1} | given))


def test_a_cold_chain_settles_and_says_so() -> None:
    # Long enough that a chain which mixes at once is never called unsettled by chance.
    given = parameters(algorithm="alt-mcmc", sampler="walk", steps=40_000)
    found = diagnose(DATA, given, Fraction(1, 100), walks=3)
    assert found.traces.shape == (3, 40_000)
    assert found.settled
    assert found.acceptance > 0.9
    assert "settled" in found.lines()[0]


def test_a_greedy_chain_climbs() -> None:
    found = diagnose(DATA, parameters(algorithm="tree-pair"), Fraction(50))
    assert np.median(found.traces[:, -1]) > 2 * np.median(found.traces[:, 0])
    assert found.acceptance < 0.5


def test_the_published_pair_score_hardly_notices_epsilon_and_ours_does() -> None:
    def mean(profile: str, score: str, epsilon: Fraction) -> tuple[float, float]:
        given = parameters(algorithm="tree-pair", profile=profile, pair_score=score)
        late = diagnose(DATA, given, epsilon, attribute=(Side.RIGHT, 1)).traces[:, 750:]
        return float(late.mean()), float(late.std())

    high, low = Fraction(10), Fraction(1, 10_000)
    (theirs_high, spread), (theirs_low, _) = (mean("published", "purity", e) for e in (high, low))
    assert abs(theirs_high - theirs_low) < spread
    (ours_high, _), (ours_low, spread) = (mean("hardened", "association", e) for e in (high, low))
    assert ours_high - ours_low > 3 * spread


@pytest.mark.parametrize(
    "given",
    [
        Parameters.of(),
        Parameters.of(algorithm="alt-expm"),
        Parameters.of(algorithm="alt-mcmc"),
        Parameters.of(profile="published"),
    ],
)
def test_what_does_not_walk_cannot_be_diagnosed(given: Parameters) -> None:
    with pytest.raises(InputError, match="nothing walks here; diagnose tree-pair, or alt-mcmc"):
        diagnose(DATA, given, Fraction(1))


def test_one_walk_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(InputError, match="at least 2"):
        diagnose(DATA, parameters(algorithm="tree-pair"), Fraction(1), walks=1)


def test_a_few_steps_say_nothing() -> None:
    with pytest.raises(InputError, match="steps must be at least 100"):
        diagnose(DATA, parameters(algorithm="tree-pair", steps=99), Fraction(1))
