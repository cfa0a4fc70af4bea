r"""Results and queries as LaTeX; these in math mode: `[\text{age} \leq 40] \land [\text{sick}]`."""

from __future__ import annotations

from functools import lru_cache

from redveil import Result
from redveil.seam.queries import (
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Notation,
    Or,
    Query,
    Value,
    from_json,
    number_text,
    render,
)
from redveil.seam.results import (
    RedescriptionPart,
    ResultDocument,
    full_listing,
    has_details,
    interval_text,
    must_be_listed,
    p_text,
)

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In LaTeX's default font encoding these print as other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_OPS = {"=": "=", "!=": r"\neq", "<=": r"\leq", ">": ">"}


def to_latex(query: Query) -> str:
    r"""Return a query in LaTeX math, without dollar signs.

    >>> to_latex(And((Literal("t_5", "<=", 12.5), Literal("Moose", "=", False))))
    '[\\text{t\\_5} \\leq 12.5] \\land \\lnot [\\text{Moose}]'
    >>> to_latex(Known("age"))
    '[\\text{age}\\ \\textit{is known}]'
    """
    notation = Notation(r" \land ", r" \lor ", r"\lnot ", _literal_latex, _interval_latex)
    return render(_without_single_operands(query), notation)


@lru_cache(maxsize=1024)
def escape_latex(text: str) -> str:
    r"""Escape LaTeX's special characters; replace control characters by spaces.

    >>> escape_latex("50% of a_b")
    '50\\% of a\\_b'
    """
    shown = (character if character.isprintable() else " " for character in text)
    return "".join(_ESCAPES.get(character, character) for character in shown)


def _without_single_operands(query: Query) -> Query:
    """Unwrap conjunctions and disjunctions of one operand, which have no notation in LaTeX."""
    match query:
        case Literal() | Known():
            return query
        case Not(operand):
            return Not(_without_single_operands(operand))
        case And((operand,)) | Or((operand,)):
            return _without_single_operands(operand)
        case And(operands):
            return And(tuple(map(_without_single_operands, operands)))
        case Or(operands):
            return Or(tuple(map(_without_single_operands, operands)))


def _literal_latex(literal: AnyLiteral) -> str:
    name = _text(literal.attribute)
    if isinstance(literal, Known):
        # In italics: a name may end in these words, too.
        return rf"[{name}\ \textit{{is known}}]"
    if isinstance(literal.value, bool):
        return f"[{name}]" if literal.value else rf"\lnot [{name}]"
    return f"[{name} {_OPS[literal.op]} {_value(literal.value)}]"


def _interval_latex(low: Literal, high: Literal) -> str:
    return rf"[{_value(low.value)} < {_text(low.attribute)} \leq {_value(high.value)}]"


def _value(value: Value) -> str:
    if not isinstance(value, float):
        return _text(str(value))
    mantissa, _, exponent = number_text(value).partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _text(text: str) -> str:
    return rf"\text{{{escape_latex(text)}}}"


def latex_table(result: Result, *, full: bool = False) -> str:
    r"""Return a result as a `tabular` (needs amsmath and booktabs), one row a redescription.

    If entries add detail to others, all are numbered, and a column says to which.

    full: with all supports, and where each entry was read off

    >>> import redveil
    >>> from redveil.data.synthetic import wide_dataset
    >>> latex_table(redveil.mine(wide_dataset(500), 1, depth=1, trials=1)).splitlines()[0]
    '\\begin{tabular}{llrrrrr}'
    """
    document = result.document
    must_be_listed(document)
    heads, rows, columns = _full(document) if full else _short(document)
    promise = document.certificate
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
            *(rf"{' & '.join(row)} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            f"% {promise.promise.replace('ε', 'epsilon')}, {promise.guarantee}",
        ]
    )


def _short(document: ResultDocument) -> tuple[list[str], list[list[str]], str]:
    """Return heads, rows and the kinds of columns of the usual table."""
    columns = "llrrrrr"
    heads = ["left", "right", r"Jaccard [95\,\%]", "expected", r"corrected [95\,\%]", "overlap"]
    heads.append("$p$ at most")
    rows = [
        [
            *_queries(one),
            interval_text(one.jaccard, 2),
            f"{one.expected_jaccard:.2f}",
            interval_text(one.corrected, 2),
            f"{one.support.both.estimate:.0f}",
            p_text(one.p_value),
        ]
        for one in document.redescriptions
    ]
    if has_details(document):
        columns = f"r{columns}r"
        heads = [r"\#", *heads, "detail of"]
        details = [str(one.detail or "") for one in document.redescriptions]
        rows = [
            [str(number), *row, detail]
            for number, (row, detail) in enumerate(zip(rows, details, strict=True), start=1)
        ]
    return heads, rows, columns


def _full(document: ResultDocument) -> tuple[list[str], list[list[str]], str]:
    """Return heads, rows and the kinds of columns of everything that is known."""
    listing = full_listing(document)
    rows = [
        [shown[0], *_queries(one), *map(escape_latex, shown[3:])]
        for shown, one in zip(listing.rows, document.redescriptions, strict=True)
    ]
    return [*map(escape_latex, listing.heads)], rows, f"rll{'r' * (len(listing.heads) - 3)}"


def _queries(one: RedescriptionPart) -> list[str]:
    return [f"${to_latex(from_json(side.tree))}$" for side in (one.left, one.right)]
