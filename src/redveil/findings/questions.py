"""Free questions: what released leaf tables say about any pair of queries.

Whatever is computed from released values alone costs nothing, and may be asked any number of
times. A pair of queries can be answered if, for some table, each is a union of ends of its tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from redveil.base.display import Code, Displayed, Listing
from redveil.errors import QueryError
from redveil.findings.critical_values import (
    is_union,
    question_critical_values,
    weighting_critical_values,
)
from redveil.findings.estimate import estimate
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import SignificanceTest, Statistics, statistics_of
from redveil.findings.wording import interval_text, p_text
from redveil.query.coverage import Flags, ReleasedTree, coverage, determines
from redveil.query.formula import AnyLiteral, Literal, Query, attributes, literals
from redveil.query.text import number_text, parse_text, to_text
from redveil.schema import Side
from redveil.schema.view import plural


@dataclass(frozen=True, slots=True)
class Answer(Displayed):
    """What released tables say about a pair of queries.

    `left` and `right` are the queries as they were understood. The intervals in `statistics` hold
    at 95 % for everything that can be asked of the result, together. `table` is the number of the
    leaf table that the answer comes from, counted from 0 as in the result file, `tables` how many
    there are, and `unit` what one entity is called. The cost is always 0.

    >>> from redveil.findings.statistics import Interval
    >>> half, few = Interval(0.5, 0.4, 0.6), Interval(60, 50, 70)
    >>> statistics = Statistics(half, 0.1, half, few, few, few, 1e-9, 1e-8, 1e-12)
    >>> answer = Answer("[gout]", "[uric acid > 7]", statistics, table=0)
    >>> answer.statistics.jaccard.low, answer.cost
    (0.4, 0)
    >>> answer
    <Answer: Jaccard 0.50 [0.40, 0.60], expected if unrelated 0.10, p at most 1e-09>
    """

    left: str
    right: str
    statistics: Statistics
    table: int
    tables: int = 1
    unit: str = "entity"
    cost: OneOf[0] = 0

    def __repr__(self) -> str:
        known = self.statistics
        expected = f"expected if unrelated {known.expected_jaccard:.2f}"
        p_value = f"p at most {p_text(known.p_value)}"
        return f"<Answer: Jaccard {interval_text(known.jaccard, 2)}, {expected}, {p_value}>"

    def listing(self) -> Listing:
        """Return the answer as a table of facts."""
        known = self.statistics
        lefts, rights = interval_text(known.support_left, 0), interval_text(known.support_right, 0)
        jaccard = interval_text(known.jaccard, 2)
        facts = [
            ("left", Code(self.left)),
            ("right", Code(self.right)),
            ("Jaccard", f"{jaccard} (expected if unrelated {known.expected_jaccard:.2f})"),
            ("corrected", interval_text(known.corrected, 2)),
            (plural(self.unit), f"{interval_text(known.support_both, 0)} in both"),
            ("", f"{lefts} left, {rights} right"),
            ("p at most", p_text(known.p_value)),
            ("source", f"leaf table {self.table + 1} of {self.tables}"),
            ("cost", "nothing: computed from released counts, not from rows"),
        ]
        return Listing((), facts)

    def _shown(self) -> Iterator[Listing]:
        yield self.listing()


def parse_side(text: str, side: Side) -> Query:
    """Read one of the two queries; an error says which one it is in.

    >>> parse_side("[age < 3]", Side.RIGHT)
    Traceback (most recent call last):
    redveil.errors.QueryError: right query, position 6: '<' is not supported; write <= or >
    """
    try:
        return parse_text(text)
    except QueryError as error:
        raise QueryError(f"{side} query, {error}") from None


def answer(
    left: Query,
    right: Query,
    tables: Sequence[ReleasedTable],
    test: SignificanceTest = SignificanceTest.FISHER,
) -> Answer:
    """Answer from the table with the narrowest interval of the Jaccard index.

    A `QueryError` says which query is outside what was released, and which part of it. The
    intervals hold for all tables together, so that choosing among them afterwards is fair.
    """
    return min(answers(left, right, tables, test), key=_width)


def answers(
    left: Query,
    right: Query,
    tables: Sequence[ReleasedTable],
    test: SignificanceTest = SignificanceTest.FISHER,
) -> list[Answer]:
    """Answer from every table that holds both queries; there is at least one."""
    if not tables:
        raise QueryError("this result holds no leaf table, so there is nothing to ask")
    lefts, rights = _covered(left, tables, Side.LEFT), _covered(right, tables, Side.RIGHT)
    found = [
        _read_off(tables, number, (left, right), (lefts[number], rights[number]), test)
        for number in sorted(lefts.keys() & rights.keys())
    ]
    if not found:
        raise QueryError(
            f"no table holds both queries: the left one can be asked of {_tables(lefts)}, the "
            f"right one of {_tables(rights)}; choose both from one table"
        )
    return found


def _tables(numbers: Sequence[int] | dict[int, Flags]) -> str:
    return f"table{'s' if len(numbers) > 1 else ''} {', '.join(str(n + 1) for n in numbers)}"


def _covered(query: Query, tables: Sequence[ReleasedTable], side: Side) -> dict[int, Flags]:
    """Return the ends that a query covers, by the number of every table that can tell."""
    _must_be_known(query, tables[0], side)
    found: dict[int, Flags] = {}
    for number, table in enumerate(tables):
        try:
            one = coverage(query, table.tree(side))
        except QueryError as error:
            raise QueryError(f"{side} query: {error}") from None
        if one.is_released:
            found[number] = one.covered
    if not found:
        raise QueryError(f"{side} query: {_outside(query, [t.tree(side) for t in tables])}")
    return found


def _must_be_known(query: Query, table: ReleasedTable, side: Side) -> None:
    """Refuse an attribute of the other view with a better remedy than a similar name."""
    ours, theirs = table.tree(side).attributes, table.tree(side.other).attributes
    for name in attributes(query):
        if name not in ours and name in theirs:
            raise QueryError(
                f"{side} query: {name} is an attribute of the {side.other} view; "
                "the left view's query comes first"
            )


def _outside(query: Query, trees: Sequence[ReleasedTree]) -> str:
    """Say which part of a query no table can tell, and what can be asked instead."""
    tests = [split for tree in trees for split in tree.splits if split is not None]
    splits = [literal for test in tests for literal in literals(test)]
    for literal in literals(query):
        name = literal.attribute
        related = [split for split in splits if split.attribute == name]
        if determines(related, literal, trees[0].attributes[name]):
            continue
        if related:
            released = f"{name} was only {_tests(related)}"
        else:
            asked = ", ".join(dict.fromkeys(split.attribute for split in splits))
            released = f"no tree asks about {name}, only about {asked}"
        return f"{to_text(literal)} is outside what was released; {released}"
    return (
        f"{to_text(query)} is outside what was released; "
        "its attributes and cut points were released, but it is not a union of leaves of one tree; "
        "if values can be missing, write the leaves out in full"
    )


def _tests(splits: Sequence[AnyLiteral]) -> str:
    """Say where an attribute was split."""
    numbers = {
        one.value for one in splits if isinstance(one, Literal) and isinstance(one.value, float)
    }
    if numbers and all(isinstance(one, Literal) and one.value in numbers for one in splits):
        return f"cut at {', '.join(map(number_text, sorted(numbers)))}"
    return f"compared in {', '.join(dict.fromkeys(map(to_text, splits)))}"


def _read_off(
    tables: Sequence[ReleasedTable],
    number: int,
    queries: tuple[Query, Query],
    covered: tuple[Flags, Flags],
    test: SignificanceTest,
) -> Answer:
    """Answer a pair of queries from one table."""
    counts = tables[number].counts
    plain = is_union(counts.left, covered[0]) and is_union(counts.right, covered[1])
    critical_values = question_critical_values if plain else weighting_critical_values
    best, critical = estimate(counts), critical_values(counts, len(tables))
    moments = best.moments(covered[0][None, :], covered[1][None, :])
    return Answer(
        left=to_text(queries[0]),
        right=to_text(queries[1]),
        statistics=statistics_of(moments, best, critical, test),
        table=number,
        tables=len(tables),
    )


def _width(answer: Answer) -> float:
    jaccard = answer.statistics.jaccard
    return jaccard.high - jaccard.low
