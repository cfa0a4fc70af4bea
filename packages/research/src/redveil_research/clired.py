"""Results as .queries files of clired, the command-line tool behind ReReMi and Siren.

A variable has its name, or its column number as in `v0`, `v1`. Literals are `[a]`, `[a=CA]`,
`[a!=CA]` and `[3.0<a<4.2]`, in which either bound may be left out; `!` negates. A conjunction may
contain literals and disjunctions in parentheses, a disjunction literals and conjunctions.

How queries are translated:

- clired's bounds are inclusive, though it prints `<`. Ours exclude the lower end, so `a > x` is
  written with the next float above x as its bound, which is exact. A number is compared for
  equality as an interval of width zero.
- Nested conjunctions are flattened. A negated conjunction within a conjunction is written as a
  disjunction of negations, and vice versa. Without missing values the meaning stays the same;
  clired has its own rules for missing values.
- Comparisons of ordinal labels, and whether a value is known, are spelled out; text that contains
  clired's operators cannot be written.

A .queries file is tab-separated. Its header names `query_LHS`, `query_RHS`, `acc` (the Jaccard
index) and `pval`.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TypeAlias

from redveil import InputError, Result
from redveil.seam.queries import (
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Or,
    Query,
    complement,
    from_json,
    interval_pairs,
    literals,
    negate,
)
from redveil.seam.results import (
    NAMES_HEADER,
    AttributePart,
    FileKind,
    ResultDocument,
    is_written_to,
    must_be_listed,
    replace_text,
    write_text,
)

Declared: TypeAlias = Mapping[str, AttributePart]
Names: TypeAlias = Sequence[str] | None

_SIGNS = "<>=![](){}&|,∧∨≤≥∈∉≠¬"
_WORD = re.compile(rf"[^\s\d?@{re.escape(_SIGNS)}][^\n\t\r{re.escape(_SIGNS)}]*(?<!\s)")
_NUMBER = re.compile(r"[+-]?[0-9]+\.?[0-9]*([Ee][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+\.?[0-9]*")
_COLUMN = re.compile(r"v([0-9]+)")


def to_clired(query: Query, names: Names = None) -> str:
    """Return a query in clired's syntax.

    names: the names of all columns; with them, a name that clired cannot read becomes the number
           of its column, as in `v0`, `v1`

    >>> to_clired(And((Literal("t5~", "<=", -3.375), Literal("Moose", "=", False))))
    '[t5~<-3.375] & ![Moose]'
    >>> to_clired(Literal("a & b", "=", "CA"), names=["x", "a & b"])
    '[v1=CA]'
    """
    return _written(_flat(query), names)


def _flat(query: Query) -> Query:
    """Merge nested conjunctions and disjunctions; unwrap single operands and double negations."""
    match query:
        case Literal() | Known():
            return query
        case Not(operand):
            return negate(_flat(operand))
        case And(operands) | Or(operands):
            kind, parts = type(query), map(_flat, operands)
            flat = [each for q in parts for each in (q.operands if isinstance(q, kind) else (q,))]
            return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _written(query: Query, names: Names) -> str:
    """Return the text of a flat query."""
    match query:
        case Not(And(operands)) if (interval := _whole_interval(operands, names)) is not None:
            return "!" + interval
        case Not(operand):
            return f"!( {_written(operand, names)} )"
        case And(operands):
            parts = [_conjunct(group, names) for group in interval_pairs(operands)]
            return " & ".join(part for group in parts for part in group)
        case Or(operands):
            return " | ".join(_operand(operand, Or, names) for operand in operands)
        case Literal() | Known():
            return _literal(query, names)


def _conjunct(group: tuple[Query, ...], names: Names) -> list[str]:
    interval = _whole_interval(group, names)
    return [interval] if interval else [_operand(operand, And, names) for operand in group]


def _operand(query: Query, parent: type[And] | type[Or], names: Names) -> str:
    """Return an operand's text; clired has no negated conjunction within a conjunction."""
    match query:
        case Literal() | Known():
            return _literal(query, names)
        case And(operands) | Not(And(operands)) if _whole_interval(operands, names) is not None:
            return _written(query, names)
        case Not(And(operands)) if parent is And:
            return _operand(_flat(Or(tuple(map(negate, operands)))), parent, names)
        case Not(Or(operands)) if parent is Or:
            return _operand(_flat(And(tuple(map(negate, operands)))), parent, names)
        case Not():
            return _written(query, names)
        case _:
            return f"( {_written(query, names)} )"


def _whole_interval(operands: tuple[Query, ...], names: Names) -> str | None:
    """Return the text of two literals that form an interval; clired has no empty intervals."""
    match operands:
        case (Literal(name, ">", float() as low), Literal(other, "<=", float() as high)):
            lowest = _above(name, low)
            if name == other and lowest <= high:
                return f"[{lowest!r}<{_name(name, names)}<{high!r}]"
    return None


def _literal(literal: AnyLiteral, names: Names) -> str:
    name = _name(literal.attribute, names)
    if isinstance(literal, Known):
        raise InputError(
            f"literal on {name!r}: clired cannot ask whether a value is known; "
            "write a comparison or its complement instead"
        )
    match literal.op, literal.value:
        case "=", bool() as value:
            return f"[{name}]" if value else f"![{name}]"
        case "<=", float() as value:
            return f"[{name}<{value!r}]"
        case ">", float() as value:
            return f"[{_above(literal.attribute, value)!r}<{name}]"
        case "=" | "!=" as op, float() as value:
            return f"{'!' if op == '!=' else ''}[{value!r}<{name}<{value!r}]"
        case "=" | "!=" as op, str() as value if is_readable_category(value):
            return f"[{name}{op}{value}]"
        case "=" | "!=", _:
            raise InputError(f"literal on {name!r}: clired cannot read this category; rename it")
    raise InputError(f"literal on {name!r}: clired cannot compare labels; use = and != instead")


def is_readable_category(label: str) -> bool:
    """Return whether clired can read a category.

    >>> is_readable_category("new york"), is_readable_category("65+")
    (True, False)
    """
    return _is_category(label) and label.isprintable()


def _is_category(text: str) -> bool:
    return bool(_WORD.fullmatch(text) or _DIGITS.fullmatch(text))


def _above(attribute: str, number: float) -> float:
    above = math.nextafter(number, math.inf)
    if math.isinf(above):
        raise InputError(f"literal on {attribute!r}: no number is above this bound")
    return above


def is_readable(name: str) -> bool:
    """Return whether clired can read a name, and does not take it for something else.

    >>> is_readable("House mouse"), is_readable("House mouse (2)"), is_readable("v12")
    (True, False, False)
    """
    a_word = _WORD.fullmatch(name) and not _NUMBER.match(name) and name.isprintable()
    return bool(a_word) and not _COLUMN.fullmatch(name)


def _name(attribute: str, names: Names) -> str:
    if names is not None and attribute not in names:
        raise InputError(f"attribute {attribute!r}: not among the column names")
    if is_readable(attribute):
        return attribute
    if names is None:
        raise InputError(
            f"attribute {attribute!r}: clired cannot read this name; pass column names"
        )
    return f"v{list(names).index(attribute)}"


def write_queries(
    pairs: Iterable[tuple[Query, Query, float, float]],
    path: Path,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Path | None:
    """Write pairs of queries with their Jaccard indices and p-values, atomically.

    Returns where the file that they replace is kept, None if there was none.
    """
    left, right = names or (None, None)
    lines = [["rid", "query_LHS", "query_RHS", "acc", "pval"]]
    for number, (one, other, jaccard, p_value) in enumerate(pairs, start=1):
        queries = to_clired(one, left), to_clired(other, right)
        lines.append([str(number), *queries, repr(jaccard), repr(p_value)])
    text = "".join("\t".join(line) + "\n" for line in lines)
    return replace_text(path, text, FileKind.QUERIES)


def write_clired(result: Result, path: str | Path) -> tuple[Path | None, Path | None]:
    """Write the redescriptions' queries with their noisy statistics, atomically.

    clired knows no order of labels, so `[smoking <= former]` is written as a choice of labels, and
    `[age is known]` as `[age <= 0] | [age > 0]`. A name that it cannot read becomes a number, as in
    `v12`. A list beside the file says which attributes the numbers stand for. Returns its path,
    None if none was needed, and where the file that was replaced is kept, None if there was none.

    >>> import redveil
    >>> from redveil.data.synthetic import wide_dataset
    >>> write_clired(redveil.mine(wide_dataset(500), 1, depth=1, trials=1), "/nowhere/a.queries")
    Traceback (most recent call last):
    redveil.errors.InputError: /nowhere/a.queries: cannot be written; check that its folder exists
    """
    document, path = result.document, Path(path)
    must_be_listed(document)
    names = _names(document.attributes.left), _names(document.attributes.right)
    pairs = list(_pairs(document))
    used = {
        one.attribute for left, right, *_ in pairs for q in (left, right) for one in literals(q)
    }
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


def _pairs(document: ResultDocument) -> Iterator[tuple[Query, Query, float, float]]:
    left, right = (
        {one.name: one for one in side}
        for side in (document.attributes.left, document.attributes.right)
    )
    for one in document.redescriptions:
        yield (
            spelled_out(from_json(one.left.tree), left),
            spelled_out(from_json(one.right.tree), right),
            one.jaccard.estimate,
            one.p_value,
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
                raise InputError(
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
            if not labels:
                never = Literal(name, "=", label)
                return And((never, complement(never)))
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
        raise InputError(f"attribute {name!r}: no values are declared; the file is damaged")
    return Literal(name, "=", next(filter(is_readable_category, one.categories), one.categories[0]))


def _names(attributes: Iterable[AttributePart]) -> list[str]:
    return [one.name for one in attributes]
