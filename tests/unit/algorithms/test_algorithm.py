"""What all algorithms share: how parameters are read, and plans that cost what was asked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.algorithm import Algorithm, size_step
from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC, Sampler, Start
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.twin import RootScore, Twin
from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError
from redveil.losses.loss import Price, Rho, amount, read_fraction, total
from redveil.losses.plan import StepKey, StepKind
from redveil.trees.scores import CORRESPONDENCE
from strategies.algorithms import ALL, algorithms

some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)
prices = epsilons | epsilons.map(Rho)

# Parameters


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("name", "most"), [("depth", 6), ("trials", 1000)])
def test_repeats_have_both_ends(kind: type[Algorithm], name: str, most: int) -> None:
    # Deep trees cannot be drawn exactly.
    walk: dict[str, Any] = {"sampler": Sampler.WALK} if kind is AltMCMC else {}
    for number in (1, most):
        fine: dict[str, Any] = walk | {name: number}
        assert getattr(kind(**fine), name) == number
        assert getattr(kind.of(**fine), name) == number
    for number in (0, most + 1, -5):
        wrong: dict[str, Any] = walk | {name: number}
        for make in (kind, kind.of):
            with pytest.raises(InputError, match=f"^{name} must lie between 1 and {most}$"):
                make(**wrong)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (Twin, ("tree_share", "root_score")),
        (AltExpM, ("alternations", "start", "root_score")),
        (AltMCMC, ("alternations", "start", "root_score", "sampler", "walk_steps")),
        (TreePair, ("tree_share", "pair_score", "walk_steps")),
    ],
)
def test_an_algorithm_has_its_own_parameters_and_the_shared_ones(
    kind: type[Algorithm], names: tuple[str, ...]
) -> None:
    assert kind.parameter_names() == ("depth", "trials", "counts", *names)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, "counts") for kind in ALL),
        (Twin, "root_score"),
        (AltExpM, "root_score"),
        (AltExpM, "start"),
        (AltMCMC, "start"),
        (AltMCMC, "sampler"),
        (TreePair, "pair_score"),
    ],
)
def test_unknown_choices_are_refused_with_the_known_ones(kind: type[Algorithm], name: str) -> None:
    wrong: list[Any] = ["nonsense", "", 3, True]
    for value in wrong:
        with pytest.raises(InputError, match=f"^unknown {name}; use one of .+, ?.+"):
            kind.of(**{name: value})


@pytest.mark.parametrize("kind", [Twin, TreePair])
@pytest.mark.parametrize("value", ["much", "nan", "inf", "1/0", "", True, "1e999999999"])
def test_what_is_no_number_is_refused(kind: type[Algorithm], value: object) -> None:
    with pytest.raises(InputError, match=r"^tree_share must be a number, as in 0\.5 or 1/2$"):
        kind.of(tree_share=value)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("1/3", Fraction(1, 3)),
        (0.1, Fraction(1, 10)),
        ("0.25", Fraction(1, 4)),
        ("5e-1", Fraction(1, 2)),
    ],
)
def test_a_number_means_what_was_written(value: object, meant: Fraction) -> None:
    assert read_fraction(value) == meant
    assert Twin.of(tree_share=value).tree_share == meant


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, name) for kind in ALL for name in ("depth", "trials")),
        (AltExpM, "alternations"),
        (AltMCMC, "walk_steps"),
        (TreePair, "walk_steps"),
    ],
)
def test_whole_numbers_may_be_text_and_fractions_are_refused(
    kind: type[Algorithm], name: str
) -> None:
    whole: list[Any] = ["2", 2.0, Fraction(2)]
    for written in whole:
        found = getattr(kind.of(**{name: written}), name)
        assert (found, type(found)) == (2, int)
    others: list[Any] = [1.5, "1/2", "two", "", True, "nan", "inf"]
    for value in others:
        with pytest.raises(InputError, match=f"^{name} must be a whole number$"):
            kind.of(**{name: value})


def test_parameters_can_be_compared_and_kept() -> None:
    assert len({Twin(), Twin(depth=2), Twin(depth=3)}) == 2
    assert len({AltExpM(depth=1), AltMCMC(depth=1), TreePair(depth=1), Twin(depth=1)}) == 4


@pytest.mark.parametrize("kind", ALL)
def test_everything_but_the_names_goes_into_a_certificate(kind: type[Algorithm]) -> None:
    made = replace(kind(depth=1), auto=("trials",))
    public = made.public()
    assert set(public) == {*kind.parameter_names(), *kind.derived, "auto"}
    assert public["depth"] == 1
    assert public["auto"] == "trials"
    assert all(type(value) in (int, float, str, bool) for value in public.values())


def test_choices_and_shares_go_into_a_certificate_as_text() -> None:
    assert Twin(depth=3, tree_share=Fraction(1, 3)).public() == {
        "depth": 3,
        "trials": 1,
        "counts": "cells",
        "tree_share": "1/3",
        "root_score": "correspondence",
        "scout": "0",
        "again": False,
        "auto": None,
    }
    assert AltMCMC(start=Start.RANDOM).public() == {
        "depth": 2,
        "trials": 1,
        "counts": "cells",
        "alternations": 2,
        "start": "random",
        "root_score": "correspondence",
        "sampler": "exact",
        "walk_steps": 10_000,
        "auto": None,
    }


def test_a_certificate_names_everything_that_was_tuned() -> None:
    assert Twin.of().public()["auto"] == "depth, trials"
    assert Twin().public()["auto"] is None


def test_a_method_has_the_parameters_of_the_algorithm_and_of_what_is_reported() -> None:
    method = Twin(depth=3).method({"prune": None, "min_support": 7})
    assert (method.algorithm, method.profile, method.guarantee) == ("twin", "hardened", "exact")
    assert method.parameters == Twin(depth=3).public() | {"prune": None, "min_support": 7}
    assert method.conditions == ()


# Plans


@some
@given(algorithms(), prices)
def test_steps_cost_the_price_exactly_and_have_their_own_names(
    wanted: Algorithm, price: Price
) -> None:
    plan = wanted.plan(price)
    assert plan.price == price
    assert total(step.price for step in plan.steps) == price
    assert all(amount(step.price) > 0 for step in plan.steps)
    names = [step.name for step in plan.steps]
    assert len(set(names)) == len(names)
    assert wanted.plan(price) == plan


@some
@given(algorithms(), prices)
def test_the_size_comes_first_if_something_is_tuned(wanted: Algorithm, price: Price) -> None:
    plan = replace(wanted, auto=("depth",)).plan(price)
    assert plan.price == total(step.price for step in plan.steps) == price
    assert plan.steps[0] == size_step(price)
    assert plan.steps[1:] == wanted.plan(price * Fraction(99, 100)).steps
    assert wanted.plan(price).first(StepKind.SIZE) is None


@some
@given(prices)
def test_the_size_costs_a_hundredth(price: Price) -> None:
    step = size_step(price)
    assert (step.name, step.key) == ("size", StepKey(StepKind.SIZE))
    assert (step.mechanism, step.price) == ("count", price * Fraction(1, 100))


@some
@given(algorithms(), epsilons)
def test_a_stage_is_a_start_a_tree_a_pair_or_a_table(wanted: Algorithm, epsilon: Fraction) -> None:
    cost: dict[tuple[int | None, StepKind, int | None], Fraction] = defaultdict(Fraction)
    for step in wanted.plan(epsilon).steps:
        key = step.key
        grows = key.kind is not StepKind.LEAF_TABLE
        walked = wanted.walks and key.kind is not StepKind.START
        assert step.mechanism == (("walk" if walked else "choose") if grows else "count")
        cost[key.trial, key.kind, key.number] += amount(step.price)
    # A scout is not reported: nobody knows yet how much will follow.
    scout = wanted.scout if isinstance(wanted, Twin) else 0
    assert len(cost) == wanted.stages + 2 * bool(scout)
    assert {trial for trial, _, _ in cost} == set(range(1, wanted.trials + 1))
    tables = sum(kind is StepKind.LEAF_TABLE for _, kind, _ in cost)
    assert tables == wanted.trials * wanted.tables
    if isinstance(wanted, Alternation):
        starts = sum(kind is StepKind.START for _, kind, _ in cost)
        assert starts == wanted.trials * wanted.starts_privately
        assert set(cost.values()) == {epsilon / len(cost)}
    else:
        assert isinstance(wanted, Twin | TreePair)
        others = epsilon * (1 - scout) / (wanted.trials - bool(scout))
        shares = {share for share in (epsilon * scout, others) if share}
        parts = wanted.tree_share, 1 - wanted.tree_share
        assert set(cost.values()) == {share * part for share in shares for part in parts}


# Designs


@some
@given(algorithms(), epsilons)
def test_a_design_follows_from_the_plan(wanted: Algorithm, epsilon: Fraction) -> None:
    design = wanted.design(clinic_schema(), 1000, epsilon)
    steps = {step.key: step.price for step in wanted.plan(epsilon).steps}
    depth = 1 if isinstance(wanted, Twin) and wanted.scout else wanted.depth
    assert (design.depth, design.tables) == (depth, wanted.trials * wanted.tables)
    cells = StepKey(StepKind.LEAF_TABLE, 1, 1, part="cells")
    assert design.cells_price == steps[cells]
    start = steps.get(StepKey(StepKind.START, 1))
    root = steps.get(StepKey(StepKind.TWIN_TREES, 1, level=1), start)
    assert (None if design.choice is None else design.choice.price) == root


def test_a_design_is_tuned_to_the_size() -> None:
    few, many = (Twin.of().design(clinic_schema(), size, Fraction(1)) for size in (10, 10**6))
    assert (few.depth, few.tables) == (1, 1)
    # A scout, and twelve pairs of depth 2.
    assert (many.depth, many.tables) == (1, 13)
    assert many.choice is not None
    assert many.choice.score is CORRESPONDENCE
    assert many.choice.price == many.cells_price == Fraction(99, 100) / 25 / 2
    weak = Twin(root_score=RootScore.AGREEMENT).design(clinic_schema(), 10**6, Fraction(1))
    assert weak.choice is not None
    assert weak.choice.score is RootScore.AGREEMENT.matching.score
    assert TreePair(counts=Counts.TWO_PASS).design(clinic_schema(), 10, Fraction(1)).choice is None
