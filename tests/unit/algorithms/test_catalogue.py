"""From names and parameters to an algorithm: what is accepted, and how a refusal reads."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC, Sampler, Start
from redveil.algorithms.catalogue import ALGORITHMS, PROFILES, make_algorithm
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.profile import HARDENED
from redveil.algorithms.published import PUBLISHED, Published
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.algorithms.twin import RootScore, Twin
from redveil.errors import InputError


def test_everything_has_its_name() -> None:
    assert list(ALGORITHMS) == ["twin", "alt-expm", "alt-mcmc", "tree-pair"]
    assert list(PROFILES) == ["hardened", "published"]
    for name in ALGORITHMS:
        found = make_algorithm(name)
        assert type(found) is ALGORITHMS[name]
        assert found.name == name


# Defaults


def test_defaults_are_hardened_and_exact() -> None:
    default = make_algorithm()
    assert type(default) is Twin
    assert default.profile == HARDENED
    assert default.counts is Counts.CELLS
    assert default.root_score is RootScore.CORRESPONDENCE
    assert not default.walks
    drawn = make_algorithm("alt-mcmc")
    assert type(drawn) is AltMCMC
    assert (drawn.sampler, drawn.start) == (Sampler.EXACT, Start.PRIVATE)
    assert not drawn.walks
    pairs = make_algorithm("tree-pair")
    assert type(pairs) is TreePair
    assert pairs.pair_score is PairScore.ASSOCIATION


def test_none_means_the_default() -> None:
    assert make_algorithm(None, None, depth=None, variance_threshold=None) == make_algorithm()
    assert make_algorithm(profile="hardened") == make_algorithm("twin")


@pytest.mark.parametrize(
    ("name", "trials", "own"),
    [
        ("alt-expm", 1, {"alternations": 4, "start": Start.RANDOM}),
        (
            "alt-mcmc",
            1,
            {
                "alternations": 4,
                "start": Start.RANDOM,
                "sampler": Sampler.WALK,
                "walk_steps": 10_000,
            },
        ),
        (
            "tree-pair",
            4,
            {
                "tree_share": Fraction(1, 10),
                "pair_score": PairScore.PURITY,
                "walk_steps": 10_000,
            },
        ),
    ],
)
def test_the_published_profile_has_the_paper_s_parameters(
    name: str, trials: int, own: dict[str, object]
) -> None:
    found = make_algorithm(name, "published")
    assert type(found) is ALGORITHMS[name]
    assert found.profile == PUBLISHED == Published(variance_threshold=0.005)
    assert (found.depth, found.trials, found.counts) == (4, trials, Counts.TWO_PASS)
    assert {key: getattr(found, key) for key in own} == own
    assert found.auto == ()


def test_what_was_given_goes_before_what_was_published() -> None:
    wanted: dict[str, Any] = {"depth": 2, "counts": "least-squares", "tree_share": "1/3"}
    found = make_algorithm("tree-pair", "published", **wanted)
    assert type(found) is TreePair
    assert (found.depth, found.counts) == (2, Counts.LEAST_SQUARES)
    assert found.tree_share == Fraction(1, 3)
    assert found.pair_score is PairScore.PURITY


def test_a_variance_threshold_is_the_published_profile_s() -> None:
    found = make_algorithm("tree-pair", "published", variance_threshold=0.02)
    assert found.profile == Published(0.02)
    assert found.public()["variance_threshold"] == 0.02
    for profile in (None, "hardened"):
        with pytest.raises(InputError, match=r"^variance_threshold does nothing for the hardened"):
            make_algorithm("tree-pair", profile, variance_threshold=0.02)


@pytest.mark.parametrize("value", ["much", -1, True, np.True_, np.float64("nan")])
def test_a_variance_threshold_is_a_number(value: Any) -> None:
    with pytest.raises(InputError, match=r"^variance_threshold must be a number"):
        make_algorithm("tree-pair", "published", variance_threshold=value)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64, Decimal, Fraction])
def test_parameters_are_plain_whatever_they_were_given_as(kind: Callable[[Any], Any]) -> None:
    given: dict[str, Any] = {"depth": kind(2), "trials": kind(3)}
    found = make_algorithm("twin", **given, tree_share=np.float64(0.25)).public()
    assert [(found[name], type(found[name])) for name in given] == [(2, int), (3, int)]
    assert found["tree_share"] == "1/4"
    published = make_algorithm("tree-pair", "published", variance_threshold=kind(1))
    assert type(published.public()["variance_threshold"]) is float


def test_twin_trees_are_not_published() -> None:
    assert type(make_algorithm(profile="published")) is AltExpM
    with pytest.raises(InputError, match="twin is not a published algorithm"):
        make_algorithm("twin", "published")


@pytest.mark.parametrize("depth", [1, 2])
def test_published_trees_are_walked_to_and_never_drawn_exactly(depth: int) -> None:
    assert make_algorithm("alt-mcmc", "published", depth=depth).walks
    with pytest.raises(InputError, match="published alt-mcmc always uses Markov chains"):
        make_algorithm("alt-mcmc", "published", depth=depth, sampler="exact")


# How a run works


@pytest.mark.parametrize(
    ("given", "walks", "privately"),
    [
        ({}, False, False),
        ({"algorithm": "alt-expm"}, False, True),
        ({"algorithm": "alt-expm", "start": "random"}, False, False),
        ({"algorithm": "alt-mcmc"}, False, True),
        ({"algorithm": "alt-mcmc", "start": "random"}, False, False),
        ({"algorithm": "alt-mcmc", "sampler": "walk"}, True, True),
        ({"algorithm": "alt-mcmc", "depth": 3}, True, True),
        ({"algorithm": "alt-mcmc", "walk_steps": 500}, True, True),
        ({"algorithm": "tree-pair"}, True, False),
        ({"profile": "published"}, False, False),
        ({"profile": "published", "start": "private"}, False, True),
        ({"algorithm": "alt-mcmc", "profile": "published"}, True, False),
        ({"algorithm": "tree-pair", "profile": "published"}, True, False),
    ],
)
def test_how_a_run_works_follows_from_its_parameters(
    given: dict[str, Any],
    walks: bool,  # noqa: FBT001
    privately: bool,  # noqa: FBT001
) -> None:
    found = make_algorithm(**given)
    assert found.walks is walks
    assert (found.walk_length > 0) is walks
    assert (isinstance(found, Alternation) and found.starts_privately) is privately


# Refusals


@pytest.mark.parametrize(
    ("name", "value", "algorithm"),
    [
        ("alternations", 3, "twin"),
        ("start", "random", "tree-pair"),
        ("sampler", "walk", "alt-expm"),
        ("walk_steps", 500, "twin"),
        ("tree_share", "1/3", "alt-mcmc"),
        ("pair_score", "purity", "alt-expm"),
        ("root_score", "agreement", "tree-pair"),
    ],
)
def test_what_would_do_nothing_is_refused(name: str, value: Any, algorithm: str) -> None:
    meant = [one for one in ALGORITHMS if _accepts(one, name, value)]
    assert meant
    assert algorithm not in meant
    with pytest.raises(InputError) as caught:
        make_algorithm(algorithm, **{name: value})
    assert str(caught.value) == f"{name} does nothing for {algorithm}; it is for " + (
        " or ".join(meant)
    )


def _accepts(algorithm: str, name: str, value: Any) -> bool:
    try:
        found = getattr(make_algorithm(algorithm, **{name: value}), name)
    except InputError:
        return False
    return str(found) == str(value)


@pytest.mark.parametrize("name", ["algorithm", "profile"])
@pytest.mark.parametrize("value", ["nonsense", "", "Twin"])
def test_unknown_names_are_refused_with_the_known_ones(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^unknown {name}; use one of .+, ?.+"):
        make_algorithm(**{name: value})


@pytest.mark.parametrize("name", ["seed", "auto", "prune", "constraints", "steps", "Depth"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unknown_parameters_are_refused(algorithm: str, name: str) -> None:
    given: dict[str, Any] = {name: 1}
    with pytest.raises(InputError, match=f"^unknown parameter {name}$"):
        make_algorithm(algorithm, **given)


@pytest.mark.parametrize("kind", ALGORITHMS.values())
def test_given_parameters_reach_the_algorithm(kind: type[Algorithm]) -> None:
    given: dict[str, Any] = {"depth": 1, "trials": 3, "counts": "two-pass"}
    found = make_algorithm(kind.name, **given)
    assert (found.depth, found.trials, found.counts) == (1, 3, Counts.TWO_PASS)
