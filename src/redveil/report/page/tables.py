"""Leaf tables for the page: all that `answers.js` needs to answer free questions by itself.

Everything follows from released values. What takes a simulation is computed here, once for each
table; so are the texts of names and numbers, which only this program knows how to quote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from redveil.findings.critical_values import question_critical_values, weighting_critical_values
from redveil.findings.estimate import Estimate, Fit, TwoPass, estimate
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import CriticalValues
from redveil.findings.taste import said_plainly
from redveil.query.coverage import ReleasedTree, reachable
from redveil.query.formula import And, Known, Literal, Not, Query, complement, literals, negate
from redveil.query.not_true import not_true
from redveil.query.simplify import simplified
from redveil.query.text import attribute_text, enclosed_text, to_text, value_text
from redveil.report.document import ResultDocument
from redveil.report.released import released_tables, significance_test

Json = dict[str, Any]


def page_tables(document: ResultDocument) -> list[Json]:
    """Return the leaf tables of a result, ready to be written as JSON for `answers.js`."""
    tables, test = released_tables(document), significance_test(document)
    return [
        {
            "left": page_tree(table.left),
            "right": page_tree(table.right),
            "estimate": _estimate(estimate(table.counts)),
            "critical": _critical(table, len(tables)),
            "test": test.value,
            "number": number,
            "tables": len(tables),
        }
        for number, table in enumerate(tables)
    ]


def _estimate(known: Estimate) -> Json:
    assert isinstance(known, Fit | TwoPass), "there are two kinds of estimates"
    plain = {
        name: value if isinstance(value, float) else value.tolist()
        for name, value in asdict(known).items()
    }
    return {"kind": "fit" if isinstance(known, Fit) else "two passes", **plain}


def _critical(table: ReleasedTable, tables: int) -> Json:
    counts = table.counts
    unions = question_critical_values(counts, tables)
    # Without missing values, every choice of ends is a union.
    weightings: CriticalValues | None = None
    if counts.left.stuck or counts.right.stuck:
        weightings = weighting_critical_values(counts, tables)
    return {
        "unions": asdict(unions),
        "weightings": None if weightings is None else asdict(weightings),
    }


def page_tree(released: ReleasedTree) -> Json:
    """Return a tree of a leaf table: its shape, and what queries about it are made of."""
    tree, words = released.tree, _Words(released)
    names = dict.fromkeys(one.attribute for split in words.splits() for one in literals(split))
    return {
        "splits": [None if split is None else words.split(split) for split in released.splits],
        "ends": tree.ends,
        "stuck": tree.stuck,
        "reachable": reachable(released).tolist(),
        "required": [name for name in names if name in released.always_known],
        "names": {name: attribute_text(name) for name in names},
        "comparisons": words.comparisons(),
    }


class _Words:
    """The literals of a tree as JSON."""

    def __init__(self, released: ReleasedTree) -> None:
        self._released = released
        compared = [one for split in self.splits() for one in literals(split)]
        # A label that is not one of its attribute's has no place in their order.
        strange = {
            one.attribute
            for one in compared
            if isinstance(one, Literal)
            and one.value not in released.orders.get(one.attribute, (one.value,))
        }
        self._orders = {n: o for n, o in released.orders.items() if n not in strange}

    def splits(self) -> Iterator[Query]:
        """Yield the splits of the inner nodes."""
        return (split for split in self._released.splits if split is not None)

    def split(self, split: Query) -> Json:
        """Return what is true where a split holds, and where it does not."""
        missing = split.attribute if isinstance(split, Literal) else None
        failing = _failing(split, self._released)
        return {
            "holds": [self._literal(one) for one in self._conjuncts(split)],
            "fails": [self._literal(one) for one in self._conjuncts(failing)],
            "missing": missing,
        }

    def comparisons(self) -> list[tuple[Json, Json]]:
        """Return every comparison with its complement."""
        parts = (
            part
            for split in self.splits()
            for whole in (split, _failing(split, self._released))
            for part in self._conjuncts(whole)
        )
        found = dict.fromkeys(part for part in parts if isinstance(part, Literal))
        return [(self._literal(one), self._literal(complement(one))) for one in found]

    def _conjuncts(self, query: Query) -> Iterable[Query]:
        short = simplified(query, self._released.always_known, self._released.orders)
        return short.operands if isinstance(short, And) else (short,)

    def _literal(self, query: Query) -> Json:
        plain = said_plainly(query, self._released.attributes.values())
        known: Json = {"attribute": "", "op": "given", "value": to_text(query), "shown": ""}
        match query:
            case Known(name):
                known |= {"attribute": name, "op": "known", "value": ""}
            case Not(Known(name)):
                known |= {"attribute": name, "op": "unknown", "value": ""}
            case Literal(name, op, value):
                order = self._orders.get(name)
                place = value if order is None else order.index(str(value))
                known = {
                    "attribute": name,
                    "op": op,
                    "value": place,
                    "shown": value_text(op, value),
                }
        return {**known, "text": to_text(plain), "enclosed": enclosed_text(plain)}


def _failing(split: Query, released: ReleasedTree) -> Query:
    """Return the query that is true where a tree goes on as if its split did not hold."""
    if not released.unknown_is_false:
        return negate(split)
    return not_true(split, released.always_known)
