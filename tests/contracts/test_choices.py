"""What users can choose, in Python and on the command line, is what there is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from enum import StrEnum
from typing import Any, get_args

import pytest

import redveil
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import Sampler, Start
from redveil.algorithms.catalogue import ALGORITHMS, EVERYTHING, PROFILES, QUESTIONS
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.published import Published
from redveil.algorithms.steering import Steering
from redveil.algorithms.tree_pair import PairScore
from redveil.algorithms.twin import RootScore
from redveil.commands.mine import mine
from redveil.commands.plan import plan
from redveil.findings.reporting import Constraints
from redveil.findings.taste import Taste
from redveil.wire import names

# The command line calls the length of a walk its steps; `show --plan` lists the plan's.
OPTIONS = {"walk_steps": "steps"}


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (names.AlgorithmName, ALGORITHMS),
        (names.QuestionName, QUESTIONS),
        (names.AnyAlgorithmName, EVERYTHING),
        (names.ProfileName, PROFILES),
    ],
)
def test_names_are_those_of_the_catalogue(offered: Any, known: dict[str, object]) -> None:
    assert list(get_args(offered)) == list(known)


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (names.CountsName, Counts),
        (names.SamplerName, Sampler),
        (names.StartName, Start),
        (names.RootScoreName, RootScore),
        (names.PairScoreName, PairScore),
    ],
)
def test_values_are_those_of_the_parameters(offered: Any, known: type[StrEnum]) -> None:
    assert list(get_args(offered)) == [one.value for one in known]


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_every_parameter_can_be_given(algorithm: type[Algorithm]) -> None:
    known = {*algorithm.parameter_names(), *(one.name for one in fields(Published))}
    for function in (redveil.mine, redveil.plan):
        assert known <= set(inspect.signature(function).parameters)
    options = {OPTIONS.get(name, name) for name in known}
    for command in (mine, plan):
        assert options <= set(inspect.signature(command).parameters)


# What the command line has as a switch is a Boolean in Python.
SWITCHES = {"negation": "no_negation", "disjunction": "no_disjunction"}


def test_steering_is_the_same_in_python_and_on_the_command_line() -> None:
    attributes = {one.name for one in fields(Steering)}
    known = {one.name for one in fields(Taste)} - attributes
    words = known & {*inspect.signature(redveil.mine).parameters}
    assert words == {"max_literals", "negation", "disjunction"}
    for function in (redveil.mine, redveil.plan):
        given = inspect.signature(function).parameters
        assert attributes | words <= set(given)
        assert all(given[name].default is None for name in attributes)
        assert all(
            given[one.name].default == one.default for one in fields(Taste) if one.name in words
        )
    assert attributes | {SWITCHES.get(name, name) for name in words} <= set(
        inspect.signature(mine).parameters
    )
    # A plan does not depend on words.
    assert attributes <= set(inspect.signature(plan).parameters)


@pytest.mark.parametrize("function", [redveil.mine, redveil.plan, mine])
def test_limits_have_one_default(function: Callable[..., object]) -> None:
    given = inspect.signature(function).parameters
    for limit in fields(Constraints):
        # None: the profile's.
        usual = None if limit.name == "max_disjuncts" else limit.default
        assert given[limit.name].default == usual


@pytest.mark.parametrize("function", [redveil.mine, redveil.plan])
def test_every_parameter_is_documented(function: Callable[..., object]) -> None:
    documented = inspect.getdoc(function) or ""
    if function is redveil.plan:
        documented += inspect.getdoc(redveil.mine) or ""
    for name in inspect.signature(function).parameters:
        assert re.search(rf"^{name}: ", documented, re.MULTILINE), name
