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
from redveil.algorithms.twin import RootScore, Twin, root_score_for
from redveil.data.table import Table
from redveil.errors import InputError
from redveil.privacy.loss import total
from redveil.privacy.plan import StepKey, StepKind
from redveil.schema import Schema
from redveil.trees.twin import BY_AGREEMENT, BY_LEVERAGE
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
    assert untuned.auto == ("depth", "trials", "root_score")
    # Apart from that nothing differs, and what is given is not tuned.
    assert Twin.of(depth=3, root_score="agreement").auto == ("trials",)
    assert Twin.of(depth=2, trials=1, root_score="leverage") == Twin()
    assert Twin.of(counts="two-pass", tree_share="1/3").auto == untuned.auto


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_trees_and_counts_both_get_a_share(share: Fraction) -> None:
    for make in (Twin, Twin.of):
        with pytest.raises(InputError, match="tree_share must lie between 0 and 1, both excluded"):
            make(tree_share=share)


def test_a_root_score_is_a_way_to_match_splits() -> None:
    assert RootScore.LEVERAGE.matching is BY_LEVERAGE
    assert RootScore.AGREEMENT.matching is BY_AGREEMENT
    assert [root_score_for(worth) for worth in (799.9, 800.0)] == [
        RootScore.AGREEMENT,
        RootScore.LEVERAGE,
    ]


def test_twin_trees_need_no_walk() -> None:
    assert not Twin().walks
    assert Twin().walk_length == 0
    assert Twin(trials=3).tables == 1


# Plans


@some
@given(algorithms(Twin), epsilons)
def test_a_pair_of_trees_costs_its_share(wanted: Twin, epsilon: Fraction) -> None:
    prices = {step.key: step.price for step in wanted.plan(epsilon).steps}
    share = epsilon / wanted.trials
    for trial in range(1, wanted.trials + 1):
        for level in range(1, wanted.depth + 1):
            key = StepKey(StepKind.TWIN_TREES, trial, level=level)
            assert prices.pop(key) == share * wanted.tree_share / wanted.depth
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
    assert found.stages == wanted.stages == 2 * wanted.trials


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


def test_below_the_root_attributes_may_come_again() -> None:
    schema, table = mirrored(2000)
    wanted = Twin(depth=2, trials=2)
    found = run_trials(table, schema, wanted, CERTAIN, SeededRandomness(1)).tables
    assert found[1].value.left.splits[0] == 1
    assert set(found[1].value.left.splits[1:]) == {0}


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
