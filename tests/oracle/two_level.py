"""Whole trees of two levels by listing them all: every leaf counted entity by entity.

A tree is (split at the root, split where it holds, split where it does not), None for a leaf.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mpmath import mp

from oracle.purity import purity
from oracle.route import walk
from oracle.splits import informative, splits_of
from oracle.walk import Candidates
from redveil.schema import View

Shape = tuple[int | None, ...]
Law = dict[Shape, Any]  # to numbers of many digits


def leaf_units(members: Sequence[int], target: Sequence[int], grid_bits: int) -> int:
    """Return ⌊2^grid_bits · Σ_c n_c² / n⌋ of one leaf; entities without a class are not in it."""
    classes = [target[entity] for entity in members if target[entity] >= 0]
    share: Fraction = purity([classes.count(c) for c in set(classes)])
    return math.floor(share * (1 << grid_bits))


def below_units(
    view: Candidates,
    target: Sequence[int],
    path: tuple[int, bool],
    split: int | None,
    grid_bits: int,
) -> int:
    """Return what a split, or None for a leaf, adds to the score below a path of one split."""
    root, held = path
    here = [entity for entity in range(len(target)) if view.answer(root, entity) is held]
    if split is None:
        return leaf_units(here, target, grid_bits)
    sides = [[i for i in here if view.answer(split, i) is answer] for answer in (True, False)]
    return sum(leaf_units(side, target, grid_bits) for side in sides)


def all_trees(view: View, depth: int) -> list[Shape]:
    """List the trees of informative splits; a child without one remains a leaf."""

    def offered(path: tuple[tuple[int, bool], ...]) -> list[int | None]:
        found: list[int | None] = [s for s, may in enumerate(informative(view, path)) if may]
        return found or [None]

    roots = [root for root in offered(()) if root is not None]
    if depth == 1:
        return [(root,) for root in roots]
    return [
        (root, *below)
        for root in roots
        for below in itertools.product(offered(((root, True),)), offered(((root, False),)))
    ]


def tree_units(tree: Shape, view: Candidates, target: Sequence[int], grid_bits: int) -> int:
    """Return the score of a tree in units: every leaf is rounded on its own."""

    def end(entity: int) -> int:
        return walk(tree, lambda split: view.answer(split, entity))

    at = [end(entity) for entity in range(len(target))]
    inner = {node for node, split in enumerate(tree) if split is not None}
    return sum(
        leaf_units([i for i, node in enumerate(at) if node == leaf], target, grid_bits)
        for leaf in set(at) - inner
    )


def tree_weight(tree: Shape, view: View) -> Fraction:
    """Return the base measure: the product over splits of 1 / the number of the attribute's."""
    attributes = [one.attribute for one in splits_of(view)]
    shares = [
        Fraction(1, attributes.count(attributes[split])) for split in tree if split is not None
    ]
    return math.prod(shares, start=Fraction(1))


def tree_law(
    view: View,
    values: Candidates,
    target: Sequence[int],
    depth: int,
    rate: Fraction,
    grid_bits: int,
) -> Law:
    """Return the exponential mechanism's law over all trees, to 50 digits."""
    with mp.workdps(50):
        trees = all_trees(view, depth)
        weights = {tree: tree_weight(tree, view) for tree in trees}
        units = {tree: tree_units(tree, values, target, grid_bits) for tree in trees}
        return normalised(weights, units, rate)


def normalised(weights: dict[Shape, Fraction], units: dict[Shape, int], rate: Fraction) -> Law:
    """Return P ∝ weight · exp(rate · units), in the current precision of mpmath."""
    step, best = mp.mpf(rate.numerator) / rate.denominator, max(units.values())
    mass = {
        tree: weight.numerator * mp.exp(step * (units[tree] - best)) / weight.denominator
        for tree, weight in weights.items()
    }
    total = mp.fsum(mass.values())
    return {tree: one / total for tree, one in mass.items()}
