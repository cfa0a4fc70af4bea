"""The public parameters of a run. Its price and its plan follow from these alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from redveil.errors import InputError
from redveil.privacy.loss import Loss

DEEPEST: Final = 6
DEEPEST_EXACT: Final = 2
# What the tuning rule sets, of twin trees and of exact alternations, unless it is given.
TUNED: Final = ("depth", "trials", "root_score")
TUNED_ALTERNATION: Final = ("depth", "alternations", "root_score")
MOST_REPEATS: Final = 1000
MOST_STEPS: Final = 10_000_000


class Algorithm(StrEnum):
    """The algorithms by name: twin trees, and the paper's three.

    >>> [algorithm.value for algorithm in Algorithm]
    ['twin', 'alt-expm', 'alt-mcmc', 'tree-pair']
    """

    TWIN = "twin"
    ALT_EXPM = "alt-expm"
    ALT_MCMC = "alt-mcmc"
    TREE_PAIR = "tree-pair"

    @property
    def alternates(self) -> bool:
        """Whether trees on either side predict each other in turn."""
        return self in (Algorithm.ALT_EXPM, Algorithm.ALT_MCMC)


class Profile(StrEnum):
    """Really private and better, or exactly as the paper has it.

    >>> Profile("hardened")
    <Profile.HARDENED: 'hardened'>
    """

    HARDENED = "hardened"
    PUBLISHED = "published"


class Counts(StrEnum):
    """How leaf tables are measured.

    >>> [counts.value for counts in Counts]
    ['cells', 'least-squares', 'two-pass']
    """

    CELLS = "cells"
    LEAST_SQUARES = "least-squares"
    TWO_PASS = "two-pass"


class PairScore(StrEnum):
    """What the walk over tree pairs climbs.

    >>> [score.value for score in PairScore]
    ['association', 'purity']
    """

    ASSOCIATION = "association"
    PURITY = "purity"


class RootScore(StrEnum):
    """What the roots of twin trees are chosen by.

    >>> [score.value for score in RootScore]
    ['leverage', 'agreement']
    """

    LEVERAGE = "leverage"
    AGREEMENT = "agreement"


class Sampler(StrEnum):
    """How alt-mcmc draws its trees: from the law itself, or by a walk towards it.

    >>> [sampler.value for sampler in Sampler]
    ['exact', 'walk']
    """

    EXACT = "exact"
    WALK = "walk"


class Start(StrEnum):
    """What the first tree of an alternation predicts.

    >>> [start.value for start in Start]
    ['private', 'random']
    """

    PRIVATE = "private"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a redescription must satisfy to be reported (Γ).

    In the hardened profile `max_p_value`, `min_jaccard` and `min_support` are required of the
    pessimistic end of each interval, in the published one of the estimates. `max_support` is the
    largest share of the (noisy) number of entities that either query may cover.

    >>> Constraints(min_jaccard=2)
    Traceback (most recent call last):
    redveil.errors.InputError: min_jaccard must lie between 0 and 1
    """

    max_p_value: float = 0.01
    min_jaccard: float = 0.1
    min_support: int = 10
    max_support: float = 0.8
    max_disjuncts: int = 3

    def __post_init__(self) -> None:
        for name in ("max_p_value", "min_jaccard", "max_support"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} must lie between 0 and 1")
        if self.min_support < 0:
            raise InputError("min_support must not be negative")
        if not 1 <= self.max_disjuncts <= 10:
            raise InputError("max_disjuncts must lie between 1 and 10")


@dataclass(frozen=True, slots=True)
class Parameters:
    """How to mine. What is not said has a default that depends on the algorithm and the profile.

    `prune` drops redescriptions whose noisy support is below it; "auto" takes the threshold from
    the noise law, None prunes nothing. `auto` names the parameters that the tuning rule sets once
    the private size is known.

    >>> Parameters(depth=0)
    Traceback (most recent call last):
    redveil.errors.InputError: depth must lie between 1 and 6
    """

    algorithm: Algorithm = Algorithm.TWIN
    profile: Profile = Profile.HARDENED
    depth: int = 2
    trials: int = 1
    alternations: int = 2
    steps: int = 10_000
    tree_share: Fraction = Fraction(1, 2)
    variance_threshold: float = 0.005
    counts: Counts = Counts.CELLS
    pair_score: PairScore = PairScore.ASSOCIATION
    root_score: RootScore = RootScore.LEVERAGE
    sampler: Sampler = Sampler.EXACT
    start: Start = Start.PRIVATE
    prune: float | str | None = None
    auto: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= DEEPEST:
            raise InputError(f"depth must lie between 1 and {DEEPEST}")
        for name, least, most in (
            ("trials", 1, MOST_REPEATS),
            ("alternations", 0 if self.starts_privately and not self.walks else 1, MOST_REPEATS),
            ("steps", 1, MOST_STEPS),
        ):
            if not least <= getattr(self, name) <= most:
                unless = ", or be 0 for a private start alone" * (name == "alternations" and least)
                raise InputError(f"{name} must lie between {least} and {most}{unless}")
        if not self.alternations and self.depth > 1:
            raise InputError("without alternations there is one split on each side; use depth 1")
        if not 0 < self.tree_share < 1:
            raise InputError("tree_share must lie between 0 and 1, both excluded")
        if isinstance(self.prune, str) and self.prune != "auto":
            raise InputError("prune must be a number of entities, or auto")
        if self.profile is Profile.PUBLISHED and self.algorithm is Algorithm.TWIN:
            raise InputError("twin is not a published algorithm; leave out the published profile")
        if self.draws_exactly and self.profile is Profile.PUBLISHED:
            raise InputError("published alt-mcmc walks; use sampler = walk, or leave it out")
        if self.draws_exactly and self.depth > DEEPEST_EXACT:
            raise InputError(
                f"alt-mcmc draws trees exactly up to depth {DEEPEST_EXACT}; use sampler = walk"
            )

    @property
    def draws_exactly(self) -> bool:
        """Whether whole trees are drawn from the law that walks only approach."""
        return self.algorithm is Algorithm.ALT_MCMC and self.sampler is Sampler.EXACT

    @property
    def walks(self) -> bool:
        """Whether trees come from a Markov chain, whose privacy is that of its limit."""
        return self.algorithm is Algorithm.TREE_PAIR or (
            self.algorithm is Algorithm.ALT_MCMC and self.sampler is Sampler.WALK
        )

    @property
    def needs_sets(self) -> bool:
        """Whether splits are needed as sets of entities, and not only as columns."""
        return self.walks or self.draws_exactly or self.needs_soil

    @property
    def needs_soil(self) -> bool:
        """Whether splits of both views are counted together."""
        return self.algorithm is Algorithm.TWIN or self.starts_privately

    @property
    def starts_privately(self) -> bool:
        """Whether an alternation pays for a good start."""
        return self.algorithm.alternates and self.start is Start.PRIVATE

    @property
    def trees(self) -> int:
        """How many trees an alternation grows in a trial: none if its start is all there is."""
        alternates = self.algorithm.alternates and self.alternations
        return self.alternations + 1 if alternates else 0

    @property
    def tables(self) -> int:
        """How many leaf tables a trial measures."""
        return max(self.alternations, 1) if self.algorithm.alternates else 1

    def must_allow(self, loss: Loss) -> None:
        """Refuse a δ where there is no use for it: the paper's method knows none.

        >>> Parameters.of(profile="published").must_allow(Loss(Fraction(1), Fraction(1, 10**6)))
        Traceback (most recent call last):
        redveil.errors.InputError: the published profile has no delta; leave out one of the two
        """
        if loss.delta and self.profile is Profile.PUBLISHED:
            raise InputError("the published profile has no delta; leave out one of the two")

    @classmethod
    def of(cls, **given: Any) -> Parameters:
        """Return parameters from what was given; None means the default.

        >>> Parameters.of(algorithm="tree-pair", profile="published").depth
        4
        """
        said = {name: value for name, value in given.items() if value is not None}
        for name, kind in (
            ("algorithm", Algorithm),
            ("profile", Profile),
            ("counts", Counts),
            ("pair_score", PairScore),
            ("root_score", RootScore),
            ("sampler", Sampler),
            ("start", Start),
        ):
            if name in said:
                if said[name] not in list(kind):
                    raise InputError(f"unknown {name}; use one of {', '.join(kind)}")
                said[name] = kind(said[name])
        if "tree_share" in said:
            said["tree_share"] = _fraction(said["tree_share"])
        if "prune" in said and said["prune"] != "auto":
            said["prune"] = float(_fraction(said["prune"]))
        published = said.get("profile") is Profile.PUBLISHED
        usual = Algorithm.ALT_EXPM if published else Algorithm.TWIN
        algorithm = said.setdefault("algorithm", usual)
        _must_matter(said, algorithm)
        asked = replace(_published(algorithm), **said) if published else cls._hardened(said)
        if "root_score" in said and not asked.needs_soil:
            raise InputError("root_score does nothing without twins or a private start")
        return asked

    @classmethod
    def _hardened(cls, said: dict[str, Any]) -> Parameters:
        """Return what was said with our defaults, and what is left to the tuning rule."""
        usual: dict[str, Any] = {}
        if said["algorithm"] is Algorithm.ALT_MCMC and (
            "steps" in said or said.get("depth", 0) > DEEPEST_EXACT
        ):
            usual["sampler"] = Sampler.WALK
        if said.get("alternations") == 0:
            # One split on either side is all that a start has.
            usual["depth"] = 1
        asked = cls(**usual | said)
        return asked if "auto" in said else replace(asked, auto=asked._left_to_the_rule(said))

    def _left_to_the_rule(self, said: Collection[str]) -> tuple[str, ...]:
        """Return what the tuning rule sets: nothing for walks, or after a random start."""
        names: tuple[str, ...] = ()
        if self.algorithm is Algorithm.TWIN:
            names = TUNED
        elif self.starts_privately and not self.walks:
            # A whole shape that was asked for is not worth a size just to choose a score.
            names = () if {"depth", "alternations"} <= set(said) else TUNED_ALTERNATION
        if not self.alternations:
            said = {*said, "depth"}
        return tuple(name for name in names if name not in said)

    def public(self) -> dict[str, int | float | str | None]:
        """Return everything as plain values, for a certificate.

        >>> Parameters().public()["depth"]
        2
        """
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "constraints"}
        own["auto"] = ", ".join(self.auto) or None
        del own["algorithm"], own["profile"]
        own |= {f.name: getattr(self.constraints, f.name) for f in fields(self.constraints)}
        return {k: str(v) if isinstance(v, Fraction | StrEnum) else v for k, v in own.items()}


# What only some algorithms know.
MEANT_FOR: Final = {
    "alternations": (Algorithm.ALT_EXPM, Algorithm.ALT_MCMC),
    "start": (Algorithm.ALT_EXPM, Algorithm.ALT_MCMC),
    "sampler": (Algorithm.ALT_MCMC,),
    "steps": (Algorithm.ALT_MCMC, Algorithm.TREE_PAIR),
    "tree_share": (Algorithm.TWIN, Algorithm.TREE_PAIR),
    "pair_score": (Algorithm.TREE_PAIR,),
    "root_score": (Algorithm.TWIN, Algorithm.ALT_EXPM, Algorithm.ALT_MCMC),
}


def _must_matter(said: dict[str, Any], algorithm: Algorithm) -> None:
    """Refuse a parameter that would do nothing: whoever gives it expects something."""
    for name, algorithms in MEANT_FOR.items():
        if name in said and algorithm not in algorithms:
            others = " or ".join(algorithms)
            raise InputError(f"{name} does nothing for {algorithm}; it is for {others}")


def _published(algorithm: Algorithm) -> Parameters:
    """Return the paper's parameters for its smaller data sets."""
    return Parameters(
        algorithm=algorithm,
        profile=Profile.PUBLISHED,
        depth=4,
        trials=4 if algorithm is Algorithm.TREE_PAIR else 1,
        alternations=4,
        tree_share=Fraction(1, 10),
        counts=Counts.TWO_PASS,
        pair_score=PairScore.PURITY,
        sampler=Sampler.WALK,
        start=Start.RANDOM,
        prune="auto",
        # A simple query and up to three disjuncts more.
        constraints=Constraints(max_disjuncts=4),
    )


def _fraction(value: object) -> Fraction:
    """Read a number as people write it."""
    text = str(value)
    try:
        # By way of a float: a huge exponent would be written out digit by digit.
        number = Fraction(str(float(text))) if "e" in text.lower() else Fraction(text)
        float(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError("tree_share and prune must be numbers, as in 0.5 or 1/2") from None
    return number
