"""What two results have in common. Everything is read off the two files, at no privacy cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np

from redveil.base.display import Block, Code, Displayed, Listing, Note
from redveil.errors import QueryError
from redveil.findings.complement import complement_ends
from redveil.findings.questions import answer
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import Interval, SignificanceTest, Statistics
from redveil.findings.wording import interval_text, p_text
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Query, attributes
from redveil.query.text import to_text
from redveil.report.released import released_list, released_tables, significance_test
from redveil.report.result import Result
from redveil.schema import Side

Ends = tuple[int, ...]

OTHER_SCHEMAS: Final = "The two results have different schemas; their attributes are told by name."
UNKNOWN: Final = "–"
_YES_OR_NO: Final = {True: "yes", False: "no", None: ""}
EXPLAINED: Final = (
    "In parentheses: not in that list, but answered from its tables at no cost. A dash: its tables "
    "cannot tell. Compatible: the intervals overlap, of both indices. Intervals allow for the "
    "noise; between different entities there is chance, too."
)


class Relation(StrEnum):
    """How an entry of one result is related to the other result.

    >>> Relation.SAME.value
    'same queries'
    """

    SAME = "same queries"
    COMPLEMENT = "complement"
    SAME_ATTRIBUTES = "same attributes"
    ONLY_FIRST = "only in the first"
    ONLY_SECOND = "only in the second"


@dataclass(frozen=True, slots=True)
class Said:
    """What one result says about a pair of queries.

    place:  its place in the list, counted from 1; None if the tables were asked
    """

    statistics: Statistics
    place: int | None = None

    @property
    def listed(self) -> bool:
        """Whether the pair is in the list."""
        return self.place is not None


@dataclass(frozen=True, slots=True)
class Compared:
    """A pair of queries, and what the two results say about it.

    first, second: None where the result's tables cannot tell
    counterpart:   the entry of the other list that is its complement, or has the same attributes;
                   its place, counted from 1
    """

    left: str
    right: str
    relation: Relation
    first: Said | None
    second: Said | None
    counterpart: int | None = None

    @property
    def said(self) -> tuple[Said | None, Said | None]:
        """What the first result says, and the second."""
        return self.first, self.second

    @property
    def compatible(self) -> bool | None:
        """Whether the intervals overlap, of both indices; None if one result cannot tell."""
        if self.first is None or self.second is None:
            return None
        one, other = self.first.statistics, self.second.statistics
        return _overlap(one.jaccard, other.jaccard) and _overlap(one.corrected, other.corrected)


@dataclass(frozen=True, slots=True)
class Comparison(Displayed):
    """What two results have in common: one row for each pair of queries in either list.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> result = redveil.mine(redveil.load(*clinic_frames(500), clinic_schema()), epsilon=9)
    >>> compared = redveil.compare(result, result)
    >>> len(compared) == len(result), compared.count(Relation.SAME) == len(result)
    (True, True)
    """

    rows: tuple[Compared, ...]
    promises: tuple[str, str]
    names: tuple[str, str] = ("first", "second")
    same_schema: bool = True

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(one)} {one.value}" for one in Relation if self.count(one))
        return f"<Comparison: {counts or 'nothing to compare'}>"

    def count(self, relation: Relation) -> int:
        """Return how many pairs are related in some way."""
        return sum(row.relation is relation for row in self.rows)

    def listing(self) -> Listing:
        """Return the pairs of queries as a table, with a line for each result."""
        heads = ["#", "left", "right", "in the lists", "result", "Jaccard [95 %]"]
        heads += ["corrected [95 %]", "p at most", "compatible"]
        rows = []
        for number, row in enumerate(self.rows, start=1):
            queries = [str(number), Code(row.left), Code(row.right), self.relation_text(row)]
            first, second = (
                [name, *_numbers(said)] for name, said in zip(self.names, row.said, strict=True)
            )
            rows.append([*queries, *first, _YES_OR_NO[row.compatible]])
            rows.append(["", "", "", "", *second, ""])
        return Listing(heads, rows, right=(0,), unbroken=(5, 6, 7))

    def facts(self) -> Listing:
        """Return the pairs of queries one below the other, for narrow terminals."""
        rows: list[tuple[str, str]] = []
        for number, row in enumerate(self.rows, start=1):
            rows.append((str(number), self.relation_text(row)))
            rows += [("left", Code(row.left)), ("right", Code(row.right))]
            for name, said in zip(self.names, row.said, strict=True):
                jaccard, corrected, p_value = _numbers(said)
                known = f"Jaccard {jaccard}, corrected {corrected}, p at most {p_value}"
                rows.append((name, known if said else UNKNOWN))
            if row.compatible is not None:
                rows.append(("compatible", _YES_OR_NO[row.compatible]))
        return Listing((), rows)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain values, with the result file's names."""
        return {
            "names": list(self.names),
            "same_schema": self.same_schema,
            "rows": [
                {
                    "left": row.left,
                    "right": row.right,
                    "relation": row.relation.value,
                    "counterpart": row.counterpart,
                    "first": _plain(row.first),
                    "second": _plain(row.second),
                    "compatible": row.compatible,
                }
                for row in self.rows
            ],
        }

    def relation_text(self, row: Compared) -> str:
        """Say in which list a pair of queries is, and what is like it in the other."""
        if row.relation is Relation.COMPLEMENT:
            return f"complement of entry {row.counterpart} in {self.names[1]}"
        if row.relation is Relation.SAME_ATTRIBUTES:
            other = self.names[1] if row.first is not None and row.first.listed else self.names[0]
            return f"same attributes as entry {row.counterpart} in {other}"
        if row.relation is Relation.ONLY_FIRST:
            return f"only in {self.names[0]}"
        return f"only in {self.names[1]}" if row.relation is Relation.ONLY_SECOND else "in both"

    def blocks(self, *, narrow: bool = False) -> Iterator[Block]:
        """Yield what is shown, for a narrow terminal or anywhere else."""
        yield "; ".join(f"{n}: {p}" for n, p in zip(self.names, self.promises, strict=True))
        if not self.same_schema:
            yield Note(OTHER_SCHEMAS)
        if not self.rows:
            yield "Neither result lists anything."
            return
        yield self.facts() if narrow else self.listing()
        yield EXPLAINED

    def _shown(self) -> Iterator[Block]:
        return self.blocks()


def compare(
    first: Result, second: Result, names: tuple[str, str] = ("first", "second")
) -> Comparison:
    """Return what two results have in common. Costs no privacy.

    An entry of one list is looked for in the other: as the same queries, in these or other words,
    as its complement, or as the same attributes with other cut points. If the other list does not
    hold it, the other result's tables are asked about it.

    names: what the two are called when they are shown

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(500), clinic_schema())
    >>> one, other = (redveil.mine(dataset, epsilon=9) for _ in range(2))
    >>> {row.relation.value for row in compare(one, one.complement())} <= {"complement"}
    True
    >>> all(row.first or row.second for row in compare(one, other))
    True
    """
    lists = _Entries.of(first), _Entries.of(second)
    rows = [*_of_first(*lists), *_of_second(*lists)]
    digests = [one.certificate.schema_digest for one in (first, second)]
    return Comparison(
        rows=tuple(rows),
        promises=(_promise(first), _promise(second)),
        names=names,
        same_schema=digests[0] == digests[1],
    )


def _of_first(first: _Entries, second: _Entries) -> Iterator[Compared]:
    """Yield a row for each entry of the first list."""
    for place, one in enumerate(first.found):
        here = Said(one.statistics, place + 1)
        same, opposite = first.same(one, second), first.complement(one, second)
        if same is not None:
            there = Said(second.found[same].statistics, same + 1)
            yield _row(one, Relation.SAME, here, there)
            continue
        alike = opposite if opposite is not None else second.with_attributes(one)
        relation = Relation.COMPLEMENT if opposite is not None else Relation.SAME_ATTRIBUTES
        relation = Relation.ONLY_FIRST if alike is None else relation
        row = _row(one, relation, here, second.said_of(one))
        yield row if alike is None else replace(row, counterpart=alike + 1)


def _of_second(first: _Entries, second: _Entries) -> Iterator[Compared]:
    """Yield a row for each entry of the second list that the first has not been related to."""
    for place, one in enumerate(second.found):
        told = (second.same(one, first), second.complement(one, first))
        if any(found is not None for found in told):
            continue
        alike = first.with_attributes(one)
        relation = Relation.ONLY_SECOND if alike is None else Relation.SAME_ATTRIBUTES
        row = _row(one, relation, first.said_of(one), Said(one.statistics, place + 1))
        yield row if alike is None else replace(row, counterpart=alike + 1)


def _row(
    one: Redescription, relation: Relation, first: Said | None, second: Said | None
) -> Compared:
    return Compared(to_text(one.left), to_text(one.right), relation, first, second)


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """The list of a result, and its tables, which can be asked about the entries of another."""

    found: Sequence[Redescription]
    tables: Sequence[ReleasedTable]
    test: SignificanceTest
    # What a query covers is asked for many times; by table, side and words.
    _covered: dict[tuple[int, Side, str], Ends | None] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result) -> _Entries:
        document = result.document
        tables = released_tables(document)
        return cls(released_list(document), tables, significance_test(document))

    def said_of(self, one: Redescription) -> Said | None:
        """Return what the tables say about a pair of queries; None if they cannot tell."""
        try:
            return Said(answer(one.left, one.right, self.tables, self.test).statistics)
        except QueryError:
            return None

    def same(self, one: Redescription, other: _Entries) -> int | None:
        """Return the place of an entry of another list that has the same queries as one of ours."""
        texts = to_text(one.left), to_text(one.right)
        for place, theirs in enumerate(other.found):
            if (to_text(theirs.left), to_text(theirs.right)) == texts:
                return place
        return self._matching(one, other, complement=False)

    def complement(self, one: Redescription, other: _Entries) -> int | None:
        """Return the place of an entry of another list that is the complement of one of ours."""
        return self._matching(one, other, complement=True)

    def with_attributes(self, one: Redescription) -> int | None:
        """Return the place of our first entry with the same attributes on either side."""
        for place, ours in enumerate(self.found):
            if _attributes(ours) == _attributes(one):
                return place
        return None

    def _matching(self, one: Redescription, other: _Entries, *, complement: bool) -> int | None:
        """Return whose coverage is the same, or the complement, in our trees or in theirs."""
        for place, theirs in enumerate(other.found):
            if self._covers(one, theirs, complement) or other._covers(theirs, one, complement):
                return place
        return None

    def _covers(self, ours: Redescription, other: Redescription, complement: bool) -> bool:  # noqa: FBT001
        """Return whether a pair of queries covers what our entry does, in our entry's trees."""
        ends = ours.left_ends, ours.right_ends
        trees = self.tables[ours.table].left, self.tables[ours.table].right
        if complement:
            left, right = (complement_ends(t.tree, e) for t, e in zip(trees, ends, strict=True))
            ends = left, right
        queries = other.left, other.right
        return all(
            self._coverage(query, tree, ours.table) == wanted
            for query, tree, wanted in zip(queries, trees, ends, strict=True)
        )

    def _coverage(self, query: Query, tree: ReleasedTree, table: int) -> Ends | None:
        key = table, tree.tree.side, to_text(query)
        if key not in self._covered:
            self._covered[key] = _covered_ends(query, tree)
        return self._covered[key]


def _covered_ends(query: Query, tree: ReleasedTree) -> Ends | None:
    """Return the ends that a query covers; None if the tree cannot tell."""
    try:
        known = coverage(query, tree)
    except QueryError:
        return None
    return tuple(np.flatnonzero(known.covered).tolist()) if known.is_released else None


def _attributes(one: Redescription) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(attributes(one.left)), frozenset(attributes(one.right))


def _promise(result: Result) -> str:
    promise, count = result.certificate, len(result)
    found = f"{count} redescription{'' if count == 1 else 's'}"
    return f"{found}, {promise.promise}, {promise.algorithm}, schema {promise.schema_name}"


def _overlap(one: Interval, other: Interval) -> bool:
    return one.low <= other.high and other.low <= one.high


def _numbers(said: Said | None) -> tuple[str, str, str]:
    """Return both indices and the p-value; in parentheses if the tables were asked."""
    if said is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    known = said.statistics
    numbers = interval_text(known.jaccard, 2), interval_text(known.corrected, 2)
    jaccard, corrected, p_value = (
        text if said.listed else f"({text})" for text in (*numbers, p_text(known.p_value))
    )
    return jaccard, corrected, p_value


def _plain(one: Said | None) -> dict[str, Any] | None:
    if one is None:
        return None
    known = one.statistics
    return {
        "place": one.place,
        "jaccard": _ends(known.jaccard),
        "expected_jaccard": known.expected_jaccard,
        "corrected": _ends(known.corrected),
        "support_both": _ends(known.support_both),
        "p_value": known.p_value,
    }


def _ends(interval: Interval) -> dict[str, float]:
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
