"""What users of redveil-research can choose is what there is."""

from __future__ import annotations

from typing import get_args

import pytest

from redveil.algorithms.catalogue import ALGORITHMS, EVERYTHING, PROFILES
from redveil_research.audit.cases import cases
from redveil_research.baselines import BaselineName
from redveil_research.baselines.methods import METHODS
from redveil_research.diagnosis import WalkingName


def test_names_of_baselines_are_those_of_methods() -> None:
    assert list(get_args(BaselineName)) == list(METHODS)


def test_names_of_walks_are_those_of_algorithms_that_can_walk() -> None:
    walking = {name for name, one in ALGORITHMS.items() if "walk_steps" in one.parameter_names()}
    assert set(get_args(WalkingName)) == walking


@pytest.mark.parametrize("profile", PROFILES)
def test_every_algorithm_is_audited(profile: str) -> None:
    audited = {case.algorithm.name for case in cases(profile=profile)}
    published = {name for name in ALGORITHMS if name != "twin"}
    assert audited == (set(EVERYTHING) if profile == "hardened" else published)
