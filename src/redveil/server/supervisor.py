"""`redveil serve`: starts the processes of a server, and starts them again when they end.

The supervisor sees neither the network nor rows. What it does for jobs is to say that a worker is
dead when it has seen it die, so that nobody has to wait for its lease to run out.
"""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from redveil.errors import RedveilError, StoreError
from redveil.server.child import line_for
from redveil.server.logs import Log
from redveil.server.settings import Settings, environment_for_children
from redveil.store.store import Store, utc_now
from redveil.store.work import SERVER

API: Final = "redveil.server.api"
WORKER: Final = "redveil.workers.worker"
USELESS: Final = 3
_POLL: Final = 0.1
_EXPIRE: Final = 2.0
_FORGET: Final = timedelta(hours=1)
# A process that ends sooner than this after its start is started again only after a pause.
_SOON: Final = 2.0


@dataclass
class Child:
    """A process of the server, and how often it was started."""

    module: str
    name: str
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    not_before: float = 0.0
    turns: int = 0

    @property
    def label(self) -> str:
        """The name of this incarnation; a lease belongs to one."""
        return f"{self.name}.{self.turns}"


@dataclass
class Supervisor:
    """The processes of a server.

    store:    to say that a worker is dead
    identity: tells the workers of this server from those of others on the same database
    """

    settings: Settings
    store: Store
    log: Log
    run_api: bool = True
    run_workers: bool = True
    identity: str = field(default_factory=lambda: secrets.token_hex(8))
    children: list[Child] = field(default_factory=list)
    is_stopping: bool = False
    forgets_at: datetime = field(default_factory=utc_now)

    def run(self) -> int:
        """Keep the processes running until a signal comes; return the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop())
        self.children += self.processes()
        code, looked = 0, 0.0
        try:
            while not self.is_stopping:
                code = max((self._look_after(one) for one in self.children), default=0)
                if code:
                    break
                if time.monotonic() - looked > _EXPIRE:
                    looked = time.monotonic()
                    self._safely(self.store.work.expire)
                    self._safely(self.store.work.enter_answers)
                    self._safely(self.forget)
                time.sleep(_POLL)
        finally:
            self._end()
        return code

    def processes(self) -> list[Child]:
        """Return the processes that are to run."""
        numbers = range(1, self.settings.workers + 1) if self.run_workers else ()
        workers = [Child(WORKER, f"{self.identity}.worker-{number}") for number in numbers]
        return [*([Child(API, "api")] if self.run_api else []), *workers]

    def stop(self) -> None:
        """Let `run` return."""
        self.is_stopping = True

    def _look_after(self, child: Child) -> int:
        """Start a process, again if it has ended; return an exit code if that is useless."""
        now = time.monotonic()
        if child.process is not None:
            code = child.process.poll()
            if code is None:
                return 0
            self._lost(child, code)
            if code == USELESS:
                return code
            child.not_before = now + (_SOON if now - child.started < _SOON else 0.0)
        if now >= child.not_before:
            self._start(child)
        return 0

    def _start(self, child: Child) -> None:
        child.turns += 1
        child.started = time.monotonic()
        # In a session of its own: Ctrl-C is for the supervisor, who lets jobs end.
        child.process = subprocess.Popen(
            [sys.executable, "-m", child.module],
            stdin=subprocess.PIPE,
            start_new_session=True,
            env=environment_for_children(),
        )
        assert child.process.stdin is not None
        # One that has ended already is seen the next time.
        with suppress(OSError):
            line = line_for(child.label, self.settings, opens_data=child.module == WORKER)
            child.process.stdin.write(line)
            child.process.stdin.flush()

    def _lost(self, child: Child, code: int) -> None:
        self.log("process ended", name=child.label, code=code)
        if child.process is not None and child.process.stdin is not None:
            with suppress(OSError):
                child.process.stdin.close()
        child.process = None
        if child.module == WORKER:
            self._safely(lambda: self.store.work.lost(child.label))

    def _safely(self, act: Callable[[], object]) -> None:
        """Do something with the database; if it cannot be used now, leases run out later."""
        try:
            act()
        except StoreError:
            self.log("database not available")
        except RedveilError as error:
            self.log("refused", reason=type(error).__name__)

    def forget(self) -> None:
        """Forget old jobs that cost nothing, and old events if the settings say so."""
        now = utc_now()
        if now < self.forgets_at:
            return
        self.forgets_at = now + _FORGET
        self.store.jobs.forget(now - timedelta(days=self.settings.uncharged_days), now, SERVER)
        if self.settings.audit_days is not None:
            self.store.audit.forget(now - timedelta(days=self.settings.audit_days), now, SERVER)

    def _end(self) -> None:
        """Let processes end what they do, and kill those that take too long."""
        self.log("stopping")
        running = [one for one in self.children if one.process is not None]
        for one in running:
            assert one.process is not None
            one.process.terminate()
        deadline = time.monotonic() + self.settings.shutdown_seconds
        for one in running:
            assert one.process is not None
            try:
                one.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                one.process.kill()
                one.process.wait()
            self._lost(one, one.process.returncode)
        self.log("stopped")
