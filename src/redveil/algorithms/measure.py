"""Measuring a leaf table: the counts of a pair of released trees, each part for its own price."""

from __future__ import annotations

from redveil.algorithms.parameters import Parameters
from redveil.algorithms.schedule import table_shares, table_step
from redveil.findings.leaf_table import Counted, LeafTable
from redveil.privacy.mechanisms import count
from redveil.privacy.plan import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released, Sealed, combine, within
from redveil.trees.counting import Positions, cross_tabulate
from redveil.trees.tree import Tree

Grown = tuple[Released[Tree], Sealed[Positions]]


def measure(
    grown: dict[Side, Grown],
    trial: int,
    pair: int,
    parameters: Parameters,
    purse: Purse,
    randomness: Randomness,
) -> Released[LeafTable]:
    """Count the cells of a pair of trees and the margins that the plan has paid for."""
    (left, at_left), (right, at_right) = grown[Side.LEFT], grown[Side.RIGHT]
    exact = within(lambda a, b: cross_tabulate(left.value, right.value, a, b), at_left, at_right)
    wanted = {
        "cells": within(lambda table: table.ravel(), exact),
        "left margin": within(lambda table: table.sum(axis=1), exact),
        "right margin": within(lambda table: table.sum(axis=0), exact),
    }
    counts = {
        part: count(wanted[part], purse.pay(table_step(trial, pair, part), "count"), randomness)
        for part in table_shares(parameters)
    }
    prices = {part: counted.receipts[0].price for part, counted in counts.items()}
    shape = len(left.value.ends), len(right.value.ends)

    def assemble(left_tree: Tree, right_tree: Tree, *parts: Counted) -> LeafTable:
        named = dict(zip(counts, parts, strict=True))
        return LeafTable.of(left_tree, right_tree, shape, named, prices)

    return combine(assemble, left, right, *counts.values())
