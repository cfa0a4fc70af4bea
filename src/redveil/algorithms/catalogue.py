"""All algorithms and profiles by name, and the way from what a user gives to an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import AltExpM, AltMCMC
from redveil.algorithms.confirm import Confirm
from redveil.algorithms.describe import Describe
from redveil.algorithms.profile import Profile
from redveil.algorithms.published import Published
from redveil.algorithms.refine import Refine
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.twin import Twin
from redveil.errors import InputError
from redveil.losses.loss import read_fraction

ALGORITHMS: Final[dict[str, type[Algorithm]]] = {
    one.name: one for one in (Twin, AltExpM, AltMCMC, TreePair)
}
# Those that start from queries that a person gives; `mine` does not offer them.
QUESTIONS: Final[dict[str, type[Algorithm]]] = {
    one.name: one for one in (Describe, Refine, Confirm)
}
EVERYTHING: Final = ALGORITHMS | QUESTIONS
PROFILES: Final[dict[str, type[Profile]]] = {one.name: one for one in (Profile, Published)}


def make_algorithm(
    algorithm: str | None = None,
    profile: str | None = None,
    *,
    variance_threshold: float | None = None,
    among: Mapping[str, type[Algorithm]] = ALGORITHMS,
    **given: Any,
) -> Algorithm:
    """Return an algorithm from names and parameters; None means the default.

    among: the algorithms that are offered

    >>> make_algorithm("tree-pair", "published").depth
    4
    >>> make_algorithm("twin", walk_steps=100)
    Traceback (most recent call last):
    redveil.errors.InputError: walk_steps does nothing for twin; it is for alt-mcmc or tree-pair
    """
    how = _profile(profile, variance_threshold)
    name = how.default_algorithm if algorithm is None else algorithm
    if name in QUESTIONS and name not in among:
        raise InputError(f"{name} is a command of its own; run `redveil {name} --help`")
    if name not in among:
        raise InputError(f"unknown algorithm; use one of {', '.join(among)}")
    wanted = among[name]
    parameters = {key: value for key, value in given.items() if value is not None}
    for key in parameters:
        if key not in wanted.parameter_names():
            _refuse(key, name)
    made = wanted.of(how, **parameters)
    if variance_threshold is not None and not made.walks:
        raise InputError(
            f"variance_threshold does nothing for {name}; it is for alt-mcmc or tree-pair"
        )
    return made


def _profile(name: str | None, variance_threshold: float | None) -> Profile:
    name = Profile.name if name is None else name
    if name not in PROFILES:
        raise InputError(f"unknown profile; use one of {', '.join(PROFILES)}")
    kind: Callable[..., Profile] = PROFILES[name]
    if variance_threshold is None:
        return kind()
    if "variance_threshold" not in {one.name for one in fields(PROFILES[name])}:
        raise InputError(f"variance_threshold does nothing for the {name} profile")
    threshold = read_fraction(variance_threshold)
    if threshold is None or threshold < 0:
        raise InputError("variance_threshold must be a number that is not negative")
    return kind(variance_threshold=float(threshold))


def _refuse(parameter: str, algorithm: str) -> None:
    """Refuse a parameter that would do nothing, rather than ignore it."""
    others = [n for n, one in ALGORITHMS.items() if parameter in one.parameter_names()]
    if not others:
        raise InputError(f"unknown parameter {parameter}")
    raise InputError(f"{parameter} does nothing for {algorithm}; it is for {' or '.join(others)}")
