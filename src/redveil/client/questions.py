"""Questions as they are sent. What has its default value is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from redveil.errors import InputError
from redveil.wire.questions import Question

if TYPE_CHECKING:
    from redveil.report.result import Result

#: An amount as users write it: `1`, `0.25`, `"0.25"` or `Fraction(1, 4)`.
Number = str | float | Fraction
Names = str | Sequence[str] | None

#: The defaults of the functions `mine`, `describe` and `refine` that are not None.
DEFAULTS: Final[Mapping[str, Any]] = {
    "max_p_value": 0.01,
    "min_jaccard": 0.1,
    "min_support": 10,
    "max_support": 0.8,
    "negation": True,
    "disjunction": True,
    "of": 1,
}
_AMOUNTS: Final = ("epsilon", "delta", "tree_share")
_LISTS: Final = ("ignore", "only", "require")
_QUESTION: Final[TypeAdapter[Question]] = TypeAdapter(Question)


def question(kind: str, given: Mapping[str, Any]) -> Question:
    """Return a question, or refuse a parameter of the wrong kind.

    >>> question("mine", {"epsilon": 1, "min_jaccard": 0.1, "depth": None}).parameters()
    {'epsilon': '1'}
    >>> question("mine", {"epsilon": 1, "depth": "deep"})
    Traceback (most recent call last):
    redveil.errors.InputError: depth: input should be a valid integer, unable to parse string as \
an integer
    """
    sent = {
        name: _plain(name, value)
        for name, value in given.items()
        if value is not None and (name not in DEFAULTS or value != DEFAULTS[name])
    }
    try:
        return _QUESTION.validate_python({"kind": kind, **sent})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][1:2]) or "the question"
        raise InputError(f"{place}: {first['msg'].lower()}") from None


def job_of(result: Result) -> str:
    """Return the job that a result is of; only results of a server have one.

    The server knows the list as it was mined: the numbers of another one would mean other entries.
    """
    document = getattr(result, "document", None)
    signature = getattr(document, "signature", None)
    if document is None or signature is None or document.listing is not None:
        raise InputError("give a result of this server, and not listed differently")
    job: str = signature.job
    return job


def _plain(name: str, value: Any) -> Any:
    if name in _AMOUNTS:
        return amount(value)
    if name in _LISTS and isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [list(one) if not isinstance(one, str) else one for one in value]
    return value


def amount(value: object) -> str:
    """Return a number in digits where it has finitely many.

    >>> amount(0.1), amount("1/4"), amount(Fraction(1, 8)), amount(Fraction(1, 3))
    ('0.1', '1/4', '0.125', '1/3')
    """
    if not isinstance(value, Fraction):
        return str(value)
    with localcontext(prec=60):
        digits = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{digits:f}" if Fraction(digits) == value else str(value)
