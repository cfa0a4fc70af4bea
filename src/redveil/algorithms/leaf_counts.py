"""Counting a leaf table: what is measured of a pair of released trees, and at which price.

Proof: leaf_counts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from redveil.counting.prepared import PreparedData
from redveil.findings.leaf_table import Counted, LeafTable, Prices
from redveil.losses.loss import Price, divide
from redveil.losses.plan import Step, StepKey, StepKind
from redveil.privacy.mechanisms import count
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released, combine, within
from redveil.trees.tree import Tree

Grown: TypeAlias = Released[Tree]
# A tree that is public, because a person gave its splits.
Given: TypeAlias = Tree

CELLS, LEFT_MARGIN, RIGHT_MARGIN = "cells", "left margin", "right margin"


class Counts(StrEnum):
    """What is measured of a leaf table: its cells, and perhaps its margins.

    Cells alone give supports and overlaps their smallest errors up to depth 4 (decision 0010).
    Least squares fits measured margins in; two passes are the paper's cells and left margin.

    >>> Counts.CELLS.shares
    {'cells': 1}
    """

    CELLS = "cells"
    LEAST_SQUARES = "least-squares"
    TWO_PASS = "two-pass"

    @property
    def shares(self) -> dict[str, int]:
        """The parts that are measured, and in which proportion they are paid for."""
        if self is Counts.CELLS:
            return {CELLS: 1}
        if self is Counts.TWO_PASS:
            return {CELLS: 1, LEFT_MARGIN: 1}
        return {CELLS: 2, LEFT_MARGIN: 1, RIGHT_MARGIN: 1}


def table_steps(counts: Counts, trial: int, number: int, price: Price) -> Iterator[Step]:
    """Yield the steps that measure one leaf table of a trial, the first being number 1.

    >>> from fractions import Fraction
    >>> [step.name for step in table_steps(Counts.TWO_PASS, 1, 2, Fraction(1))]
    ['trial 1, leaf table 2, cells', 'trial 1, leaf table 2, left margin']
    """
    shares = counts.shares
    for part, share in zip(shares, divide(price, list(shares.values())), strict=True):
        yield Step(_key(trial, number, part), "count", share)


def count_leaves(
    data: PreparedData,
    grown: Mapping[Side, Grown | Given],
    counts: Counts,
    trial: int,
    number: int,
    purse: Purse,
    randomness: Randomness,
) -> Released[LeafTable]:
    """Measure the leaf table of a pair of trees, as `table_steps` planned."""
    left, right = grown[Side.LEFT], grown[Side.RIGHT]
    left_tree, right_tree = _tree(left), _tree(right)
    true_counts = data.ends(left_tree, right_tree)
    parts = {
        CELLS: within(lambda table: table.ravel(), true_counts),
        LEFT_MARGIN: within(lambda table: table.sum(axis=1), true_counts),
        RIGHT_MARGIN: within(lambda table: table.sum(axis=0), true_counts),
    }
    counted = {
        part: count(parts[part], purse.pay(_key(trial, number, part), "count"), randomness)
        for part in counts.shares
    }
    prices = {part: noisy.receipts[0].price for part, noisy in counted.items()}
    shape = len(left_tree.ends), len(right_tree.ends)
    chosen = [tree for tree in (left, right) if isinstance(tree, Released)]

    def assemble(*released: Any) -> LeafTable:
        noisy: Sequence[Counted] = released[len(chosen) :]
        named = dict(zip(counted, noisy, strict=True))
        return LeafTable(
            left_tree,
            right_tree,
            named[CELLS].reshape(shape),
            named.get(LEFT_MARGIN),
            named.get(RIGHT_MARGIN),
            Prices(prices[CELLS], prices.get(LEFT_MARGIN), prices.get(RIGHT_MARGIN)),
        )

    return combine(assemble, *chosen, *counted.values())


def _tree(one: Released[Tree] | Tree) -> Tree:
    return one.value if isinstance(one, Released) else one


def _key(trial: int, number: int, part: str) -> StepKey:
    return StepKey(StepKind.LEAF_TABLE, trial, number, part=part)
