"""Leaf tables read back from a result file, ready for free questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from redveil.errors import QueryError, ResultError
from redveil.findings.leaf_table import Counted, LeafTable, Prices
from redveil.findings.released_table import ReleasedTable, SplitCounts
from redveil.losses.loss import LARGEST_EPSILON, Price, Rho
from redveil.query.coverage import ReleasedTree, check_literal
from redveil.query.formula import Query, literals
from redveil.query.json_form import from_json
from redveil.report.document import (
    AttributePart,
    IntervalPart,
    RedescriptionPart,
    ResultDocument,
    SourcePart,
    TreePairPart,
    TreePart,
    must_be_listed,
)
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree

# To check a file takes no statistics.
if TYPE_CHECKING:
    from redveil.findings.redescription import Redescription
    from redveil.findings.statistics import Interval, SignificanceTest

Currency = Callable[[Fraction], Price]

# The algorithms that begin with given queries.
DESCRIBE: Final = "describe"
REFINE: Final = "refine"
# Heap numbers grow as 2^depth; no tree that fits a table is deeper.
MOST_NODES = 2**16
# No count is as large and no price as small, whatever the parameters. Beyond, doubles overflow.
LARGEST_COUNT: Final = 1e100
SMALLEST_PRICE: Final = Fraction(1, 10**100)


def must_be_consistent(document: ResultDocument) -> None:
    """Refuse a document whose parts do not fit together, so that nothing fails on them later."""
    released_tables(document)
    _must_have_sources(document)


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


def significance_test(document: ResultDocument) -> SignificanceTest:
    """Return the test whose p-values a result has: the published profile uses the paper's."""
    from redveil.findings.statistics import SignificanceTest

    published = document.certificate.profile == "published"
    return SignificanceTest.BINOMIAL if published else SignificanceTest.FISHER


def released_splits(document: ResultDocument) -> SplitCounts:
    """Return how many splits each view had to choose from.

    A query that a person gave to describe is the only one of its view; one that was refined is one
    more.
    """
    counts, alone = _declared_splits(document), document.certificate.algorithm == DESCRIBE
    for side in _given(document):
        counts[side] = 1 if alone else counts[side] + 1
    return counts


def earlier_choices(document: ResultDocument) -> float:
    """Return log10 of how many pairs the roots were chosen from, if an earlier search chose them.

    That of other entities, or a person's choice, does not count.
    """
    if document.certificate.algorithm != REFINE:
        return 0.0
    from redveil.findings.discovery import given_choices

    return given_choices(_given(document), _declared_splits(document))


def _declared_splits(document: ResultDocument) -> dict[Side, int]:
    declared = document.attributes
    return {
        Side.LEFT: sum(one.splits for one in declared.left),
        Side.RIGHT: sum(one.splits for one in declared.right),
    }


def _given(document: ResultDocument) -> dict[Side, Query]:
    """Return the queries with which trees begin, by side."""
    given = document.certificate.given
    if given is None:
        return {}
    sides = (Side.LEFT, given.left), (Side.RIGHT, given.right)
    return {side: from_json(query.tree) for side, query in sides if query is not None}


def released_list(document: ResultDocument) -> list[Redescription]:
    """Return the redescriptions of a result file, as they were inferred."""
    must_be_listed(document)
    _must_have_sources(document)
    return [_redescription(one) for one in document.redescriptions]


def _must_have_sources(document: ResultDocument) -> None:
    """Refuse a redescription that was not read from the tables."""
    sources = {
        "redescriptions": [one.source for one in document.redescriptions],
        "pending": [one.source for one in document.pending],
    }
    for part, list_of in sources.items():
        for number, source in enumerate(list_of):
            if not _has_source(document, source):
                raise ResultError(
                    f"{part}.{number}: its source is not in tree_pairs; the file is damaged"
                )


def _has_source(document: ResultDocument, source: SourcePart) -> bool:
    """Return whether the ends that a redescription covers are there."""
    if not 0 <= source.tree_pair < len(document.tree_pairs):
        return False
    pair = document.tree_pairs[source.tree_pair]
    sides = (source.left_ends, pair.left.ends), (source.right_ends, pair.right.ends)
    return all(0 <= end < len(ends) for covered, ends in sides for end in covered)


def _redescription(one: RedescriptionPart) -> Redescription:
    from redveil.findings.redescription import Redescription
    from redveil.findings.statistics import Statistics

    support = one.support
    return Redescription(
        left=from_json(one.left.tree),
        right=from_json(one.right.tree),
        statistics=Statistics(
            jaccard=_interval(one.jaccard),
            expected_jaccard=one.expected_jaccard,
            corrected=_interval(one.corrected),
            support_left=_interval(support.left),
            support_right=_interval(support.right),
            support_both=_interval(support.both),
            p_value=one.p_value,
            p_value_confirming=one.p_value_confirming,
            p_value_estimate=one.p_value_estimate,
        ),
        table=one.source.tree_pair,
        left_ends=one.source.left_ends,
        right_ends=one.source.right_ends,
        confirmed=one.confirmed,
        detail=one.detail,
    )


def _interval(part: IntervalPart) -> Interval:
    from redveil.findings.statistics import Interval

    return Interval(part.estimate, part.low, part.high)


def _attribute(part: AttributePart) -> Attribute:
    kind = Kind(part.kind)
    if kind is not Kind.NUMERIC:
        return Attribute(part.name, kind, part.required, part.categories)
    if part.minimum is None or part.maximum is None:
        raise ResultError(f"attributes: {part.name} has no bounds; the file is damaged")
    # The other way round also for NaN, which is neither smaller nor larger.
    if not part.minimum <= part.maximum:
        raise ResultError(f"attributes: {part.name} has no values; the file is damaged")
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
            Prices(_price(part.cells_price, currency), left_price, right_price),
        )
        _counted(part.fitted, (height, width))
    except (QueryError, ValueError) as error:
        raise ResultError(f"tree_pairs.{number}: {error}; the file is damaged") from None
    return ReleasedTable(counts, *trees)


def _margin(
    counts: Sequence[object] | None, price: str | None, ends: int, currency: Currency
) -> tuple[Counted, Price] | tuple[None, None]:
    """Return a margin and its price, or nothing if it was not measured."""
    if counts is None or price is None:
        return None, None
    return _counted(counts, (ends,)), _price(price, currency)


def _price(text: str, currency: Currency) -> Price:
    """Return what a part of a table cost, or refuse what no run can have paid."""
    amount = Fraction(text)
    if not SMALLEST_PRICE <= amount <= LARGEST_EPSILON:
        raise ValueError("a price is out of range")
    return currency(amount)


def _counted(numbers: Sequence[object], shape: tuple[int, ...]) -> Counted:
    try:
        counted = np.array(numbers, dtype=np.float64)
    except OverflowError:
        raise ValueError("a count is out of range") from None
    if counted.shape != shape or not np.isfinite(counted).all():
        raise ValueError("the table does not fit its trees")
    if (np.abs(counted) > LARGEST_COUNT).any():
        raise ValueError("a count is out of range")
    return counted


def _tree(part: TreePart, attributes: Mapping[str, Attribute], side: Side) -> ReleasedTree:
    """Return a tree whose splits are numbered by their nodes."""
    if len(part.splits) > MOST_NODES:
        raise ValueError("the tree is too deep")
    splits = [None if one is None else from_json(one) for one in part.splits]
    if not splits or splits[0] is None:
        raise ValueError("a tree has no split")
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
    if len(part.ends) != len(tree.ends):
        raise ValueError("the ends are not those of the tree")
    return ReleasedTree(tree, tuple(splits), attributes, part.unknown_is_false)


def _check(split: Query, attributes: Mapping[str, Attribute]) -> None:
    """Refuse a split that the attributes do not allow."""
    for literal in literals(split):
        check_literal(literal, attributes)
