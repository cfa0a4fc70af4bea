"""How questions wait for planners; the planners themselves are in tests/unit/workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from redveil.server import planning
from redveil.server.planning import BusyError, Planners


class Slow:
    """A planner whose answers take a moment."""

    order: list[str]

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def ask(self, request: str) -> Mapping[str, Any]:
        await asyncio.sleep(0.001)
        self.order.append(json.loads(request)["who"])
        return {"done": {"answer": 42}}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    Slow.order = []
    monkeypatch.setattr(planning, "_Planner", Slow)
    return Slow.order


def test_whoever_asks_many_questions_keeps_nobody_waiting(slow: list[str]) -> None:
    async def ask() -> None:
        planners = Planners(1)
        await planners.start()
        flood = [asyncio.create_task(planners.ask("ana", "check", who="ana")) for _ in range(50)]
        await asyncio.sleep(0)
        await planners.ask("bob", "check", who="bob")
        assert slow.index("bob") <= 2
        await asyncio.gather(*flood)

    asyncio.run(ask())
    assert slow.count("ana") == 50


def test_as_many_as_may_wait_do_and_others_still_ask(slow: list[str]) -> None:
    async def ask() -> None:
        planners = Planners(1, waiting=3)
        await planners.start()
        some = [asyncio.create_task(planners.ask("ana", "check", who="ana")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError, match="too many questions wait"):
            await planners.ask("ana", "check", who="ana")
        await planners.ask("bob", "check", who="bob")
        await asyncio.gather(*some)
        # Nobody who has gone is remembered.
        assert planners._turns == {}

    asyncio.run(ask())
    assert sorted(slow) == ["ana", "ana", "ana", "bob"]


def test_who_asks_what_another_has_asked_waits_like_her(slow: list[str]) -> None:
    async def ask() -> None:
        planners = Planners(1)
        await planners.start()
        for account in ("ana", "bob", "bob"):
            await planners.ask(account, "detectable", keep=True, who="anybody")

    asyncio.run(ask())
    assert slow == ["anybody"] * 3
