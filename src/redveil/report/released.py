"""Leaf tables read back from a result file, ready for free questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from redveil.errors import QueryError, ResultError
from redveil.findings.leaf_table import Counted, LeafTable, Prices
from redveil.findings.questions import ReleasedTable
from redveil.privacy.loss import Price, Rho
from redveil.query.coverage import ReleasedTree, check_literal
from redveil.query.formula import Query, literals
from redveil.query.json_form import from_json
from redveil.report.document import AttributePart, ResultDocument, TreePairPart, TreePart
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree

Currency = Callable[[Fraction], Price]

# Heap numbers grow as 2^depth; no tree that fits a table is deeper.
MOST_NODES = 2**16


def released_tables(document: ResultDocument) -> tuple[ReleasedTable, ...]:
    """Return the leaf tables of a result file, with their trees.

    >>> from redveil.data.synthetic import wide_dataset
    >>> import redveil
    >>> tables = released_tables(redveil.mine(wide_dataset(100, 2, 2), 1, trials=3).document)
    >>> len(tables) >= 3
    True
    """
    declared = document.attributes
    left = {one.name: _attribute(one) for one in declared.left}
    right = {one.name: _attribute(one) for one in declared.right}
    currency: Currency = Rho if document.certificate.rho else Fraction
    return tuple(
        _table(pair, left, right, number, currency)
        for number, pair in enumerate(document.tree_pairs)
    )


def _attribute(part: AttributePart) -> Attribute:
    kind = Kind(part.kind)
    if kind is not Kind.NUMERIC:
        return Attribute(part.name, kind, part.required, part.categories)
    if part.minimum is None or part.maximum is None:
        raise ResultError(f"attributes: {part.name} has no bounds; the file is damaged")
    return Attribute(part.name, kind, part.required, minimum=part.minimum, maximum=part.maximum)


def _table(
    pair: TreePairPart,
    left: Mapping[str, Attribute],
    right: Mapping[str, Attribute],
    number: int,
    currency: Currency,
) -> ReleasedTable:
    part = pair.leaf_table
    try:
        trees = _tree(pair.left, left, Side.LEFT), _tree(pair.right, right, Side.RIGHT)
        height, width = len(trees[0].tree.ends), len(trees[1].tree.ends)
        of_left, left_price = _margin(part.left_margin, part.left_margin_price, height, currency)
        of_right, right_price = _margin(part.right_margin, part.right_margin_price, width, currency)
        counts = LeafTable(
            trees[0].tree,
            trees[1].tree,
            _counted(part.cells, (height, width)),
            of_left,
            of_right,
            Prices(currency(Fraction(part.cells_price)), left_price, right_price),
        )
    except (QueryError, ValueError) as error:
        raise ResultError(f"tree_pairs.{number}: {error}; the file is damaged") from None
    return ReleasedTable(counts, *trees)


def _margin(
    counts: Sequence[object] | None, price: str | None, ends: int, currency: Currency
) -> tuple[Counted, Price] | tuple[None, None]:
    """Return a margin and its price, or nothing if it was not measured."""
    if counts is None or price is None:
        return None, None
    return _counted(counts, (ends,)), currency(Fraction(price))


def _counted(numbers: Sequence[object], shape: tuple[int, ...]) -> Counted:
    counted = np.array(numbers, dtype=np.float64)
    if counted.shape != shape or not np.isfinite(counted).all():
        raise ValueError("the table does not fit its trees")
    return counted


def _tree(part: TreePart, attributes: Mapping[str, Attribute], side: Side) -> ReleasedTree:
    """Return a tree whose splits are numbered by their nodes."""
    if len(part.splits) > MOST_NODES:
        raise ValueError("the tree is too deep")
    splits = [None if one is None else from_json(one) for one in part.splits]
    for node, split in enumerate(splits):
        if split is not None:
            if node and splits[(node - 1) // 2] is None:
                raise ValueError("a split has no split above it")
            _check(split, attributes)
    inner = tuple(None if split is None else node for node, split in enumerate(splits))
    if any(node not in inner for node in part.stuck_at):
        raise ValueError("a leaf is listed in stuck_at")
    if len(set(part.stuck_at)) != len(part.stuck_at):
        raise ValueError("a place to be stuck at is named twice")
    tree = Tree(side, inner, part.stuck_at)
    return ReleasedTree(tree, tuple(splits), attributes, part.unknown_is_false)


def _check(split: Query, attributes: Mapping[str, Attribute]) -> None:
    """Refuse a split that the attributes do not allow."""
    for literal in literals(split):
        check_literal(literal, attributes)
