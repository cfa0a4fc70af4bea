"""Answers that are problems: one place where errors become codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from redveil.errors import (
    ConflictError,
    InputError,
    NotFoundError,
    OverBudgetError,
    RedveilError,
    StoreError,
)
from redveil.server.planning import BusyError, PlannerError
from redveil.wire.problems import MEDIA_TYPE, STATUS, TITLES, Code, Problem

_AGAIN: Final = 5
_OF_STATUS: Final = {
    400: Code.BAD_REQUEST,
    404: Code.NOT_FOUND,
    405: Code.METHOD_NOT_ALLOWED,
    413: Code.TOO_LARGE,
}
# The most specific first.
_OF_ERROR: Final[Sequence[tuple[type[RedveilError], Code]]] = (
    (OverBudgetError, Code.OVER_BUDGET),
    (NotFoundError, Code.NOT_FOUND),
    (ConflictError, Code.CONFLICT),
    (BusyError, Code.UNAVAILABLE),
    (PlannerError, Code.UNAVAILABLE),
    (StoreError, Code.UNAVAILABLE),
    (InputError, Code.REFUSED),
)
# What the reasons of these would say is not for the network.
_QUIET: Final = {
    Code.UNAVAILABLE: "the server cannot answer now; try again later",
    Code.INTERNAL: "an error of the server; its operator finds it in the log",
}


class ProblemError(RedveilError):
    """A request is not done; the problem says why."""

    def __init__(self, code: Code, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.problem = problem(code, detail, **more)


def problem(code: Code, detail: str, **more: Any) -> Problem:
    """Return a problem with the status and the title of its code."""
    return Problem(title=TITLES[code], status=STATUS[code], code=code, detail=detail, **more)


def answer(found: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    more = dict(headers or {})
    if found.code is Code.UNAUTHENTICATED:
        more["WWW-Authenticate"] = "Bearer"
    if found.retry_after is not None:
        more["Retry-After"] = str(found.retry_after)
    content = found.model_dump(mode="json", exclude_none=True)
    return JSONResponse(content, found.status, more, MEDIA_TYPE)


def problem_of(error: RedveilError) -> Problem:
    """Return the problem that an error is.

    >>> problem_of(NotFoundError("no such job")).status
    404
    """
    if isinstance(error, ProblemError):
        return error.problem
    code = next((code for kind, code in _OF_ERROR if isinstance(error, kind)), Code.INTERNAL)
    again = _AGAIN if code is Code.UNAVAILABLE else None
    return problem(code, _QUIET.get(code, str(error)), retry_after=again)


def documented(*codes: Code) -> dict[int | str, dict[str, Any]]:
    """Return what a route can answer besides what it promises, for its documentation."""
    usual = (Code.BAD_REQUEST, Code.UNAUTHENTICATED, Code.FORBIDDEN, Code.TOO_MANY)
    found: dict[int | str, dict[str, Any]] = {}
    for code in (*usual, *codes, Code.TOO_SLOW, Code.TOO_LARGE, Code.INVALID, Code.UNAVAILABLE):
        found[STATUS[code]] = {
            "description": TITLES[code],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    return found


def handle_problems(app: FastAPI) -> None:
    """Let an application answer every error with a problem."""

    @app.exception_handler(RedveilError)
    async def refused(_: Request, error: RedveilError) -> Response:
        return answer(problem_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return answer(problem(Code.BAD_REQUEST, "the body is not JSON"))
        place = ".".join(str(part) for part in first["loc"])[:200]
        # Not the input: it may be anything, a token for one.
        return answer(problem(Code.INVALID, f"{place}: {first['msg']}"[:500], place=place))

    @app.exception_handler(HTTPException)
    async def failed(_: Request, error: HTTPException) -> Response:
        code = _OF_STATUS.get(error.status_code, Code.BAD_REQUEST)
        return answer(problem(code, TITLES[code]), error.headers)
