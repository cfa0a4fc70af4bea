"""A planner: a process that checks questions against schemas. It is never told where data is.

It reads requests from standard input and writes answers to standard output, a line of JSON each. It
ends when its input ends, so it does not outlive the server that started it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, BinaryIO

from redveil.errors import InputError, RedveilError, innermost
from redveil.schema import Schema


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    for line in iter(requests.readline, b""):
        answers.write(json.dumps(respond(json.loads(line))).encode() + b"\n")
        answers.flush()


def respond(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request: `done`, `refused` with a reason, or `failed`.

    >>> respond({"task": "check", "schema": "{}"})["refused"]
    'descriptor: no resources; list exactly two: the left view and the right view'
    """
    try:
        return {"done": _do(request)}
    except InputError as error:
        return {"refused": " ".join(str(error).split())}
    except RedveilError as error:
        return {"failed": type(error).__name__}
    except Exception as error:  # a question must not end the process that checks it
        return {"failed": innermost(error)}


def _do(request: Mapping[str, Any]) -> dict[str, Any]:
    schema = _schema(request["schema"])
    match request["task"]:
        case "check":
            from redveil.workers.asking import check

            checked = check(
                request["question"],
                schema,
                request["limits"],
                earlier=request.get("earlier"),
                entities=request.get("entities") or 10_000,
            )
            return checked.plain()
        case "detectable":
            from redveil.detecting import detectable

            given = (request["epsilon"], request["entities"], schema)
            return {"document": detectable(*given, delta=request.get("delta")).plain()}
        case "dummy-data":
            from redveil.workers.dummy_data import dummy_tables

            left, right = dummy_tables(schema, request["entities"])
            return {"left": left, "right": right}
    raise InputError("no such task")


@lru_cache(maxsize=100)
def _schema(text: str) -> Schema:
    return Schema.from_dict(json.loads(text))


def warm() -> None:
    """Import what checking takes, before the first question comes."""
    import redveil.detecting
    import redveil.workers.asking
    import redveil.workers.dummy_data  # noqa: F401


if __name__ == "__main__":
    out = sys.stdout.buffer
    # Whatever prints must not disturb the answers.
    sys.stdout = sys.stderr
    warm()
    serve(sys.stdin.buffer, out)
