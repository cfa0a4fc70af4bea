"""Public parameters: what is accepted, and how a refusal reads."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from redveil.algorithms.parameters import (
    Algorithm,
    Constraints,
    Counts,
    PairScore,
    Parameters,
    Profile,
    RootScore,
    Sampler,
    Start,
)
from redveil.errors import InputError


@pytest.mark.parametrize("name", ["max_p_value", "min_jaccard", "max_support"])
@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf, -math.inf])
def test_shares_lie_between_0_and_1(name: str, value: float) -> None:
    wanted: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"^{name} must lie between 0 and 1$"):
        Constraints(**wanted)


@pytest.mark.parametrize("name", ["max_p_value", "min_jaccard", "max_support"])
@pytest.mark.parametrize("value", [0, 1, 0.5])
def test_the_ends_of_shares_are_allowed(name: str, value: float) -> None:
    wanted: dict[str, Any] = {name: value}
    assert getattr(Constraints(**wanted), name) == value


def test_supports_are_not_negative() -> None:
    assert Constraints(min_support=0).min_support == 0
    with pytest.raises(InputError, match="min_support must not be negative"):
        Constraints(min_support=-1)


@pytest.mark.parametrize("number", [0, 11, -1])
def test_disjuncts_are_few(number: int) -> None:
    with pytest.raises(InputError, match="max_disjuncts must lie between 1 and 10"):
        Constraints(max_disjuncts=number)


@pytest.mark.parametrize(
    ("name", "most"),
    [("depth", 6), ("trials", 1000), ("alternations", 1000), ("steps", 10_000_000)],
)
def test_repeats_have_both_ends(name: str, most: int) -> None:
    for number in (1, most):
        fine: dict[str, Any] = {name: number}
        assert getattr(Parameters(**fine), name) == number
    for number in (0, most + 1, -5):
        wrong: dict[str, Any] = {name: number}
        with pytest.raises(InputError, match=f"^{name} must lie between 1 and {most}"):
            Parameters(**wrong)


@pytest.mark.parametrize("algorithm", ["alt-expm", "alt-mcmc"])
def test_a_private_start_can_be_all_there_is(algorithm: str) -> None:
    alone = Parameters.of(algorithm=algorithm, alternations=0)
    # What its start is scored by still depends on the size.
    assert (alone.depth, alone.auto, alone.trees, alone.tables) == (1, ("root_score",), 0, 1)
    assert Parameters.of(algorithm=algorithm, alternations=0, depth=1).auto == ()
    with pytest.raises(InputError, match="without alternations there is one split on each side"):
        Parameters.of(algorithm=algorithm, alternations=0, depth=2)
    with pytest.raises(InputError, match=r"^alternations must lie between 1 and 1000, or be 0 for"):
        Parameters.of(algorithm=algorithm, alternations=0, start="random")
    with pytest.raises(InputError, match=r"^alternations must lie between 0 and 1000$"):
        Parameters.of(algorithm=algorithm, alternations=-1)


def test_a_walk_needs_something_to_walk_for() -> None:
    with pytest.raises(InputError, match=r"^alternations must lie between 1 and 1000, or be 0 for"):
        Parameters.of(algorithm="alt-mcmc", alternations=0, sampler="walk")


@pytest.mark.parametrize("given", [{"start": "random"}, {"profile": "published"}])
def test_a_root_score_needs_roots_to_choose(given: dict[str, str]) -> None:
    with pytest.raises(InputError, match="root_score does nothing without twins or a private"):
        Parameters.of(algorithm="alt-expm", root_score="agreement", **given)


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_trees_and_counts_both_get_a_share(share: Fraction) -> None:
    with pytest.raises(InputError, match="tree_share must lie between 0 and 1, both excluded"):
        Parameters(tree_share=share)


def test_defaults_are_hardened_and_exact() -> None:
    defaults = Parameters()
    assert defaults.algorithm is Algorithm.TWIN
    assert defaults.profile is Profile.HARDENED
    assert defaults.counts is Counts.CELLS
    assert defaults.pair_score is PairScore.ASSOCIATION
    assert defaults.root_score is RootScore.LEVERAGE
    assert defaults.sampler is Sampler.EXACT
    assert defaults.start is Start.PRIVATE
    assert defaults.constraints == Constraints(0.01, 0.1, 10, 0.8, 3)
    assert not defaults.walks


def test_what_is_not_said_of_twins_is_left_to_the_tuning_rule() -> None:
    untold = Parameters.of()
    assert untold.auto == ("depth", "trials", "root_score")
    assert Parameters.of(depth=None, prune=None, algorithm=None) == untold
    # Apart from that nothing differs, and what is said is not tuned.
    assert Parameters.of(auto=()) == Parameters()
    assert Parameters.of(depth=3, root_score="agreement").auto == ("trials",)
    assert Parameters.of(depth=2, trials=1, root_score="leverage") == Parameters()


@pytest.mark.parametrize("algorithm", ["alt-expm", "alt-mcmc"])
def test_what_is_not_said_of_exact_alternations_is_left_to_the_rule_too(algorithm: str) -> None:
    untold = Parameters.of(algorithm=algorithm)
    assert untold.auto == ("depth", "alternations", "root_score")
    assert replace(untold, auto=()) == Parameters(Algorithm(algorithm))
    assert Parameters.of(algorithm=algorithm, depth=1).auto == ("alternations", "root_score")
    assert Parameters.of(algorithm=algorithm, depth=2, alternations=2).auto == ()
    assert Parameters.of(algorithm=algorithm, start="random").auto == ()
    assert Parameters.of(algorithm=algorithm, profile="published").auto == ()


@pytest.mark.parametrize(
    "given", [{"algorithm": "tree-pair"}, {"algorithm": "alt-mcmc", "sampler": "walk"}]
)
def test_walks_are_not_tuned(given: dict[str, str]) -> None:
    assert Parameters.of(**given).auto == ()


@pytest.mark.parametrize(
    ("given", "walks", "exactly", "privately", "sets", "soil"),
    [
        ({}, False, False, False, True, True),
        ({"algorithm": "alt-expm"}, False, False, True, True, True),
        ({"algorithm": "alt-expm", "start": "random"}, False, False, False, False, False),
        ({"algorithm": "alt-mcmc"}, False, True, True, True, True),
        ({"algorithm": "alt-mcmc", "start": "random"}, False, True, False, True, False),
        ({"algorithm": "alt-mcmc", "sampler": "walk"}, True, False, True, True, True),
        ({"algorithm": "alt-mcmc", "depth": 3}, True, False, True, True, True),
        ({"algorithm": "alt-mcmc", "steps": 500}, True, False, True, True, True),
        ({"algorithm": "tree-pair"}, True, False, False, True, False),
        ({"profile": "published"}, False, False, False, False, False),
        ({"profile": "published", "start": "private"}, False, False, True, True, True),
        ({"algorithm": "alt-mcmc", "profile": "published"}, True, False, False, True, False),
        ({"algorithm": "tree-pair", "profile": "published"}, True, False, False, True, False),
    ],
)
def test_what_a_run_needs_follows_from_its_parameters(
    given: dict[str, Any],
    walks: bool,  # noqa: FBT001
    exactly: bool,  # noqa: FBT001
    privately: bool,  # noqa: FBT001
    sets: bool,  # noqa: FBT001
    soil: bool,  # noqa: FBT001
) -> None:
    found = Parameters.of(**given)
    assert (found.walks, found.draws_exactly) == (walks, exactly)
    assert found.starts_privately is privately
    assert (found.needs_sets, found.needs_soil) == (sets, soil)


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_deep_trees_are_walked_to_unless_something_else_is_said(depth: int) -> None:
    assert Parameters.of(algorithm="alt-mcmc", depth=depth).walks == (depth > 2)
    assert Parameters.of(algorithm="alt-mcmc", depth=depth, sampler="walk").walks
    if depth > 2:
        with pytest.raises(InputError, match="exactly up to depth 2; use sampler = walk"):
            Parameters.of(algorithm="alt-mcmc", depth=depth, sampler="exact")


@pytest.mark.parametrize("depth", [1, 2])
def test_published_trees_are_walked_to_and_never_drawn_exactly(depth: int) -> None:
    given = {"algorithm": "alt-mcmc", "profile": "published", "depth": depth}
    assert Parameters.of(**given).walks
    with pytest.raises(InputError, match="published alt-mcmc walks; use sampler = walk"):
        Parameters.of(**given, sampler="exact")


def test_twins_are_not_published() -> None:
    assert Parameters.of(profile="published").algorithm is Algorithm.ALT_EXPM
    with pytest.raises(InputError, match="twin is not a published algorithm"):
        Parameters.of(algorithm="twin", profile="published")


@pytest.mark.parametrize(
    ("algorithm", "trials"), [("alt-expm", 1), ("alt-mcmc", 1), ("tree-pair", 4)]
)
def test_the_published_profile_has_the_paper_s_parameters(algorithm: str, trials: int) -> None:
    found = Parameters.of(algorithm=algorithm, profile="published")
    assert found.algorithm == algorithm
    assert (found.depth, found.trials, found.steps) == (4, trials, 10_000)
    assert (found.tree_share, found.variance_threshold) == (Fraction(1, 10), 0.005)
    assert (found.counts, found.pair_score) == (Counts.TWO_PASS, PairScore.PURITY)
    assert (found.sampler, found.start) == (Sampler.WALK, Start.RANDOM)
    # A simple query, extended up to three times.
    assert found.constraints == Constraints(0.01, 0.1, 10, 0.8, 4)


def test_what_was_given_goes_before_what_was_published() -> None:
    wanted = {"depth": 2, "counts": "least-squares", "tree_share": "1/3"}
    found = Parameters.of(profile="published", algorithm="tree-pair", **wanted)
    assert (found.depth, found.counts) == (2, Counts.LEAST_SQUARES)
    assert found.tree_share == Fraction(1, 3)
    assert found.pair_score is PairScore.PURITY


@pytest.mark.parametrize(
    ("name", "value", "algorithm"),
    [
        ("alternations", 3, "twin"),
        ("start", "random", "tree-pair"),
        ("sampler", "walk", "alt-expm"),
        ("steps", 500, "twin"),
        ("tree_share", "1/3", "alt-mcmc"),
        ("pair_score", "purity", "alt-expm"),
        ("root_score", "agreement", "tree-pair"),
    ],
)
def test_what_would_do_nothing_is_refused(name: str, value: object, algorithm: str) -> None:
    with pytest.raises(InputError, match=f"^{name} does nothing for {algorithm}; it is for .+"):
        Parameters.of(algorithm=algorithm, **{name: value})
    meant = [a for a in Algorithm if _accepts(a, name, value)]
    assert meant
    assert algorithm not in meant


def _accepts(algorithm: Algorithm, name: str, value: object) -> bool:
    try:
        found = getattr(Parameters.of(algorithm=algorithm, **{name: value}), name)
    except InputError:
        return False
    return str(found) == str(value)


@pytest.mark.parametrize(
    "name",
    ["algorithm", "profile", "counts", "pair_score", "root_score", "sampler", "start"],
)
def test_unknown_names_are_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match=f"^unknown {name}; use one of .+, ?.+"):
        Parameters.of(**{name: "nonsense"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("tree_share", value) for value in ("much", "nan", "inf", "1/0", "", True)),
        *(
            ("prune", value)
            for value in ("some", "nan", "inf", "1/0", "1e400", "9" * 400, "1e999999999", True)
        ),
    ],
)
def test_what_is_no_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match="must be numbers"):
        Parameters.of(**{name: value})


@pytest.mark.parametrize(
    ("given", "kept"), [("auto", "auto"), (200, 200.0), ("2e3", 2000.0), (None, None)]
)
def test_a_threshold_is_a_number_or_comes_from_the_noise(
    given: object, kept: float | str | None
) -> None:
    assert Parameters.of(prune=given).prune == kept


def test_other_words_are_no_threshold() -> None:
    with pytest.raises(InputError, match="prune must be a number of entities, or auto"):
        Parameters(prune="most")


def test_everything_but_the_names_goes_into_a_certificate() -> None:
    public = Parameters(depth=3, tree_share=Fraction(1, 3), prune=20.0, auto=("trials",)).public()
    assert public["depth"] == 3
    assert public["tree_share"] == "1/3"
    assert public["prune"] == 20.0
    assert public["counts"] == "cells"
    assert public["sampler"] == "exact"
    assert public["start"] == "private"
    assert public["root_score"] == "leverage"
    assert public["max_disjuncts"] == 3
    assert public["auto"] == "trials"
    assert {"algorithm", "profile", "constraints"}.isdisjoint(public)
    assert all(type(value) in (int, float, str) for value in public.values())


def test_a_certificate_names_everything_that_was_tuned() -> None:
    assert Parameters.of().public()["auto"] == "depth, trials, root_score"
    assert Parameters().public()["auto"] is None


def test_parameters_can_be_compared_and_kept() -> None:
    assert len({Parameters(), Parameters(depth=2), Parameters(depth=3)}) == 2
