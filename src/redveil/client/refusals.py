"""What a server refuses, as the errors of this package."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn

from pydantic import ValidationError

from redveil.client.connection import Lost, Reply
from redveil.errors import (
    ConflictError,
    InputError,
    NotFoundError,
    OverBudgetError,
    RedveilError,
    RemoteError,
)
from redveil.wire.problems import Code, Problem

_LONGEST: Final = 500
_KINDS: Final[dict[Code, type[RedveilError]]] = {
    Code.NOT_FOUND: NotFoundError,
    Code.CONFLICT: ConflictError,
    Code.NOT_READY: ConflictError,
    Code.INVALID: InputError,
    Code.REFUSED: InputError,
    Code.TOO_LARGE: InputError,
}


def harmless(text: str) -> str:
    r"""Return a server's words as one short line without control characters.

    >>> harmless("no\nsuch\x1b[2Jthing")
    'no such [2Jthing'
    """
    shown = "".join(c if c.isprintable() else " " for c in text[:_LONGEST])
    return " ".join(shown.split())


def refuse(reply: Reply) -> NoReturn:
    """Raise what a refusal means."""
    if 300 <= reply.status < 400:
        raise RemoteError(
            "the server sends us elsewhere, and the token is not sent along; ask its operator for "
            "the right address"
        )
    try:
        problem = Problem.model_validate_json(reply.body)
    except (ValidationError, ValueError, RecursionError):
        raise RemoteError(
            f"the server answered {reply.status}, and not as a redveil server does; check the "
            "address"
        ) from None
    if problem.code is Code.OVER_BUDGET:
        raise OverBudgetError(over_budget(problem))
    detail = harmless(problem.detail)
    if problem.code is Code.UNAUTHENTICATED:
        raise RemoteError("the token is not valid (any more); ask the operator for another one")
    raise _KINDS.get(problem.code, RemoteError)(detail)


def over_budget(problem: Problem) -> str:
    """Say what is left, and what it would take.

    >>> from redveil.wire.problems import STATUS, TITLES
    >>> code = Code.OVER_BUDGET
    >>> problem = Problem(title=TITLES[code], status=STATUS[code], code=code, detail="over budget",
    ...     epsilon_asked="1", epsilon_left="0.25", delta_asked="0", delta_left="0")
    >>> over_budget(problem)
    'over budget: ε = 1 asked, 0.25 left; ask with ε = 0.25 or less, or ask the owner for 0.75 more'
    """
    given = (
        ("ε", problem.epsilon_asked, problem.epsilon_left),
        ("δ", problem.delta_asked, problem.delta_left),
    )
    for unit, asked, left in given:
        amounts = _number(asked), _number(left)
        if amounts[0] is None or amounts[1] is None or amounts[0] <= amounts[1]:
            continue
        more = _digits(amounts[0] - amounts[1])
        have = _digits(amounts[1])
        less = f"ask with {unit} = {have} or less, or " if amounts[1] > 0 else ""
        return (
            f"over budget: {unit} = {_digits(amounts[0])} asked, {have} left; {less}ask the owner "
            f"for {more} more"
        )
    return harmless(problem.detail)


def give_up(lost: Lost, place: str) -> NoReturn:
    """Raise what it means that there was no answer.

    place: the address of the server
    """
    raise RemoteError(f"{place}: {lost.reason}")


def _number(text: str | None) -> Decimal | None:
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 100 else None


def _digits(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
