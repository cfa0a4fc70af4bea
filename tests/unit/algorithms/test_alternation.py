"""Alternation: parameters, plans, what each tree predicts, and that every step is paid once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC, Sampler, Start
from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.twin import RootScore
from redveil.data.table import Table
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.losses.loss import total
from redveil.losses.plan import StepKey, StepKind
from redveil.schema import Schema, Side
from strategies.algorithms import algorithms
from strategies.schemas import schemas, tables
from support.booleans import boolean_schema, boolean_table
from support.paying import run_trials
from support.seeded import ScriptedRandomness, SeededRandomness

few = settings(max_examples=15, deadline=None)
some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)
KINDS = (AltExpM, AltMCMC)
SURE = Fraction(10_000)
both_kinds = pytest.mark.parametrize("kind", KINDS)

# Parameters


@both_kinds
def test_alternations_have_both_ends(kind: type[Alternation]) -> None:
    assert [kind(alternations=number).alternations for number in (1, 1000)] == [1, 1000]
    for number in (1001, -5):
        with pytest.raises(InputError, match=r"^alternations must lie between 0 and 1000$"):
            kind(alternations=number)
        with pytest.raises(InputError, match=r"^alternations must lie between 1 and 1000, or be 0"):
            kind(alternations=number, start=Start.RANDOM)


@pytest.mark.parametrize("sampler", Sampler)
def test_walks_have_both_ends(sampler: Sampler) -> None:
    for number in (1, 10_000_000):
        found = AltMCMC(walk_steps=number, sampler=sampler)
        assert found.walk_steps == number
        assert found.walk_length == (number if sampler is Sampler.WALK else 0)
    for number in (0, 10_000_001, -5):
        with pytest.raises(InputError, match=r"^walk_steps must lie between 1 and 10000000$"):
            AltMCMC(walk_steps=number, sampler=sampler)


@both_kinds
def test_a_private_start_can_be_all_there_is(kind: type[Alternation]) -> None:
    alone = kind.of(alternations=0)
    # Nothing is left that a size could decide.
    assert (alone.depth, alone.auto, alone.trees, alone.tables) == (1, (), 0, 1)
    assert kind.of(alternations=0, depth=1).auto == ()
    with pytest.raises(InputError, match="without alternations there is one split on each side"):
        kind.of(alternations=0, depth=2)
    with pytest.raises(InputError, match=r"^alternations must lie between 1 and 1000, or be 0 for"):
        kind.of(alternations=0, start="random")
    with pytest.raises(InputError, match=r"^alternations must lie between 0 and 1000$"):
        kind.of(alternations=-1)


def test_a_walk_needs_something_to_walk_for() -> None:
    with pytest.raises(InputError, match=r"^alternations must lie between 1 and 1000, or be 0 for"):
        AltMCMC.of(alternations=0, sampler="walk")


@both_kinds
def test_a_root_score_needs_roots_to_choose(kind: type[Alternation]) -> None:
    assert kind.of(root_score="agreement").root_score is RootScore.AGREEMENT
    with pytest.raises(InputError, match=r"^root_score does nothing without a private start$"):
        kind.of(root_score="agreement", start="random")
    with pytest.raises(InputError, match=r"^root_score does nothing without a private start$"):
        make_algorithm(kind.name, "published", root_score="agreement")


@both_kinds
def test_what_is_not_said_is_left_to_the_tuning_rule(kind: type[Alternation]) -> None:
    untuned = kind.of()
    assert untuned.auto == ("depth", "alternations")
    assert replace(untuned, auto=()) == kind()
    assert kind.of(depth=1).auto == ("alternations",)
    assert kind().root_score is RootScore.CORRESPONDENCE
    assert kind.of(depth=2, alternations=2).auto == ()
    assert kind.of(start="random").auto == ()
    assert make_algorithm(kind.name, "published").auto == ()


def test_walks_are_not_tuned() -> None:
    assert AltMCMC.of(sampler="walk").auto == ()


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_deep_trees_are_walked_to_unless_something_else_is_said(depth: int) -> None:
    assert AltMCMC.of(depth=depth).walks == (depth > 2)
    assert AltMCMC.of(depth=depth, sampler="walk").walks
    if depth > 2:
        with pytest.raises(InputError, match="exactly up to depth 2; use sampler = walk"):
            AltMCMC.of(depth=depth, sampler="exact")
        with pytest.raises(InputError, match="exactly up to depth 2; use sampler = walk"):
            AltMCMC(depth=depth)


# Plans


@some
@given(algorithms(*KINDS), epsilons)
def test_starts_trees_and_tables_cost_the_same(wanted: Alternation, epsilon: Fraction) -> None:
    prices = {step.key: step.price for step in wanted.plan(epsilon).steps}
    private = wanted.start is Start.PRIVATE
    parts = 2 * wanted.alternations + 1 + private if wanted.alternations else 2
    share = epsilon / (wanted.trials * parts)
    levels = 1 if isinstance(wanted, AltMCMC) else wanted.depth
    for trial in range(1, wanted.trials + 1):
        start = prices.pop(StepKey(StepKind.START, trial), None)
        assert start == (share if private else None)
        for tree in range(1, wanted.alternations + 2) if wanted.alternations else ():
            keys = wanted.tree_keys(trial, tree)
            assert [prices.pop(key) for key in keys] == [share / levels] * levels
        for number in range(1, max(wanted.alternations, 1) + 1):
            table = [key for key in prices if (key.trial, key.number) == (trial, number)]
            assert {key.kind for key in table} == {StepKind.LEAF_TABLE}
            assert total(prices.pop(key) for key in table) == share
    assert not prices


THREE_PARTS = ("cells", "left margin", "right margin")


@pytest.mark.parametrize(
    ("wanted", "trial"),
    [
        (
            AltExpM(depth=1, trials=2, counts=Counts.LEAST_SQUARES),
            [
                ("start", "choose"),
                ("tree 1, level 1", "choose"),
                ("tree 2, level 1", "choose"),
                *((f"leaf table 1, {part}", "count") for part in THREE_PARTS),
                ("tree 3, level 1", "choose"),
                *((f"leaf table 2, {part}", "count") for part in THREE_PARTS),
            ],
        ),
        (
            AltMCMC(depth=2, trials=2, alternations=1),
            [
                ("start", "choose"),
                ("tree 1", "choose"),
                ("tree 2", "choose"),
                ("leaf table 1, cells", "count"),
            ],
        ),
        (
            AltMCMC(
                trials=2,
                alternations=1,
                sampler=Sampler.WALK,
                start=Start.RANDOM,
                counts=Counts.TWO_PASS,
            ),
            [
                ("tree 1", "walk"),
                ("tree 2", "walk"),
                ("leaf table 1, cells", "count"),
                ("leaf table 1, left margin", "count"),
            ],
        ),
        (
            AltExpM(depth=1, trials=2, alternations=0),
            [("start", "choose"), ("leaf table 1, cells", "count")],
        ),
    ],
)
def test_steps_stand_in_the_order_in_which_they_are_taken(
    wanted: Alternation, trial: list[tuple[str, str]]
) -> None:
    steps = wanted.plan(Fraction(1)).steps
    assert [(step.name, step.mechanism) for step in steps] == [
        (f"trial {number}, {name}", mechanism) for number in (1, 2) for name, mechanism in trial
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (AltExpM(trials=3, alternations=4), 30),
        (AltExpM(trials=3, alternations=4, start=Start.RANDOM), 27),
        (AltExpM(trials=3, depth=1, alternations=0), 6),
        (AltMCMC(trials=3, alternations=4), 30),
        (AltMCMC(trials=3, depth=5, sampler=Sampler.WALK), 18),
    ],
)
def test_progress_has_as_many_stages_as_there_are_starts_trees_and_tables(
    wanted: Alternation, expected: int
) -> None:
    assert wanted.stages == expected


# Runs


@both_kinds
@pytest.mark.parametrize("stages", [1, 2, 4])
def test_a_run_that_is_stopped_ends_before_the_next_tree(
    kind: type[Alternation], stages: int
) -> None:
    schema, table = mirrored()
    wanted = kind(depth=1, alternations=5)
    source = SeededRandomness(1)
    assert len(run_trials(table, schema, wanted, Fraction(1), source).tables) == 5
    with pytest.raises(KeyboardInterrupt):
        run_trials(table, schema, wanted, Fraction(1), source, stop_after=stages)


@few
@given(
    st.data(),
    schemas(),
    st.integers(0, 70),
    algorithms(*KINDS, depth=4, trials=2, alternations=3),
)
def test_every_step_is_paid_for_once_and_in_order(
    data: st.DataObject, schema: Schema, rows: int, wanted: Alternation
) -> None:
    table = data.draw(tables(schema, rows))
    found = run_trials(table, schema, wanted, Fraction(3), SeededRandomness(rows))
    assert found.purse.paid == [step.key for step in wanted.plan(Fraction(3)).steps]
    found.purse.close()
    assert len(found.tables) == wanted.trials * max(wanted.alternations, 1)
    grown = 2 * wanted.alternations + 1 + wanted.starts_privately if wanted.alternations else 2
    assert found.stages == wanted.stages == wanted.trials * grown


def mirrored(rows: int = 200) -> tuple[Schema, Table]:
    """Three independent attributes on the left; on the right the same three, from last to first."""
    columns = np.random.default_rng(3).integers(0, 2, (3, rows))
    schema = boolean_schema(3, 3)
    return schema, boolean_table(schema, columns, columns[::-1])


@both_kinds
@pytest.mark.parametrize("start", range(6))
def test_a_random_start_is_an_attribute_that_the_other_side_predicts(
    start: int, kind: type[Alternation]
) -> None:
    schema, table = mirrored()
    # The first word picks the attribute, the others the splits, of which one is all but certain.
    source = ScriptedRandomness(6 * 10**9 + start, *[2**63] * 10)
    wanted = kind(depth=1, alternations=1, start=Start.RANDOM)
    (released,) = run_trials(table, schema, wanted, Fraction(100), source).tables
    attribute = start if start < 3 else 5 - start
    assert released.value.left.splits == (attribute,)
    assert released.value.right.splits == (2 - attribute,)
    half = table.rows // 2
    assert abs(released.value.cells - np.diag(np.diag(released.value.cells))).sum() == 0
    assert abs(int(released.value.cells[0, 0]) - half) < 40


def planted(*, agree: int, rows: int = 300, columns: int = 5) -> tuple[Schema, Table]:
    """Coins on either side, of which left `agree` and right 0 are one; some values are missing."""
    rng = np.random.default_rng(11)
    left, right = rng.integers(0, 2, (2, columns, rows))
    right[0] = left[agree]
    left[(agree + 1) % columns, ::7] = right[1, ::9] = 255
    schema = boolean_schema(columns, columns, required=False)
    return schema, boolean_table(schema, left, right)


@both_kinds
@pytest.mark.parametrize("agree", range(3))
def test_a_private_start_is_the_pair_of_splits_that_go_together(
    agree: int, kind: type[Alternation]
) -> None:
    # No attribute is predicted by anything but its twin: a random start finds it in 2 of 10.
    schema, table = planted(agree=agree)
    wanted = kind(depth=1, alternations=1)
    for seed in range(10):
        (released,) = run_trials(table, schema, wanted, SURE, SeededRandomness(seed)).tables
        assert released.value.left.splits == (agree,)
        assert released.value.right.splits == (0,)


@both_kinds
def test_the_first_tree_predicts_the_right_stump(kind: type[Alternation]) -> None:
    # The tree after the start is a left one, though a right one could predict as well.
    schema, table = mirrored()
    wanted = kind(depth=1, alternations=2)
    for seed in range(6):
        found = run_trials(table, schema, wanted, SURE, SeededRandomness(seed)).tables
        first, second = (one.value for one in found)
        assert first.right is second.right, "the second tree of three, and the only right one"
        assert first.left.splits == second.left.splits
        assert first.right.splits == (2 - int(first.left.splits[0] or 0),)


@both_kinds
@pytest.mark.parametrize("depth", [1, 2])
def test_an_alternation_with_a_private_start_never_comes_back_empty(
    kind: type[Alternation], depth: int
) -> None:
    schema, table = planted(agree=2)
    both = {2}, {0}
    wanted = kind(depth=depth, alternations=2)
    for seed in range(12):
        found = run_trials(table, schema, wanted, SURE, SeededRandomness(seed)).tables
        for one in found:
            # Booleans have one split each, so splits are attributes.
            assert both[0] <= set(one.value.left.splits)
            assert both[1] <= set(one.value.right.splits)
            assert related(one.value) > 0.8


def related(table: LeafTable) -> float:
    """Return χ² / N of the leaves: 0 for independent trees, 1 for halves that match."""
    cells = table.cells[: len(table.left.leaves), : len(table.right.leaves)].astype(np.float64)
    cells = np.maximum(cells, 0)
    cells = cells[cells.sum(axis=1) > 0][:, cells.sum(axis=0) > 0]
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
    return float(((cells - expected) ** 2 / expected).sum() / cells.sum())


def test_a_random_start_may_well_come_back_empty() -> None:
    schema, table = planted(agree=2)
    wanted = AltExpM(depth=1, alternations=1, start=Start.RANDOM)
    runs = [
        run_trials(table, schema, wanted, SURE, SeededRandomness(seed)).tables[0]
        for seed in range(20)
    ]
    empty = [one for one in runs if related(one.value) < 0.1]
    assert 5 < len(empty) < 20


def test_neighbouring_tables_of_a_trial_share_a_tree() -> None:
    schema, table = mirrored()
    wanted = AltExpM(depth=2, trials=2, alternations=3)
    found = run_trials(table, schema, wanted, Fraction(1), SeededRandomness(4)).tables
    for trial in (found[:3], found[3:]):
        trees = [(one.value.left, one.value.right) for one in trial]
        changed = []
        for (left, right), (next_left, next_right) in pairwise(trees):
            assert (left is next_left) != (right is next_right)
            changed.append(Side.LEFT if right is next_right else Side.RIGHT)
        assert changed[0] is changed[1].other, "the same side was grown twice in a row"


@pytest.mark.parametrize("start", Start)
def test_a_table_carries_the_prices_and_receipts_that_paid_for_it(start: Start) -> None:
    schema, table = mirrored()
    wanted = AltExpM(depth=2, alternations=2, start=start, counts=Counts.LEAST_SQUARES)
    # Three trees, two tables, and a start if it is paid for.
    epsilon = Fraction(6 if start is Start.PRIVATE else 5)
    found = run_trials(table, schema, wanted, epsilon, SeededRandomness(4)).tables
    prices = Prices(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert [one.value.prices for one in found] == [prices] * 2
    for number, one in enumerate(found, start=1):
        assert {str(receipt.step) for receipt in one.receipts} == {
            *(f"trial 1, tree {tree}, level {n}" for tree in (number, number + 1) for n in (1, 2)),
            f"trial 1, leaf table {number}, cells",
            f"trial 1, leaf table {number}, left margin",
            f"trial 1, leaf table {number}, right margin",
        }


@pytest.mark.parametrize(
    ("sampler", "mechanism"), [(Sampler.EXACT, "choose"), (Sampler.WALK, "walk")]
)
def test_a_whole_tree_costs_one_choice_or_one_walk(sampler: Sampler, mechanism: str) -> None:
    schema, table = mirrored()
    wanted = AltMCMC(depth=2, alternations=2, walk_steps=20, sampler=sampler)
    found = run_trials(table, schema, wanted, Fraction(6), SeededRandomness(4))
    found.purse.close()
    for number, one in enumerate(found.tables, start=1):
        grown = [r for r in one.receipts if r.step.kind is not StepKind.LEAF_TABLE]
        assert sorted((str(r.step), str(r.mechanism), r.price) for r in grown) == [
            (f"trial 1, tree {tree}", mechanism, Fraction(1)) for tree in (number, number + 1)
        ]
        assert one.value.prices.cells == 1


def test_whole_trees_are_as_good_as_trees_get() -> None:
    # Four leaves on either side that match one to one: no walk of 20 steps gets there every time.
    schema, table = mirrored()
    wanted = AltMCMC(depth=2, alternations=1)
    for seed in range(5):
        (released,) = run_trials(table, schema, wanted, SURE, SeededRandomness(seed)).tables
        assert released.value.cells.shape == (4, 4)
        assert np.count_nonzero(released.value.cells > 5) == 4


@pytest.mark.parametrize("required", [True, False])
def test_trees_end_early_where_the_schema_has_no_more_splits(required: bool) -> None:  # noqa: FBT001
    schema = boolean_schema(1, 2, required=required)
    columns = np.random.default_rng(1).integers(0, 2, (3, 50))
    table = boolean_table(schema, columns[:1], columns[1:])
    wanted = AltExpM(depth=5, alternations=2)
    found = run_trials(table, schema, wanted, Fraction(1), SeededRandomness(2))
    found.purse.close()
    assert found.stages == 6
    for one in found.tables:
        assert len(one.value.left.leaves) == 2
        assert len(one.value.right.leaves) == 4
        assert len(one.value.left.stuck) == (0 if required else 1)
