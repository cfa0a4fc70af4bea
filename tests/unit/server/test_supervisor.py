"""The supervisor itself; tests/system starts whole servers."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest

from redveil.server.logs import Log
from redveil.server.opening import set_up
from redveil.server.settings import Settings
from redveil.server.supervisor import WORKER, Supervisor
from redveil.store.audit import record
from redveil.store.store import utc_now
from support.stores import Place


def test_workers_of_two_servers_have_different_names(tmp_path: Path) -> None:
    # Otherwise one of them, seeing its own worker die, would bury a job of the other's.
    settings = Settings(folder=tmp_path, workers=2)
    store, _ = set_up(settings)
    servers = [Supervisor(settings, store, Log("supervisor", StringIO())) for _ in range(2)]
    names = [one.label for server in servers for one in server.processes()]
    assert sum("worker" in one for one in names) == len(set(names) - {"api.0"}) == 4
    store.close()


def test_old_events_are_forgotten_if_the_settings_say_so(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path)
    store, _ = set_up(settings)
    known = len(store.audit.events())
    with store.database.transaction() as transaction:
        record(transaction, utc_now() - timedelta(days=40), "server", "long ago")
    for days, left in ((None, known + 1), (90, known + 1), (30, known + 1), (30, known + 1)):
        # What was forgotten is written down, once.
        chosen = settings.model_copy(update={"audit_days": days})
        Supervisor(chosen, store, Log("supervisor", StringIO())).forget()
        assert len(store.audit.events()) == left
    actions = [one.action for one in store.audit.events()]
    assert "long ago" not in actions
    assert actions[-1] == "events forgotten"
    store.close()


def test_old_jobs_that_cost_nothing_are_forgotten(tmp_path: Path) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"))
    done, cancelled = place.done(), place.submit()
    place.store.jobs.cancel(cancelled.id, place.ana.id)
    # The clock of the place stands far in the past.
    Supervisor(Settings(folder=tmp_path), place.store, Log("supervisor", StringIO())).forget()
    assert [one.id for one in place.store.jobs.of_analyst(place.ana.id)] == [done.id]
    place.close()


class Started:
    """A process that is not started; what it was given is kept."""

    def __init__(self, command: list[str], env: dict[str, str], **_: Any) -> None:
        self.command, self.environment, self.stdin = command, env, BytesIO()


def test_only_workers_are_told_the_key_for_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDVEIL_SERVER_DATA_KEY_DIGITS", "ab" * 32)
    monkeypatch.setattr("redveil.server.supervisor.subprocess.Popen", Started)
    settings = Settings.read(folder=tmp_path)
    store, _ = set_up(settings)
    supervisor = Supervisor(settings, store, Log("supervisor", StringIO()))
    for child in supervisor.processes():
        supervisor._start(child)
        started: Any = child.process
        told = "ab" * 32 in started.stdin.getvalue().decode()
        assert told is (child.module == WORKER)
        # Nor can it be read in the environment of those that answer the network.
        assert "ab" * 32 not in started.environment.values()
        assert "PATH" in started.environment
    store.close()
