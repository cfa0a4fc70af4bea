"""A result as clired's `.queries` file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path

from redveil.errors import InputError
from redveil.file_kind import NAMES_HEADER, FileKind
from redveil.files import is_written_to, write_text
from redveil.query.clired import is_readable, write_queries
from redveil.query.formula import And, Literal, Not, Or, Query, literals
from redveil.query.json_form import from_json
from redveil.report.document import AttributePart, ResultDocument

Orders = Mapping[str, tuple[str, ...]]


def write_result_queries(document: ResultDocument, path: Path) -> tuple[Path | None, Path | None]:
    """Write the redescriptions' queries with their noisy statistics, atomically.

    clired knows no order of labels, so `[smoking <= former]` is written as a choice of labels. A
    name that it cannot read becomes a number, as in `v12`. A list beside the file says which
    attributes the numbers stand for. Returns its path, None if none was needed, and where the file
    that was replaced is kept, None if there was none.
    """
    names = _names(document.attributes.left), _names(document.attributes.right)
    pairs = list(_pairs(document))
    used = {one.attribute for left, right, _ in pairs for q in (left, right) for one in literals(q)}
    listed = None if all(map(is_readable, used)) else names_path(path)
    if listed is not None:
        if is_written_to(path):
            raise InputError(
                f"{path}: names that clired cannot read need a list beside the file; name a file"
            )
        write_text(listed, _listing(*names), FileKind.NAMES)
    return listed, write_queries(pairs, path, None if listed is None else names)


def names_path(path: Path) -> Path:
    """Return where the list of names goes that belongs to a file of queries.

    >>> names_path(Path("findings.queries")).name
    'findings.queries.names'
    """
    return path.with_name(f"{path.name}.names")


def _pairs(document: ResultDocument) -> Iterator[tuple[Query, Query, dict[str, float]]]:
    left, right = _orders(document.attributes.left), _orders(document.attributes.right)
    for one in document.redescriptions:
        yield (
            spelled_out(from_json(one.left.tree), left),
            spelled_out(from_json(one.right.tree), right),
            {"acc": one.jaccard.estimate, "pval": one.p_value},
        )


def _listing(left: list[str], right: list[str]) -> str:
    """Return all names with the numbers of their columns; names with tabs are in quotes."""
    text = StringIO()
    rows = csv.writer(text, delimiter="\t", lineterminator="\n")
    rows.writerow(NAMES_HEADER.split())
    for side, names in (("left", left), ("right", right)):
        rows.writerows((side, f"v{number}", name) for number, name in enumerate(names))
    return text.getvalue()


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


def _names(attributes: Iterable[AttributePart]) -> list[str]:
    return [one.name for one in attributes]


def _orders(attributes: Iterable[AttributePart]) -> Orders:
    return {one.name: one.categories for one in attributes if one.kind == "ordinal"}
