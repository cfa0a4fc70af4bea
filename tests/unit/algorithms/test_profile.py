"""The hardened profile: the declared schema, fixed rules, the system's randomness."""

from __future__ import annotations

from fractions import Fraction

import pytest

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import AltMCMC
from redveil.algorithms.profile import HARDENED
from redveil.algorithms.targets import attribute_target
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.twin import Twin
from redveil.data.synthetic import wide_dataset
from redveil.findings.reporting import Constraints, Reporting
from redveil.growing.rules import HARDENED_RULES
from redveil.losses.loss import Loss
from redveil.privacy.randomness import SystemRandomness
from strategies.algorithms import ALL


def test_the_data_decides_nothing_that_is_not_paid_for() -> None:
    dataset = wide_dataset(50, booleans=2, numerics=2)
    assert HARDENED.observed(dataset) is dataset
    assert HARDENED.targets(dataset) is attribute_target
    assert HARDENED.rules is HARDENED_RULES


def test_randomness_is_the_system_s_and_fresh_every_time() -> None:
    first, second = HARDENED.randomness(), HARDENED.randomness()
    assert type(first) is type(second) is SystemRandomness
    assert first is not second
    assert set(first.words(8).tolist()).isdisjoint(second.words(8).tolist())


def test_the_rule_tunes_and_nobody_is_warned() -> None:
    assert HARDENED.tunes
    assert HARDENED.warning is None
    assert HARDENED.public() == {}


@pytest.mark.parametrize("kind", ALL)
def test_an_algorithm_keeps_its_own_defaults(kind: type[Algorithm]) -> None:
    assert HARDENED.defaults(kind) == {}
    assert kind().profile is HARDENED


def test_noise_is_accounted_for_and_nothing_is_pruned() -> None:
    assert HARDENED.reporting(None, None) == Reporting(Constraints(), None, noise_aware=True)
    strict = Constraints(min_jaccard=0.5)
    assert HARDENED.reporting(strict, "auto") == Reporting(strict, "auto", noise_aware=True)


def test_a_delta_is_accounted_for() -> None:
    HARDENED.check_loss(Loss(Fraction(1), Fraction(1, 10**6)))


@pytest.mark.parametrize(
    ("algorithm", "guarantee", "conditions"),
    [
        (Twin(), "exact", 0),
        (AltMCMC(), "exact", 0),
        (AltMCMC.of(walk_steps=50), "asymptotic", 1),
        (TreePair(walk_steps=50), "asymptotic", 1),
    ],
)
def test_a_walk_s_guarantee_is_asymptotic(
    algorithm: Algorithm, guarantee: str, conditions: int
) -> None:
    assert HARDENED.guarantee(walks=algorithm.walks) == guarantee
    found = HARDENED.conditions(algorithm)
    assert len(found) == conditions
    assert all("converged after 50 steps" in one for one in found)
