"""Counts and positions from packed columns: the kernels, called with the arrays of a view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.data.binning import BinnedView
from redveil.kernels.crosstab import crosstab
from redveil.kernels.histogram import histogram_bits, histogram_codes
from redveil.kernels.purity import purity_units
from redveil.kernels.route import AT_MOST, BIT, EQUAL, LEAF, descend
from redveil.schema import Kind
from redveil.trees.scores import GRID_BITS
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

Integers = NDArray[np.int64]
Counts = NDArray[np.unsignedinteger | np.int64]
Positions = NDArray[np.int16]
Classes = NDArray[np.int32]


def start(rows: int) -> Positions:
    """Return the position of every entity before the first split: the root, int16[N]."""
    return np.zeros(rows, dtype=np.int16)


def count_bins(view: BinnedView, splits: Splits, group: Classes, groups: int) -> Counts:
    """Count entities per bin and group over all attributes, unsigned[bins, groups].

    A count is as short as the number of entities allows: where there is a cut between any two
    values, most of these counts are 0, and their memory is most of the work.

    group: int32[N] in 0 … groups; an entity in group `groups` is not counted.
    """
    attributes = splits.view.attributes
    is_bit = np.array([a.kind is Kind.BOOLEAN for a in attributes], dtype=np.bool_)
    # Two or four bytes: one byte would only be one more type to compile kernels for.
    shortest = np.min_scalar_type(max(view.rows, 2**8))
    counts: Counts = np.zeros((int(splits.first_bin[-1]), groups), dtype=shortest)
    first = splits.first_bin[:-1]
    if is_bit.any():
        # A Boolean has two bins, one after the other.
        rows = (first[is_bit][:, None] + (0, 1)).reshape(-1)
        counts[rows] = histogram_bits(view.bits, view.absent, view.absent_row, group, groups)
    if not is_bit.all():
        histogram_codes(view.codes, first[~is_bit], group, counts)
    return counts


def count_at_nodes(
    view: BinnedView,
    splits: Splits,
    positions: Positions,
    nodes: NDArray[np.int64],
    target: Classes,
    classes: int,
) -> Counts:
    """Count entities per bin and class at some nodes, unsigned[bins, nodes · classes].

    target: int32[N], the class of each entity, -1 for none (it is then not counted).
    """
    number = np.full(max(int(positions.max(initial=0)), int(nodes.max())) + 1, -1, dtype=np.int32)
    number[nodes] = np.arange(nodes.size, dtype=np.int32)
    node = number[positions]
    groups = nodes.size * classes
    counted = (node >= 0) & (target >= 0)
    group = np.where(counted, node * classes + target, groups).astype(np.int32)
    return count_bins(view, splits, group, groups)


def score_splits(counts: Counts, splits: Splits, nodes: int, classes: int) -> Integers:
    """Score all splits at some nodes by how pure their sides are, int64[nodes, splits].

    counts: int64 or unsigned[bins, nodes · classes], from `count_at_nodes`.
    """
    return purity_units(
        counts,
        splits.first_bin,
        splits.low,
        splits.high,
        splits.attribute,
        nodes,
        classes,
        GRID_BITS,
    )


def route(
    view: BinnedView, splits: Splits, tree: Tree, begin: int = 0, rows: int | None = None
) -> Positions:
    """Return the node at which each entity ends in a tree, int16[rows].

    begin, rows: the first of the view's entities to look at, and how many; all by default
    """
    positions = start(view.rows if rows is None else rows)
    for level in range(len(tree.splits).bit_length()):
        _descend(view, splits, tree, positions, 2**level - 1, begin)
    return positions


def cross_tabulate(left: Tree, right: Tree, at_left: Positions, at_right: Positions) -> Integers:
    """Count entities per pair of ends, int64[left ends, right ends]."""
    return crosstab(
        at_left,
        at_right,
        _end_numbers(left),
        _end_numbers(right),
        len(left.ends),
        len(right.ends),
    )


def _descend(
    view: BinnedView, splits: Splits, tree: Tree, positions: Positions, first: int, begin: int
) -> None:
    """Call the kernel with the test of every node of a level; changes `positions`."""
    nodes = 2 * len(tree.splits) + 1
    test = np.full(nodes, LEAF, dtype=np.int8)
    row = np.zeros(nodes, dtype=np.int32)
    code = np.zeros(nodes, dtype=np.uint32)
    # Nobody has come farther than the level that begins with `first`.
    for node in (one for one in tree.inner if first <= one <= 2 * first):
        split = tree.splits[node]
        attribute = splits.attribute[split]
        kind = splits.view.attributes[attribute].kind
        test[node] = BIT if kind is Kind.BOOLEAN else AT_MOST if kind.is_ordered else EQUAL
        row[node] = view.row[attribute]
        code[node] = splits.high[split]
    descend(
        positions,
        first,
        test,
        row,
        code,
        begin,
        view.bits,
        view.absent,
        view.absent_row,
        view.codes,
    )


def _end_numbers(tree: Tree) -> NDArray[np.int16]:
    """Return the number of each end among the tree's ends, int16[nodes]."""
    ends = tree.ends
    numbers = np.zeros(max(ends) + 1, dtype=np.int16)
    numbers[list(ends)] = np.arange(len(ends), dtype=np.int16)
    return numbers
