"""A result as clired's `.queries` file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from redveil.query.clired import write_queries
from redveil.query.formula import And, Literal, Not, Or, Query
from redveil.query.json_form import from_json
from redveil.report.document import AttributePart, ResultDocument

Orders = Mapping[str, tuple[str, ...]]


def write_result_queries(document: ResultDocument, path: Path) -> None:
    """Write the redescriptions' queries with their noisy statistics, atomically.

    clired knows no order of labels, so `[smoking <= former]` is written as a choice of labels.
    """
    declared = document.attributes
    left, right = _orders(declared.left), _orders(declared.right)
    write_queries(
        (
            (
                spelled_out(from_json(one.left.tree), left),
                spelled_out(from_json(one.right.tree), right),
                {"acc": one.jaccard.estimate, "pval": one.p_value},
            )
            for one in document.redescriptions
        ),
        path,
    )


def spelled_out(query: Query, orders: Orders) -> Query:
    """Return a query in which comparisons of labels are choices of labels.

    >>> spelled_out(Literal("grade", ">", "low"), {"grade": ("low", "high")})
    Literal(attribute='grade', op='=', value='high')
    """
    match query:
        case Not(operand):
            return Not(spelled_out(operand, orders))
        case And(operands):
            return And(tuple(spelled_out(one, orders) for one in operands))
        case Or(operands):
            return Or(tuple(spelled_out(one, orders) for one in operands))
        case Literal(name, ("<=" | ">") as op, str(label)) if label in orders.get(name, ()):
            after = orders[name].index(label) + 1
            labels = orders[name][:after] if op == "<=" else orders[name][after:]
            return _one_of([Literal(name, "=", each) for each in labels])
        case _:
            return query


def _one_of(choices: list[Literal]) -> Query:
    return choices[0] if len(choices) == 1 else Or(tuple(choices))


def _orders(attributes: Iterable[AttributePart]) -> Orders:
    return {one.name: one.categories for one in attributes if one.kind == "ordinal"}
