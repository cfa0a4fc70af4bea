"""What users can choose on the command line is what there is."""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import Any, get_args

import pytest

import redveil
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import Sampler, Start
from redveil.algorithms.catalogue import ALGORITHMS, PROFILES
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.tree_pair import PairScore
from redveil.algorithms.twin import RootScore
from redveil.audit.cases import cases
from redveil.cli import arguments
from redveil.cli.mine import mine
from redveil.cli.plan import plan

# The command line calls the length of a walk its steps; `show --plan` lists the plan's.
OPTIONS = {"walk_steps": "steps"}
NOT_PRICED = {"walk_steps", "pair_score"}


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (arguments.Algorithm, ALGORITHMS),
        (arguments.Profile, PROFILES),
    ],
)
def test_names_on_the_command_line_are_those_of_the_catalogue(
    offered: Any, known: dict[str, object]
) -> None:
    assert list(get_args(offered)) == list(known)


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (arguments.Counts, Counts),
        (arguments.Sampler, Sampler),
        (arguments.Start, Start),
        (arguments.RootScore, RootScore),
        (arguments.PairScore, PairScore),
    ],
)
def test_values_on_the_command_line_are_those_of_the_parameters(
    offered: Any, known: type[StrEnum]
) -> None:
    assert list(get_args(offered)) == [one.value for one in known]


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_every_parameter_can_be_given(algorithm: type[Algorithm]) -> None:
    names = set(algorithm.parameter_names())
    assert names <= set(inspect.signature(redveil.mine).parameters)
    options = {OPTIONS.get(name, name) for name in names}
    assert options <= set(inspect.signature(mine).parameters)
    assert names - NOT_PRICED <= set(inspect.signature(plan).parameters)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_algorithm_is_audited(profile: str) -> None:
    audited = {case.algorithm.name for case in cases(profile=profile)}
    assert audited == {name for name in ALGORITHMS if profile == "hardened" or name != "twin"}
