"""Twin trees: parameters, plans, what each pair begins with, and that every step is paid once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.twin import CAUTION, RootScore, Twin, related
from redveil.data.table import Table
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable, Prices, noise_variance
from redveil.growing.twin import BY_AGREEMENT, BY_CORRESPONDENCE, BY_LEVERAGE
from redveil.losses.loss import total
from redveil.losses.plan import StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.trees.tree import Tree
from strategies.algorithms import algorithms
from strategies.schemas import schemas, tables
from support.booleans import boolean_schema, boolean_table
from support.paying import run_trials
from support.seeded import SeededRandomness

few = settings(max_examples=15, deadline=None)
some = settings(max_examples=30, deadline=None)
CERTAIN = Fraction(10**6)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)

# Parameters


def test_what_is_not_said_is_left_to_the_tuning_rule() -> None:
    untuned = Twin.of()
    assert untuned.auto == ("depth", "trials")
    # Apart from that nothing differs, and what is given is not tuned.
    assert Twin.of(depth=3).auto == ("trials",)
    assert Twin.of(depth=2, trials=1) == Twin()
    assert Twin.of(root_score="agreement").auto == untuned.auto
    assert Twin.of(counts="two-pass", tree_share="1/3").auto == untuned.auto


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_trees_and_counts_both_get_a_share(share: Fraction) -> None:
    for make in (Twin, Twin.of):
        with pytest.raises(InputError, match="tree_share must lie between 0 and 1, both excluded"):
            make(tree_share=share)


def test_a_root_score_is_a_way_to_match_splits() -> None:
    assert RootScore.LEVERAGE.matching is BY_LEVERAGE
    assert RootScore.AGREEMENT.matching is BY_AGREEMENT
    assert RootScore.CORRESPONDENCE.matching is BY_CORRESPONDENCE
    assert Twin().root_score is RootScore.CORRESPONDENCE


@pytest.mark.parametrize("name", ["scout", "again"])
def test_what_only_the_rule_decides_cannot_be_given(name: str) -> None:
    assert name not in Twin.parameter_names()
    assert name in Twin.derived


def test_tuning_anew_for_less_forgets_the_scout() -> None:
    # An empty list asks what other prices would have bought, of an algorithm that is tuned already.
    rich = Twin.of().tuned(None, 5_000, Fraction(1))
    assert rich.scout
    poor = rich.tuned(None, 5_000, Fraction(1, 100))
    assert (poor.depth, poor.trials, poor.scout, poor.again) == (1, 1, Fraction(0), False)
    assert poor.plan(Fraction(1, 100)).price == Fraction(1, 100)


def test_twin_trees_need_no_walk() -> None:
    assert not Twin().walks
    assert Twin().walk_length == 0
    assert Twin(trials=3).tables == 1


# Plans


@some
@given(algorithms(Twin), epsilons)
def test_a_pair_of_trees_costs_its_share(wanted: Twin, epsilon: Fraction) -> None:
    prices = {step.key: step.price for step in wanted.plan(epsilon).steps}
    first, others = epsilon * wanted.scout, wanted.trials - bool(wanted.scout)
    for trial in range(1, wanted.trials + 1):
        is_scout = trial == 1 and wanted.scout > 0
        share = first if is_scout else (epsilon - first) / others
        # The pair after a scout begins with its splits, if it is to be deeper.
        deepens = trial == 2 and wanted.scout > 0 and wanted.depth > 1
        levels = [1] if is_scout else range(1 + deepens, wanted.depth + 1)
        for level in levels:
            key = StepKey(StepKind.TWIN_TREES, trial, level=level)
            assert prices.pop(key) == share * wanted.tree_share / len(levels)
        table = [key for key in prices if key.trial == trial]
        assert {(key.kind, key.number) for key in table} == {(StepKind.LEAF_TABLE, 1)}
        assert total(prices.pop(key) for key in table) == share * (1 - wanted.tree_share)
    assert not prices


def test_steps_stand_in_the_order_in_which_they_are_taken() -> None:
    steps = Twin(depth=3, trials=2, counts=Counts.TWO_PASS).plan(Fraction(1)).steps
    assert [(step.name, step.mechanism) for step in steps] == [
        (f"trial {trial}, {name}", mechanism)
        for trial in (1, 2)
        for name, mechanism in (
            *((f"twin trees, level {level}", "choose") for level in (1, 2, 3)),
            ("leaf table 1, cells", "count"),
            ("leaf table 1, left margin", "count"),
        )
    ]


def test_progress_has_as_many_stages_as_there_are_pairs_and_tables() -> None:
    assert Twin(trials=3, depth=4).stages == 6
    assert Twin(trials=3, depth=4, scout=Fraction(1, 5)).stages == 4


# Runs


@few
@given(st.data(), schemas(), st.integers(0, 70), algorithms(Twin, depth=4, trials=3))
def test_every_step_is_paid_for_once_and_in_order(
    data: st.DataObject, schema: Schema, rows: int, wanted: Algorithm
) -> None:
    table = data.draw(tables(schema, rows))
    found = run_trials(table, schema, wanted, Fraction(3), SeededRandomness(rows))
    assert found.purse.paid == [step.key for step in wanted.plan(Fraction(3)).steps]
    found.purse.close()
    assert len(found.tables) == wanted.trials
    scouted = isinstance(wanted, Twin) and wanted.scout > 0
    assert found.stages == wanted.stages == 2 * (wanted.trials - scouted)


def mirrored(rows: int = 200) -> tuple[Schema, Table]:
    """Three independent attributes on the left; on the right the same three, from last to first.

    The first on the left is the clearest, the last is true of fewest.
    """
    chances = np.array([[0.5], [0.3], [0.15]])
    columns = (np.random.default_rng(3).random((3, rows)) < chances).astype(np.int64)
    schema = boolean_schema(3, 3)
    return schema, boolean_table(schema, columns, columns[::-1])


@pytest.mark.parametrize("root", RootScore)
def test_each_pair_begins_with_what_the_earlier_ones_left(root: RootScore) -> None:
    schema, table = mirrored()
    wanted = Twin(depth=1, trials=3, root_score=root)
    found = run_trials(table, schema, wanted, CERTAIN, SeededRandomness(1)).tables
    assert [one.value.left.splits for one in found] == [(0,), (1,), (2,)]
    assert [one.value.right.splits for one in found] == [(2,), (1,), (0,)]


def test_when_all_attributes_were_begun_with_any_will_do() -> None:
    schema, table = mirrored()
    wanted = Twin(depth=1, trials=5)
    found = run_trials(table, schema, wanted, CERTAIN, SeededRandomness(1)).tables
    assert [one.value.left.splits for one in found[3:]] == [(0,), (0,)]
    assert [one.value.right.splits for one in found[3:]] == [(2,), (2,)]


def test_below_the_root_attributes_may_come_again_but_not_matched_as_before() -> None:
    schema, table = mirrored(2000)
    wanted = Twin(depth=2, trials=2)
    found = run_trials(table, schema, wanted, CERTAIN, SeededRandomness(1)).tables
    # Left 0, 1 and 2 match right 2, 1 and 0. The second pair has no more use for the first's match.
    assert [one.value.left.splits for one in found] == [(0, 1, 1), (1, 2, 2)]
    assert [one.value.right.splits for one in found] == [(2, 1, 1), (1, 0, 0)]


@pytest.mark.parametrize(
    ("counts", "parts"),
    [
        (Counts.CELLS, {"cells": Fraction(1)}),
        (Counts.TWO_PASS, {"cells": Fraction(1, 2), "left margin": Fraction(1, 2)}),
        (
            Counts.LEAST_SQUARES,
            {
                "cells": Fraction(1, 2),
                "left margin": Fraction(1, 4),
                "right margin": Fraction(1, 4),
            },
        ),
    ],
)
def test_a_table_carries_the_prices_and_receipts_that_paid_for_it(
    counts: Counts, parts: dict[str, Fraction]
) -> None:
    schema, table = mirrored()
    wanted = Twin(depth=2, trials=2, counts=counts, tree_share=Fraction(1, 4))
    found = run_trials(table, schema, wanted, Fraction(4), SeededRandomness(4)).tables
    for number, one in enumerate(found, start=1):
        shares = [parts.get(part) for part in ("cells", "left margin", "right margin")]
        assert list(one.value.prices) == [None if s is None else s * Fraction(3, 2) for s in shares]
        assert {(str(receipt.step), receipt.price) for receipt in one.receipts} == {
            (f"trial {number}, twin trees, level 1", Fraction(1, 4)),
            (f"trial {number}, twin trees, level 2", Fraction(1, 4)),
            *(
                (f"trial {number}, leaf table 1, {part}", share * Fraction(3, 2))
                for part, share in parts.items()
            ),
        }


def test_a_seed_settles_all_pairs() -> None:
    schema, table = mirrored()
    wanted = Twin(depth=2, trials=3)

    def released(seed: int) -> list[Any]:
        found = run_trials(table, schema, wanted, Fraction(1), SeededRandomness(seed)).tables
        return [(one.value.left, one.value.right, one.value.cells.tolist()) for one in found]

    assert released(1) == released(1)
    assert released(1) != released(2)


# Scouts

SCOUT = Fraction(1, 5)


def scouting(wanted: Twin) -> list[tuple[tuple[int | None, ...], tuple[int | None, ...]]]:
    schema, table = mirrored(2000)
    found = run_trials(table, schema, wanted, CERTAIN, SeededRandomness(1)).tables
    return [(one.value.left.splits, one.value.right.splits) for one in found]


@pytest.mark.parametrize("depth", [2, 3])
def test_deeper_pairs_begin_with_the_scout_s_splits_and_others_avoid_them(depth: int) -> None:
    scout, deep, other = scouting(Twin(depth=depth, trials=3, scout=SCOUT))
    assert scout == ((0,), (2,))
    assert [tree[0] for tree in deep] == [0, 2]
    assert len(deep[0]) > 1
    assert [tree[0] for tree in other] == [1, 1]


def test_stumps_avoid_the_scout_s_attributes_unless_it_is_to_be_chosen_again() -> None:
    once = scouting(Twin(depth=1, trials=3, scout=SCOUT))
    assert once == [((0,), (2,)), ((1,), (1,)), ((2,), (0,))]
    again = scouting(Twin(depth=1, trials=2, scout=SCOUT, again=True))
    assert again == [((0,), (2,)), ((0,), (2,))]


def test_a_deepened_pair_has_the_scout_s_receipt_too() -> None:
    schema, table = mirrored()
    wanted = Twin(depth=2, trials=3, scout=SCOUT)
    found = run_trials(table, schema, wanted, Fraction(4), SeededRandomness(4)).tables
    names = [{str(receipt.step) for receipt in one.receipts} for one in found]
    assert names[0] == {"trial 1, twin trees, level 1", "trial 1, leaf table 1, cells"}
    assert names[1] == {
        "trial 1, twin trees, level 1",
        "trial 2, twin trees, level 2",
        "trial 2, leaf table 1, cells",
    }
    assert "trial 3, twin trees, level 1" in names[2]


def stumps(cells: list[list[int]], price: Fraction, *, missing: bool = False) -> LeafTable:
    stuck = (0,) if missing else ()
    left, right = (Tree(side, (0,), stuck) for side in Side)
    return LeafTable(left, right, np.array(cells), None, None, Prices(price))


@pytest.mark.parametrize(
    ("cells", "leverage"),
    [
        ([[300, 0], [0, 700]], 210),
        ([[0, 300], [700, 0]], 210),
        ([[120, 180], [280, 420]], 0),
        ([[200, 100], [100, 600]], 110),
        # 200 − 300 · 300 / 1000; nobody knows the sides of the rest.
        ([[200, 50, 50], [50, 500, 0], [50, 0, 100]], 110),
    ],
)
def test_views_are_related_as_strongly_as_the_scout_s_splits(
    cells: list[list[int]], leverage: int
) -> None:
    price = Fraction(1, 7)
    luck = CAUTION * noise_variance(price) ** 0.5
    found = related(stumps(cells, price, missing=len(cells) == 3))
    assert found == pytest.approx((leverage - luck) / 1000)
