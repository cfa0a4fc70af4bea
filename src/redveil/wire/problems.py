"""What a server answers when it does not do what it was asked: RFC 9457, with stable codes."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

#: The media type of every problem.
MEDIA_TYPE: Final = "application/problem+json"


class Code(StrEnum):
    """Why a request was not done. Codes are never renamed."""

    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    BAD_REQUEST = "bad_request"
    INVALID = "invalid"
    REFUSED = "refused"
    CONFLICT = "conflict"
    OVER_BUDGET = "over_budget"
    NOT_READY = "not_ready"
    TOO_LARGE = "too_large"
    TOO_SLOW = "too_slow"
    TOO_MANY = "too_many"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


#: The status of each code.
STATUS: Final = {
    Code.BAD_REQUEST: 400,
    Code.UNAUTHENTICATED: 401,
    Code.OVER_BUDGET: 402,
    Code.FORBIDDEN: 403,
    Code.NOT_FOUND: 404,
    Code.METHOD_NOT_ALLOWED: 405,
    Code.TOO_SLOW: 408,
    Code.CONFLICT: 409,
    Code.NOT_READY: 409,
    Code.TOO_LARGE: 413,
    Code.INVALID: 422,
    Code.REFUSED: 422,
    Code.TOO_MANY: 429,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
}

#: A few words for each code; the same for every request.
TITLES: Final = {
    Code.BAD_REQUEST: "the request cannot be read",
    Code.UNAUTHENTICATED: "no valid token",
    Code.OVER_BUDGET: "over budget",
    Code.FORBIDDEN: "the token does not allow this",
    Code.NOT_FOUND: "no such thing",
    Code.METHOD_NOT_ALLOWED: "this cannot be done here",
    Code.CONFLICT: "the state does not allow this",
    Code.NOT_READY: "there is no result yet",
    Code.TOO_LARGE: "the request is too large",
    Code.INVALID: "a field is missing or of the wrong kind",
    Code.REFUSED: "the question cannot be asked",
    Code.TOO_SLOW: "the request arrived too slowly",
    Code.TOO_MANY: "too many requests",
    Code.INTERNAL: "an error of the server",
    Code.UNAVAILABLE: "the server cannot answer now",
}


class Problem(BaseModel):
    """A problem, with nothing of the data in it.

    code:      stable; the one to compare with
    detail:    one line that says what is wrong and what to do
    place:     the field that is wrong, if one is
    epsilon_asked, epsilon_left, delta_asked, delta_left: for over_budget
    retry_after: seconds to wait, for too_many and unavailable
    """

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "over budget",
                    "status": 402,
                    "code": "over_budget",
                    "detail": "over budget: ε = 1 requested, 0.5 left; spend less, or ask the "
                    "owner for more",
                    "epsilon_asked": "1",
                    "epsilon_left": "0.5",
                    "delta_asked": "0",
                    "delta_left": "0",
                }
            ]
        },
    )

    type: str = "about:blank"
    title: str
    status: int
    code: Code
    detail: str
    place: str | None = None
    epsilon_asked: str | None = None
    epsilon_left: str | None = None
    delta_asked: str | None = None
    delta_left: str | None = None
    retry_after: int | None = Field(default=None, ge=0)
