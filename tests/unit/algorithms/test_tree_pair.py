"""Tree pairs: parameters, plans, what a walk predicts, and that every step is paid once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.alternation import AltMCMC, Sampler
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.errors import InputError
from redveil.findings.leaf_table import Prices
from redveil.losses.loss import total
from redveil.losses.plan import StepKey, StepKind
from redveil.schema import Schema
from strategies.algorithms import algorithms
from strategies.schemas import schemas, tables
from support.booleans import boolean_schema, boolean_table
from support.paying import run_trials
from support.seeded import SeededRandomness

few = settings(max_examples=15, deadline=None)
some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)

# Parameters


def test_walks_have_both_ends() -> None:
    for number in (1, 10_000_000):
        assert TreePair(walk_steps=number).walk_length == number
    for number in (0, 10_000_001, -5):
        for make in (TreePair, TreePair.of):
            with pytest.raises(InputError, match=r"^walk_steps must lie between 1 and 10000000$"):
                make(walk_steps=number)


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2)])
def test_trees_and_counts_both_get_a_share(share: Fraction) -> None:
    for make in (TreePair, TreePair.of):
        with pytest.raises(InputError, match="tree_share must lie between 0 and 1, both excluded"):
            make(tree_share=share)


def test_walks_are_not_tuned() -> None:
    assert TreePair.of() == TreePair()
    assert TreePair.of().auto == ()
    assert TreePair().tuned(None, 10**6, Fraction(1)) == TreePair()


def test_the_guarantee_is_that_of_a_walk_as_long_as_this_one() -> None:
    method = TreePair(walk_steps=321).method({})
    assert method.guarantee == "asymptotic"
    assert method.conditions == (
        "the Markov chains have converged after 321 steps; no bound is claimed",
    )
    walk = AltMCMC(walk_steps=77, sampler=Sampler.WALK).method({})
    assert "after 77 steps" in walk.conditions[0]


# Plans


@some
@given(algorithms(TreePair), epsilons)
def test_a_pair_of_trees_costs_its_share(wanted: TreePair, epsilon: Fraction) -> None:
    prices = {step.key: step.price for step in wanted.plan(epsilon).steps}
    share = epsilon / wanted.trials
    for trial in range(1, wanted.trials + 1):
        assert prices.pop(StepKey(StepKind.TREE_PAIR, trial)) == share * wanted.tree_share
        table = [key for key in prices if key.trial == trial]
        assert {(key.kind, key.number) for key in table} == {(StepKind.LEAF_TABLE, 1)}
        assert total(prices.pop(key) for key in table) == share * (1 - wanted.tree_share)
    assert not prices


def test_steps_stand_in_the_order_in_which_they_are_taken() -> None:
    steps = TreePair(trials=2).plan(Fraction(1)).steps
    assert [(step.name, step.mechanism) for step in steps] == [
        ("trial 1, tree pair", "walk"),
        ("trial 1, leaf table 1, cells", "count"),
        ("trial 2, tree pair", "walk"),
        ("trial 2, leaf table 1, cells", "count"),
    ]


def test_progress_has_as_many_stages_as_there_are_pairs_and_tables() -> None:
    assert TreePair(trials=3, depth=5).stages == 6


# Runs


@few
@given(st.data(), schemas(), st.integers(0, 70), algorithms(TreePair, depth=3, trials=2))
def test_every_step_is_paid_for_once_and_in_order(
    data: st.DataObject, schema: Schema, rows: int, wanted: TreePair
) -> None:
    table = data.draw(tables(schema, rows))
    found = run_trials(table, schema, wanted, Fraction(3), SeededRandomness(rows))
    assert found.purse.paid == [step.key for step in wanted.plan(Fraction(3)).steps]
    found.purse.close()
    assert len(found.tables) == wanted.trials
    assert found.stages == wanted.stages == 2 * wanted.trials


@pytest.mark.parametrize("score", PairScore)
def test_a_table_carries_the_prices_and_receipts_that_paid_for_it(score: PairScore) -> None:
    columns = np.random.default_rng(3).integers(0, 2, (3, 100))
    schema = boolean_schema(3, 3)
    wanted = TreePair(
        depth=1,
        trials=2,
        walk_steps=20,
        pair_score=score,
        counts=Counts.TWO_PASS,
        tree_share=Fraction(1, 4),
    )
    table = boolean_table(schema, columns, columns[::-1])
    found = run_trials(table, schema, wanted, Fraction(4), SeededRandomness(4)).tables
    for trial, one in enumerate(found, start=1):
        assert one.value.prices == Prices(Fraction(3, 4), Fraction(3, 4))
        assert {(str(r.step), r.mechanism, r.price) for r in one.receipts} == {
            (f"trial {trial}, tree pair", "walk", Fraction(1, 2)),
            (f"trial {trial}, leaf table 1, cells", "count", Fraction(3, 4)),
            (f"trial {trial}, leaf table 1, left margin", "count", Fraction(3, 4)),
        }


def test_a_walk_finds_trees_that_go_together() -> None:
    # Left 2 and right 0 are one; all others are coins.
    generator = np.random.default_rng(11)
    left, right = generator.integers(0, 2, (2, 4, 300))
    right[0] = left[2]
    schema = boolean_schema(4, 4)
    table = boolean_table(schema, left, right)
    wanted = TreePair(depth=1, walk_steps=2000)
    for seed in range(5):
        (one,) = run_trials(table, schema, wanted, Fraction(1), SeededRandomness(seed)).tables
        assert one.value.left.splits == (2,)
        assert one.value.right.splits == (0,)
