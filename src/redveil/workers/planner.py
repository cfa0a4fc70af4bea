"""A planner: a process that checks questions against schemas. It is never told where data is.

It reads requests from standard input and writes answers to standard output, a line of JSON each. It
ends when its input ends, so it does not outlive the server that started it.

Analysts share planners, so each question is answered in a process of its own, which ends with the
answer. Otherwise what one question has loaded or computed would be there for the next, and whoever
asks it could tell by the time what others have asked.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, BinaryIO, Final, Never

from redveil.errors import InputError, RedveilError, innermost
from redveil.schema import Schema

# A question that hangs is given up by the server before, and ends with its planner.
_LONGEST: Final = 60


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    for line in iter(requests.readline, b""):
        answers.write(_apart(line) + b"\n")
        answers.flush()


def _apart(line: bytes) -> bytes:
    """Answer a request in a process of its own."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Other threads are those of libraries, which expect this.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        _answer(line, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        answer = said.read()
    _, status = os.waitpid(child, 0)
    return json.dumps({"failed": "its process ended"}).encode() if status else answer


def _answer(line: bytes, writing: int) -> Never:
    """Write the answer to a request, and end the process."""
    status = 1
    try:
        signal.alarm(_LONGEST)
        with os.fdopen(writing, "wb") as answer:
            answer.write(json.dumps(respond(json.loads(line))).encode())
        status = 0
    finally:
        # Nothing of the parent's is closed or written twice.
        os._exit(status)


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
    schema = Schema.from_dict(json.loads(request["schema"]))
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


@cache
def warm() -> None:
    """Answer a question of each kind, about generated data, so that everything is loaded."""
    from redveil.data.synthetic import clinic_schema

    schema = json.dumps(clinic_schema().to_dict())
    limits = {"exact_only": True, "least_epsilon": "0", "most_trials": 1, "most_walk_steps": 1}
    about = {"schema": schema, "limits": limits, "epsilon": "1", "entities": 100}
    # With a δ, too: prices then take interval arithmetic, which is loaded when it is needed.
    for question in ({"kind": "mine", "delta": "1e-6"}, {"kind": "describe", "query": "[gout]"}):
        respond(about | {"task": "check", "question": {"epsilon": "1"} | question})
    for task in ("detectable", "dummy-data"):
        respond(about | {"task": task})


if __name__ == "__main__":
    out = sys.stdout.buffer
    # Whatever prints must not disturb the answers.
    sys.stdout = sys.stderr
    warm()
    serve(sys.stdin.buffer, out)
