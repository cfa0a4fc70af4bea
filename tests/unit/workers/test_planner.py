"""Planners, as a server starts them: what one question leaves behind for the next."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import time
from contextlib import suppress
from functools import _lru_cache_wrapper
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.server.planning import PlannerError, Planners
from redveil.workers import planner

SCHEMA = json.dumps(clinic_schema().to_dict())
LIMITS = {
    "exact_only": True,
    "least_epsilon": "0.01",
    "most_trials": 100,
    "most_walk_steps": 100_000,
}
DETECTABLE = {"schema": SCHEMA, "epsilon": "0.37", "entities": 4321}
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"task": "check", "schema": SCHEMA, "limits": LIMITS, "question": {"kind": "mine"}},
    {
        "task": "check",
        "schema": SCHEMA,
        "limits": LIMITS,
        "question": {"kind": "describe", "query": "[gout]", "epsilon": "0.3"},
    },
    {
        "task": "check",
        "schema": SCHEMA,
        "limits": LIMITS,
        "question": {"kind": "mine", "epsilon": "0.3", "delta": "1e-7"},
    },
    {"task": "detectable"} | DETECTABLE,
    {"task": "dummy-data", "schema": SCHEMA, "entities": 7},
)


def kept() -> dict[str, Any]:
    """Return what the caches of this process hold, and which modules it has loaded."""
    caches = {
        f"{one.__module__}.{one.__qualname__}": one.cache_info()
        for one in gc.get_objects()
        if type(one) is _lru_cache_wrapper and str(one.__module__).startswith("redveil")
    }
    # The rest of Python's own libraries is read from disk by whoever comes first, once a machine.
    return caches | {
        "modules": {name for name in sys.modules if name.startswith(("redveil", "mpmath"))}
    }


def test_a_question_leaves_nothing_in_its_planner() -> None:
    # Else who asks it again, whoever she is, would notice by the time that it was asked.
    planner.warm()
    before, answers = kept(), BytesIO()
    planner.serve(BytesIO(b"".join(json.dumps(one).encode() + b"\n" for one in QUESTIONS)), answers)
    said = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert ["done" in one for one in said] == [False, True, True, True, True]
    assert kept() == before


def test_the_first_question_of_each_kind_loads_nothing() -> None:
    planner.warm()
    before = kept()["modules"]
    for one in QUESTIONS:
        planner.respond(one)
    assert kept()["modules"] == before


def test_a_question_leaves_nothing_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDVEIL_CACHE_DIR", str(tmp_path))

    async def ask() -> dict[str, Any]:
        planners = Planners(1)
        await planners.start()
        try:
            return await planners.ask("ana", "detectable", **DETECTABLE)
        finally:
            await planners.stop()

    assert asyncio.run(ask())["document"]["entities"] == 4321
    assert list(tmp_path.rglob("*")) == []


def test_a_question_that_ends_its_process_is_refused_and_the_next_one_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def respond(request: dict[str, Any]) -> dict[str, Any]:
        if request.get("fatal"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"done": {}}

    monkeypatch.setattr(planner, "respond", respond)
    answers = BytesIO()
    planner.serve(BytesIO(b'{"fatal": true}\n{}\n'), answers)
    first, second = map(json.loads, answers.getvalue().splitlines())
    assert (list(first), second) == (["failed"], {"done": {}})


def test_a_question_that_takes_too_long_ends_with_its_planner() -> None:
    stopped: list[int] = []

    async def ask() -> None:
        planners = Planners(1, seconds=120)
        await planners.start()
        # It has started when it has answered.
        await planners.ask("ana", "dummy-data", schema=SCHEMA, entities=1)
        planners._seconds = 1.0
        process = planners._all[0]._process
        assert process is not None
        asked = asyncio.create_task(
            planners.ask("ana", "dummy-data", schema=SCHEMA, entities=300_000)
        )
        await asyncio.sleep(0.5)
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        stopped.extend(map(int, listed.split()))
        for child in stopped:
            # Now it never ends by itself.
            os.kill(child, signal.SIGSTOP)
        with pytest.raises(PlannerError):
            await asyncio.wait_for(asked, 30)
        await planners.stop()

    try:
        asyncio.run(ask())
        (child,) = stopped
        deadline = time.monotonic() + 10
        # Who has ended may still wait for somebody to ask how.
        while _state(child) not in ("", "Z"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        for child in stopped:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""
