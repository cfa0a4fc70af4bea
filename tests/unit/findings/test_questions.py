from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from redveil.errors import QueryError
from redveil.findings.binomial import largest_binomial_p
from redveil.findings.critical_values import question_critical_values
from redveil.findings.estimate import estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.leverage import corrected_bounds, largest_log_p
from redveil.findings.questions import Answer, answer
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import (
    Interval,
    SignificanceTest,
    expected_jaccard,
    jaccard_bounds,
)
from redveil.query.coverage import ReleasedTree
from redveil.query.formula import Literal
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree

LEFT = {
    "gout": Attribute("gout", Kind.BOOLEAN, required=True),
    "age": Attribute("age", Kind.NUMERIC, required=True, minimum=0, maximum=110),
    "smoker": Attribute("smoker", Kind.BOOLEAN),
}
RIGHT = {"acid": Attribute("acid", Kind.NUMERIC, minimum=0, maximum=20)}
GOUT, OLD = Literal("gout", "=", value=True), Literal("age", "<=", 50)


def table(left: Literal = GOUT, cut: float = 7.0, price: Fraction = Fraction(1)) -> ReleasedTable:
    """Return one split on either side: two ends on the left, two and a stuck one on the right."""
    trees = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,), stuck=(0,))
    cells = np.array([[20.0, 300.0, 10.0], [600.0, 40.0, 30.0]])
    margins = cells.sum(axis=1) + 2, cells.sum(axis=0) - 1
    counts = LeafTable(*trees, cells, *margins, Prices(price, price, price))
    right = ReleasedTree(trees[1], (Literal("acid", "<=", cut),), RIGHT)
    return ReleasedTable(counts, ReleasedTree(trees[0], (left,), LEFT), right)


def ask(left: str, right: str, *tables: ReleasedTable) -> Answer:
    return answer(parse_text(left), parse_text(right), tables or (table(),))


def test_an_answer_is_what_the_table_says_of_the_ends() -> None:
    answered = ask("[gout]", "[acid > 7]")
    found, only = answered.statistics, table().counts
    best, critical = estimate(only), question_critical_values(only)
    moments = best.moments(np.array([[True, False]]), np.array([[False, True, False]]))
    bounds = jaccard_bounds(moments, critical.intervals)
    assert found.jaccard == Interval(*(float(bound[0]) for bound in bounds))
    for interval, middle, variance in (
        (found.support_both, moments.both, moments.both_both),
        (found.support_left, moments.left, moments.left_left),
        (found.support_right, moments.right, moments.right_right),
    ):
        width = critical.intervals * float(np.sqrt(variance[0]))
        assert interval.estimate == pytest.approx(middle[0])
        assert (interval.low, interval.high) == pytest.approx(
            (middle[0] - width, middle[0] + width)
        )
    corrected = corrected_bounds(moments, critical.leverages)
    assert [found.corrected.estimate, found.corrected.low, found.corrected.high] == pytest.approx(
        [float(bound[0]) for bound in corrected]
    )
    for p_value, value in (
        (found.p_value_estimate, 0.0),
        (found.p_value, critical.leverages),
        (found.p_value_confirming, critical.confirming),
    ):
        assert p_value == float(np.exp(largest_log_p(moments, value)[0]))
    assert found.p_value_estimate < found.p_value < found.p_value_confirming < 1e-20
    expected = expected_jaccard(float(moments.left[0]), float(moments.right[0]), best.size)
    assert found.expected_jaccard == expected
    assert (answered.left, answered.right) == ("[gout]", "[acid > 7]")
    assert (answered.table, answered.cost) == (0, 0)


def test_the_published_profile_answers_with_the_paper_s_p_values() -> None:
    queries = parse_text("[gout]"), parse_text("[acid > 7]")
    paper = answer(*queries, (table(),), SignificanceTest.BINOMIAL).statistics
    best, critical = estimate(table().counts), question_critical_values(table().counts)
    moments = best.moments(np.array([[True, False]]), np.array([[False, True, False]]))
    assert paper.p_value == float(largest_binomial_p(moments, best, critical.counts)[0])
    assert paper.jaccard == ask("[gout]", "[acid > 7]").statistics.jaccard


def test_other_words_for_the_same_ends_give_the_same_numbers() -> None:
    plain = ask("[gout]", "[acid > 7]")
    wordy = ask("![gout] & [age > 3] & ![age > 3] | [gout]", "!([acid <= 7])")
    assert replace(wordy, left=plain.left, right=plain.right) == plain
    assert wordy.right == "![acid <= 7]"


def test_all_entities_with_a_known_value_leave_out_those_that_are_stuck() -> None:
    known = ask("[gout] | ![gout]", "[acid <= 7] | [acid > 7]").statistics
    assert known.support_right.estimate < known.support_left.estimate
    assert known.support_both == known.support_right
    said = ask("[gout is known]", "[acid is known]").statistics
    assert said == known


def test_entities_without_a_value_can_be_asked_about() -> None:
    missing = ask("[gout]", "![acid is known]").statistics
    known = ask("[gout]", "[acid is known]").statistics
    everybody = estimate(table().counts).size
    both = missing.support_right.estimate + known.support_right.estimate
    assert both == pytest.approx(everybody)


def test_queries_that_cover_nothing_can_be_asked() -> None:
    nothing = ask("[gout] & ![gout]", "[acid > 7]").statistics
    assert nothing.support_left == nothing.support_both == Interval(0, 0, 0)
    assert nothing.jaccard == Interval(0, 0, 0)
    assert nothing.expected_jaccard == 0
    assert (nothing.p_value, nothing.p_value_estimate) == (1, 1)


def test_the_table_with_the_narrowest_interval_answers() -> None:
    cheap, dear = table(price=Fraction(1, 10)), table(price=Fraction(2))
    assert [
        ask("[gout]", "[acid > 7]", *each).table for each in ((cheap, dear), (dear, cheap))
    ] == [
        1,
        0,
    ]
    # Equal tables: the first.
    assert ask("[gout]", "[acid > 7]", dear, dear).table == 0


def test_more_tables_mean_wider_intervals() -> None:
    alone = ask("[gout]", "[acid > 7]", table())
    among = ask("[gout]", "[acid > 7]", table(), *(table(OLD, cut=3.0) for _ in range(9)))
    assert among.table == 0
    wide, narrow = among.statistics.jaccard, alone.statistics.jaccard
    assert wide.estimate == narrow.estimate
    assert wide.low < narrow.low
    assert wide.high > narrow.high


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("[gouty]", "[acid > 7]", "left query: no attribute gouty; did you mean gout?"),
        (
            "[gout]",
            "[gout]",
            "right query: gout is an attribute of the left view; the left view's query comes first",
        ),
        (
            "[gout] & [smoker]",
            "[acid > 7]",
            "left query: [smoker] is outside what was released; "
            "no tree asks about smoker, only about gout, age",
        ),
        (
            "[gout]",
            "[acid <= 7.2]",
            "right query: [acid <= 7.2] is outside what was released; acid was only cut at 3, 7",
        ),
        (
            "[gout] & [age <= 50]",
            "[acid > 7]",
            "left query: [gout] & [age <= 50] is outside what was released; "
            "its attributes and cut points were released, but it is not a union of leaves of one "
            "tree; if values can be missing, write the leaves out in full",
        ),
        (
            "![gout] & [age > 50] & [age <= 200] & [age > 55]",
            "[acid > 7]",
            # A number outside the bounds, 0 to 110, is compared as it is.
            "left query: [age <= 200] is outside what was released; age was only cut at 50",
        ),
        (
            "![gout] & [age > 50]",
            "[acid > 7]",
            "left query: ![gout] & [age > 50] is outside what was released; its attributes and cut",
        ),
        (
            "[gout]",
            "[acid > 3]",
            "no table holds both queries: the left one can be asked of table 1, "
            "the right one of table 2; choose both from one table",
        ),
        (
            "[gout] & [smoker is known]",
            "[acid > 7]",
            "left query: [smoker is known] is outside what was released; "
            "no tree asks about smoker, only about gout, age",
        ),
        ("[gout = 3]", "[acid > 7]", "left query: [gout = 3]: gout is Boolean; "),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(
    left: str, right: str, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        ask(left, right, table(), table(OLD, cut=3.0))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_what_was_not_split_at_is_named_in_words() -> None:
    words = {"ward": Attribute("ward", Kind.CATEGORICAL, categories=("east", "west", "north"))}
    tree = Tree(Side.LEFT, (0,), stuck=())
    east = ReleasedTree(tree, (Literal("ward", "=", "east"),), words)
    with pytest.raises(QueryError, match=r"ward was only compared in \[ward = east\]$"):
        ask("[ward = west]", "[acid > 7]", replace(table(), left=east))


def test_a_result_without_tables_has_nothing_to_ask() -> None:
    with pytest.raises(QueryError, match="nothing to ask"):
        answer(parse_text("[gout]"), parse_text("[acid > 7]"), ())
