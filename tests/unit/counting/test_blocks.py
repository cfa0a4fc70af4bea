"""Counting block by block: released results do not depend on how the entities are divided."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.algorithm import Algorithm
from redveil.counting import block as block_module
from redveil.counting.block import blocks_of
from redveil.counting.local import LocalCounts
from redveil.counting.prepared import PreparedData, splits_of
from redveil.counting.questions import Ends, Joint, Size
from redveil.data.binning import bin_table
from redveil.errors import PlanError
from redveil.schema import Schema, Side
from redveil.sealed import Sealed, open_for_owner
from redveil.trees.tree import Tree
from strategies.algorithms import algorithms
from strategies.schemas import schemas, tables
from strategies.trees import trees
from support.paying import run_trials
from support.seeded import SeededRandomness
from support.tiny import table_of, tiny_entities

few = settings(max_examples=25, deadline=None)


@few
@given(st.data(), schemas(), st.integers(0, 300), algorithms(depth=3, trials=2, alternations=2))
def test_the_same_stream_releases_the_same_tables(
    data: st.DataObject, schema: Schema, rows: int, wanted: Algorithm
) -> None:
    table = data.draw(tables(schema, rows))
    found = [
        [
            (one.value.left, one.value.right, one.value.cells.tolist())
            for one in run_trials(
                table, schema, wanted, Fraction(3), SeededRandomness(rows), block_entities=size
            ).tables
        ]
        for size in (2**15, 64)
    ]
    assert found[0] == found[1]


@few
@given(st.data(), schemas(), st.integers(0, 200))
def test_parts_hold_every_entity_once(data: st.DataObject, schema: Schema, rows: int) -> None:
    table = bin_table(data.draw(tables(schema, rows)), schema)
    blocks = blocks_of(table, splits_of(schema), {}, 64)
    assert len(blocks) == max(-(-rows // 64), 1)
    for side in Side:
        tree = data.draw(trees(schema.view(side), side))
        whole = blocks_of(table, splits_of(schema), {})[0].positions(tree)
        assert np.concatenate([one.positions(tree) for one in blocks]).tolist() == whole.tolist()


@pytest.mark.parametrize("kept", [0, 2**29])
def test_planes_that_do_not_fit_are_made_again(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_module, "KEPT_PLANE_BYTES", kept)
    left, right = tiny_entities(200, 2, 3, 1), tiny_entities(200, 2, 3, 2)
    splits = {Side.LEFT: left.splits, Side.RIGHT: right.splits}
    block = blocks_of(table_of(left, right), splits, {}, 64)[1]
    first, again = block.planes(Side.LEFT), block.planes(Side.LEFT)
    assert (first is again) is bool(kept)
    assert first.planes.tolist() == again.planes.tolist()


def test_answers_are_sealed() -> None:
    left, right = tiny_entities(100, 2, 3, 1), tiny_entities(100, 2, 3, 2)
    splits = {Side.LEFT: left.splits, Side.RIGHT: right.splits}
    counts = LocalCounts(Sealed(table_of(left, right)), splits, 64)
    roots = Tree(Side.LEFT, ()), Tree(Side.RIGHT, ())
    assert repr(counts.ask(Joint(*roots, ((0, 0),)))) == "<sealed>"
    assert repr(counts.ask(Ends(*roots))) == "<sealed>"
    assert open_for_owner(counts.ask(Size())).tolist() == [100]


def test_entities_elsewhere_cannot_be_walked_on() -> None:
    class Elsewhere:
        def ask(self, question: object) -> Sealed[object]:
            raise NotImplementedError

    left, right = tiny_entities(10, 1, 1, 1), tiny_entities(10, 1, 1, 2)
    schema = Schema("tiny", left.view, right.view)
    data = PreparedData.asking(Elsewhere(), schema, splits_of(schema))  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="walks need the entities on this machine"):
        data.sets(Side.LEFT)


def test_short_counts_of_blocks_add_up_to_long_ones() -> None:
    # Each fits into two bytes, their sum does not.
    many = np.array([[40_000, 1]], dtype=np.uint16)
    total = Size().add(many, many)
    assert total.dtype == np.int64
    assert total.tolist() == [[80_000, 2]]
    assert Size().add(total, many).tolist() == [[120_000, 3]]
