"""What a confirmation measures: every entity once in every table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from oracle.entities import Entities, Entity
from redveil.algorithms.confirm import Confirm
from redveil.algorithms.derived import with_derived
from redveil.algorithms.run import run
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable
from redveil.losses.loss import Price
from redveil.query.text import parse_text
from redveil.schema import Side
from redveil.trees.tree import Tree
from support.enumeration import Guide, dataset_of
from support.toys import WIDE, entities_of, kinds_of

QUERIES = {
    Side.LEFT: [parse_text("[flag] | [kind = x]"), parse_text("![flag]")],
    Side.RIGHT: [parse_text("[mark] & [spot]"), parse_text("![spot]")],
}
PAIRS = (
    (Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (1,))),
    (Tree(Side.LEFT, (0, 1)), Tree(Side.RIGHT, (0, None, 1))),
)
HOW = Confirm.measuring(PAIRS)


def measured(members: tuple[Entity, ...]) -> tuple[tuple[LeafTable, ...], list[tuple[Price, int]]]:
    """Return the tables without noise, and the noise that was asked for."""
    dataset = with_derived(
        dataset_of(Entities(WIDE, members)), QUERIES, keep=False, unknown_is_false=True
    )
    guide = Guide(())
    ran = run(dataset, HOW, Fraction(3), lambda _: guide, workers=1)
    return ran.tables, guide.noises


@pytest.mark.parametrize("newcomer", kinds_of(WIDE))
def test_one_entity_more_is_one_more_in_one_cell_of_every_table(newcomer: Entity) -> None:
    members = entities_of(WIDE, 12, seed=4).members
    before, _ = measured(members)
    after, noises = measured((*members, newcomer))
    for one, two in zip(before, after, strict=True):
        change = np.asarray(two.cells) - np.asarray(one.cells)
        assert sorted(change.ravel().tolist(), reverse=True)[:2] == [1, 0]
        assert change.sum() == 1
        assert np.sum(two.cells) == len(members) + 1
    # Nothing is paid for but the counts, and each table has its share.
    assert noises == [(Fraction(3, 2), table.cells.size) for table in after]


def test_nothing_is_nothing_to_confirm() -> None:
    with pytest.raises(InputError, match="nothing to confirm"):
        Confirm.measuring(())


def test_the_tables_share_the_price() -> None:
    assert [step.price for step in HOW.plan(Fraction(1)).steps] == [Fraction(1, 2)] * 2
    assert {step.mechanism for step in HOW.plan(Fraction(1)).steps} == {"count"}
