"""The false-discovery bound."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from redveil.findings.discovery import (
    Discovery,
    false_discoveries,
    given_choices,
    is_confirmed,
    joints,
    with_confirmation,
)
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import Interval, Statistics
from redveil.query.formula import And, Known, Literal, Not, Or, Query
from redveil.schema import Side
from redveil.trees.tree import Tree

LEFT, RIGHT = 40, 300
SPLITS = {Side.LEFT: LEFT, Side.RIGHT: RIGHT}
GOUT, HEPATITIS = (Literal(name, "=", value=True) for name in ("gout", "hepatitis"))
# So long that trees of its shape are fewer.
MANY = And(tuple(Literal(f"a{i}", "=", value=True) for i in range(9)))
ANY = Interval(1.0, 0.0, 2.0)


def stumps(depth: int = 1) -> LeafTable:
    inner, cells = (0,) * (2**depth - 1), np.zeros((2**depth, 2**depth))
    trees = Tree(Side.LEFT, inner), Tree(Side.RIGHT, inner)
    return LeafTable(*trees, cells, None, None, Prices(Fraction(1)))


def one(p_value: float, left: Query = GOUT, table: int = 0) -> Redescription:
    right = Literal("uric acid", ">", 7.0)
    # Only the p-value that holds at 99 % confirms.
    statistics = Statistics(ANY, 0.1, ANY, ANY, ANY, ANY, p_value / 1e9, p_value, 0.0)
    return Redescription(left, right, statistics, table, (0,), (0,))


def bounded(*found: Redescription, tables: Sequence[LeafTable]) -> Discovery | None:
    """Mark what is confirmed, and bound false discoveries."""
    return false_discoveries(with_confirmation(found, tables, SPLITS), tables, SPLITS)


def test_nothing_reported_nothing_false() -> None:
    assert bounded(tables=[stumps()]) is None


def test_the_pairs_comparable_with_a_pair_of_stumps_are_counted() -> None:
    """A stump has one split and four unions of its leaves; two ways of counting share the error."""
    found = bounded(one(1e-300), tables=[stumps()])
    assert found is not None
    assert 10**found.comparable == pytest.approx(2 * LEFT * 4 * RIGHT * 4)
    assert found.confirmed == 1
    assert found.bound == pytest.approx(0.02)


@pytest.mark.parametrize(("factor", "confirmed"), [(0.99, True), (1.01, False)])
def test_a_p_value_is_confirmed_if_its_product_with_the_comparable_pairs_is_small(
    factor: float,
    confirmed: bool,  # noqa: FBT001
) -> None:
    p_value = factor * 0.01 / (2 * LEFT * 4 * RIGHT * 4)
    found = bounded(one(p_value), tables=[stumps()])
    assert found is not None
    assert found.confirmed == confirmed
    assert found.bound == pytest.approx(0.02 if confirmed else 1.0)


def test_what_is_not_confirmed_counts_as_false() -> None:
    found = bounded(one(1e-300), one(0.0), one(0.005), tables=[stumps()])
    assert found is not None
    assert found.confirmed == 2
    assert found.bound == pytest.approx(1 / 3 + 0.02)


def test_what_is_confirmed_comes_first_and_keeps_its_order() -> None:
    weak, strong, weaker, stronger = one(0.005), one(1e-99), one(0.009), one(0.0)
    marked = with_confirmation([weak, strong, weaker, stronger], [stumps()], SPLITS)
    assert [(r.statistics, r.confirmed) for r in marked] == [
        (strong.statistics, True),
        (stronger.statistics, True),
        (weak.statistics, False),
        (weaker.statistics, False),
    ]
    assert with_confirmation([], [], SPLITS) == ()


def test_short_queries_of_deep_trees_have_fewer_comparable_pairs_than_their_trees_could_yield() -> (
    None
):
    short = bounded(one(0.0), tables=[stumps(4)])
    both = And((GOUT, HEPATITIS))
    longer = bounded(replace(one(0.0), left=both), tables=[stumps(4)])
    assert short is not None
    assert longer is not None
    assert 10**short.comparable == pytest.approx(2 * 4 * LEFT * 4 * RIGHT)
    # Two literals are joined by "and" or "or", negated or not.
    assert longer.comparable - short.comparable == pytest.approx(math.log10(4 * 4 * LEFT))


def test_that_a_value_is_known_counts_as_a_comparison_or_its_complement() -> None:
    known, spelled = And((HEPATITIS, Known("gout"))), And((HEPATITIS, Or((GOUT, Not(GOUT)))))
    counted = [
        false_discoveries([one(0.0, query)], [stumps(4)], SPLITS) for query in (known, spelled)
    ]
    assert counted[0] == counted[1]
    assert counted[0] is not None


@pytest.mark.parametrize("negated", [Not(Known("gout")), Not(And((GOUT, Not(Known("gout")))))])
def test_what_no_comparisons_say_is_counted_by_shape(negated: Query) -> None:
    found = false_discoveries([one(0.0, negated)], [stumps(4)], SPLITS)
    by_shape = false_discoveries([one(0.0, And((MANY,) * 9))], [stumps(4)], SPLITS)
    assert found == by_shape
    assert found is not None
    assert math.isfinite(found.comparable)


def test_every_table_has_shapes_of_its_own() -> None:
    alone = bounded(one(0.0, MANY), tables=[stumps()])
    five = bounded(one(0.0, MANY, table=3), tables=[stumps()] * 5)
    assert alone is not None
    assert five is not None
    assert five.comparable - alone.comparable == pytest.approx(math.log10(5))


def test_lengths_have_nothing_to_do_with_tables() -> None:
    alone = bounded(one(0.0), tables=[stumps(4)])
    five = bounded(one(0.0, table=3), tables=[stumps(4)] * 5)
    assert alone == five


def test_all_ways_to_join_literals_are_counted() -> None:
    """List all queries over different literals in their order, bracket for bracket."""

    def parts(literals: tuple[Literal, ...]) -> Iterator[tuple[Query, ...]]:
        """Cut into two parts or more, and put each part in every way."""
        for places in itertools.chain.from_iterable(
            itertools.combinations(range(1, len(literals)), cuts)
            for cuts in range(1, len(literals))
        ):
            ends = (0, *places, len(literals))
            pieces = [literals[begin:end] for begin, end in itertools.pairwise(ends)]
            yield from itertools.product(*map(queries, pieces))

    def queries(literals: tuple[Literal, ...]) -> list[Query]:
        if len(literals) == 1:
            return list(literals)
        plain = [join(some) for some in parts(literals) for join in (And, Or)]
        return [*plain, *map(Not, plain)]

    for length in range(1, 6):
        listed = queries(tuple(Literal(f"a{i}", "=", value=True) for i in range(length)))
        assert len(set(listed)) == len(listed) == joints(length)


def test_given_roots_were_chosen_from_all_pairs_of_their_length() -> None:
    given: dict[Side, Query] = {Side.LEFT: GOUT, Side.RIGHT: And((GOUT, HEPATITIS))}
    expected = math.log10(4 * LEFT * 4 * (4 * RIGHT) ** 2)
    assert given_choices(given, SPLITS) == pytest.approx(expected)


@pytest.mark.parametrize(("factor", "confirmed"), [(0.99, True), (1.01, False)])
def test_earlier_choices_count_as_comparable_pairs(
    factor: float,
    confirmed: bool,  # noqa: FBT001
) -> None:
    shapes = 2 * LEFT * 4 * RIGHT * 4
    found = one(factor * 0.01 / (shapes * 1000), MANY)
    assert is_confirmed(found, [stumps()], SPLITS, choices=3.0) == confirmed
    known = false_discoveries([found], [stumps()], SPLITS, choices=3.0)
    assert known is not None
    assert 10**known.comparable == pytest.approx(shapes * 1000)


def test_all_words_count_so_that_a_short_pair_needs_no_earlier_choices() -> None:
    known = false_discoveries([one(1.0)], [stumps(2)], SPLITS, choices=30.0)
    assert known is not None
    assert 10**known.comparable == pytest.approx(2 * 4 * LEFT * 4 * RIGHT)


def test_a_given_query_counts_as_one_split_however_long_it_is() -> None:
    table = replace(stumps(), left=Tree(Side.LEFT, (0,), stuck=(0,)))
    for query in (GOUT, MANY):
        known = false_discoveries([one(1.0, query)], [table], {Side.LEFT: 1, Side.RIGHT: RIGHT})
        assert known is not None
        assert 10**known.comparable == pytest.approx(2 * 5 * 4 * RIGHT)
