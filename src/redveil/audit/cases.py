"""What is audited: every algorithm in every profile, small, so that ε goes into few releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from redveil.errors import InputError
from redveil.mining.parameters import Algorithm, Constraints, Parameters, Profile

# How much of ε goes to the trees where that can be said: the less, the better counts are audited.
MOSTLY_COUNTS: Final = "1/10"
MOSTLY_TREES: Final = "9/10"


@dataclass(frozen=True, slots=True)
class Case:
    """An algorithm with its parameters, and what most of ε is spent on.

    >>> cases("twin")[0].spent_on
    'mostly counts'
    """

    parameters: Parameters
    spent_on: str

    @property
    def published(self) -> bool:
        """Whether the profile is known to leak."""
        return self.parameters.profile is Profile.PUBLISHED


def cases(algorithm: str | None = None, profile: str | None = None) -> tuple[Case, ...]:
    """Return the cases of an algorithm and a profile; None means all.

    >>> [str(case.parameters.algorithm) for case in cases(profile="published")]
    ['alt-expm', 'alt-mcmc', 'tree-pair']
    """
    for name, value, known in (
        ("algorithm", algorithm, list(Algorithm)),
        ("profile", profile, list(Profile)),
    ):
        if value is not None and value not in known:
            raise InputError(f"unknown {name}; use one of {', '.join(known)}")
    found = tuple(
        case
        for case in _all_cases()
        if algorithm in (None, case.parameters.algorithm)
        and profile in (None, case.parameters.profile)
    )
    if not found:
        raise InputError(f"{algorithm} has no {profile} profile; leave one of them out")
    return found


def _all_cases() -> tuple[Case, ...]:
    alternation = {"alternations": 1}
    walk = {"depth": 1, "steps": 1000}
    once = {"profile": "published", "depth": 2}
    return (
        _case("twin", "mostly counts", tree_share=MOSTLY_COUNTS),
        _case("twin", "mostly trees", tree_share=MOSTLY_TREES),
        _case("alt-expm", "alike", depth=1, **alternation),
        _case("alt-mcmc", "alike", depth=2, **alternation),
        _case("tree-pair", "mostly counts", tree_share=MOSTLY_COUNTS, **walk),
        _case("tree-pair", "mostly trees", tree_share=MOSTLY_TREES, **walk),
        _case("alt-expm", "alike", **alternation, **once),
        _case("alt-mcmc", "alike", steps=1000, **alternation, **once),
        _case("tree-pair", "mostly counts", steps=1000, trials=1, **once),
    )


def _case(algorithm: str, spent_on: str, **given: Any) -> Case:
    # Extraction comes after every release: one disjunct only makes it fast.
    constraints = Constraints(max_disjuncts=1)
    parameters = Parameters.of(algorithm=algorithm, constraints=constraints, **given)
    return Case(parameters, spent_on)
