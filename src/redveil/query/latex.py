r"""Queries as LaTeX, for math mode with amsmath: `[\text{age} \leq 40] \land [\text{sick}]`."""

from __future__ import annotations

from functools import lru_cache

from redveil.query.formula import And, AnyLiteral, Known, Literal, Not, Or, Query, Value
from redveil.query.text import Notation, number_text, render

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
