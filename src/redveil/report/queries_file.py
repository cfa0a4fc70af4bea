"""A result as clired's `.queries` file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path

from redveil.errors import InputError, QueryError
from redveil.file_kind import NAMES_HEADER, FileKind
from redveil.files import is_written_to, write_text
from redveil.query.clired import is_readable, is_readable_category, write_queries
from redveil.query.formula import And, Known, Literal, Not, Or, Query, complement, literals
from redveil.query.json_form import from_json
from redveil.report.document import AttributePart, ResultDocument

Declared = Mapping[str, AttributePart]


def write_result_queries(document: ResultDocument, path: Path) -> tuple[Path | None, Path | None]:
    """Write the redescriptions' queries with their noisy statistics, atomically.

    clired knows no order of labels, so `[smoking <= former]` is written as a choice of labels, and
    `[age is known]` as `[age <= 0] | [age > 0]`. A name that it cannot read becomes a number, as in
    `v12`. A list beside the file says which attributes the numbers stand for. Returns its path,
    None if none was needed, and where the file that was replaced is kept, None if there was none.
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
    left, right = (
        {one.name: one for one in side}
        for side in (document.attributes.left, document.attributes.right)
    )
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


def spelled_out(query: Query, declared: Declared, *, negated: bool = False) -> Query:
    """Return a query of the same support in comparisons that clired knows.

    A comparison of labels becomes a choice of labels, and a literal that a value is known becomes a
    comparison or its complement. Under a negation the latter is refused, because nothing that
    clired knows is true where a value is missing.

    >>> grade = AttributePart(name="grade", kind="ordinal", categories=("low", "high"))
    >>> spelled_out(Literal("grade", ">", "low"), {"grade": grade})
    Literal(attribute='grade', op='=', value='high')
    >>> from redveil.query.text import to_text
    >>> to_text(spelled_out(Known("grade"), {"grade": grade}))
    '[grade = low] | [grade != low]'
    """
    match query:
        case Not(operand):
            return Not(spelled_out(operand, declared, negated=True))
        case And(operands):
            return And(tuple(spelled_out(one, declared, negated=negated) for one in operands))
        case Or(operands):
            return Or(tuple(spelled_out(one, declared, negated=negated) for one in operands))
        case Literal():
            return _choice(query, declared)
        case Known(name):
            if negated:
                raise QueryError(
                    f"literal on {name!r}: clired cannot ask for missing values; "
                    "use another format for this result"
                )
            some = _comparison(name, declared)
            return Or((some, complement(some)))


def _choice(literal: Literal, declared: Declared) -> Query:
    """Return a comparison of labels as a choice of labels, and other comparisons as they are."""
    match literal:
        case Literal(name, ("<=" | ">") as op, str(label)) if label in _ordered(name, declared):
            labels = _ordered(name, declared)
            after = labels.index(label) + 1
            labels = labels[:after] if op == "<=" else labels[after:]
            choices = [Literal(name, "=", each) for each in labels]
            return choices[0] if len(choices) == 1 else Or(tuple(choices))
    return literal


def _ordered(name: str, declared: Declared) -> tuple[str, ...]:
    """Return the labels of an ordinal attribute, and none of others."""
    one = declared.get(name)
    return one.categories if one is not None and one.kind == "ordinal" else ()


def _comparison(name: str, declared: Declared) -> Literal:
    """Return some comparison that fits an attribute."""
    one = declared.get(name)
    if one is not None and one.kind == "boolean":
        return Literal(name, "=", value=True)
    if one is not None and one.kind == "numeric":
        return Literal(name, "<=", 0.0)
    if one is None or not one.categories:
        raise QueryError(f"attribute {name!r}: no values are declared; the file is damaged")
    return Literal(name, "=", next(filter(is_readable_category, one.categories), one.categories[0]))


def _names(attributes: Iterable[AttributePart]) -> list[str]:
    return [one.name for one in attributes]
