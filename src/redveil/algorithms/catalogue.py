"""All algorithms and profiles by name, and the way from what a user gives to an algorithm."""

from __future__ import annotations

from typing import Any, Final

from redveil.algorithms.algorithm import Algorithm, read_number
from redveil.algorithms.alternation import AltExpM, AltMCMC
from redveil.algorithms.profile import HARDENED, Profile
from redveil.algorithms.published import Published
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.twin import Twin
from redveil.errors import InputError

ALGORITHMS: Final[dict[str, type[Algorithm]]] = {
    one.name: one for one in (Twin, AltExpM, AltMCMC, TreePair)
}
PROFILES: Final[dict[str, type[Profile]]] = {one.name: one for one in (Profile, Published)}


def make_algorithm(
    algorithm: str | None = None,
    profile: str | None = None,
    *,
    variance_threshold: float | None = None,
    **given: Any,
) -> Algorithm:
    """Return an algorithm from names and parameters; None means the default.

    >>> make_algorithm("tree-pair", "published").depth
    4
    >>> make_algorithm("twin", walk_steps=100)
    Traceback (most recent call last):
    redveil.errors.InputError: walk_steps does nothing for twin; it is for alt-mcmc or tree-pair
    """
    how = _profile(profile, variance_threshold)
    name = algorithm
    if name is None:
        name = next(one for one in ALGORITHMS if how is HARDENED or one != Twin.name)
    if name not in ALGORITHMS:
        raise InputError(f"unknown algorithm; use one of {', '.join(ALGORITHMS)}")
    wanted = ALGORITHMS[name]
    said = {key: value for key, value in given.items() if value is not None}
    for key in said:
        if key not in wanted.parameter_names():
            _refuse(key, name)
    return wanted.of(how, **said)


def _profile(name: str | None, variance_threshold: float | None) -> Profile:
    if name not in (None, *PROFILES):
        raise InputError(f"unknown profile; use one of {', '.join(PROFILES)}")
    if name == Published.name:
        return Published() if variance_threshold is None else Published(variance_threshold)
    if variance_threshold is not None:
        raise InputError("variance_threshold does nothing for the hardened profile")
    return HARDENED


def _refuse(parameter: str, algorithm: str) -> None:
    """Refuse a parameter that would do nothing: whoever gives it expects something."""
    others = [n for n, one in ALGORITHMS.items() if parameter in one.parameter_names()]
    if not others:
        raise InputError(f"unknown parameter {parameter}")
    raise InputError(f"{parameter} does nothing for {algorithm}; it is for {' or '.join(others)}")


def read_prune(value: object) -> float | str | None:
    """Read a pruning threshold: a number of entities, auto, or None.

    >>> read_prune("200"), read_prune("auto")
    (200.0, 'auto')
    """
    if value is None or value == "auto":
        return value
    return float(read_number("prune", value))
