"""Measure a server under load, with thousands of idle event streams, and over a long time.

    python benchmarks/server_load.py --output docs/evidence/server.md
    python benchmarks/server_load.py --output docs/evidence/server.md --only soak --soak 60

Starts `redveil serve` on this machine, with SQLite and with PostgreSQL, and asks it over loopback.
Sections of the page that are not measured stay as they are.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import secrets
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from http_load import Ask, Connection, Taken, as_fast_as_possible, steadily
from measuring import commit, machine
from serving import Place, postgresql, serving

PARTS = ("load", "streams", "soak")
TITLES = {"load": "Load", "streams": "Idle event streams", "soak": "Memory over time"}
HEAD = "# A server under load\n\nWhat `redveil serve` bears on one machine.\n"
MINE = {"kind": "mine", "epsilon": "0.5"}
STREAMS_EACH = 20
STEADY = 20
SAMPLE = 10.0


def main() -> None:
    """Read the command line, measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, action="append", help="[default: load, streams]")
    parser.add_argument("--seconds", type=float, default=8, help="for each line of the load")
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--soak", type=float, default=60, help="minutes")
    parser.add_argument("--note", help="a sentence about the machine, for the page")
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for part in given.only or PARTS[:2]:
        with tempfile.TemporaryDirectory(prefix="redveil-load-") as folder:
            lines = asyncio.run(globals()[part](Path(folder), given))
        about = f"Written by `{_command(part, given)}` on {datetime.now(UTC):%Y-%m-%d}, commit "
        about += f"{commit()}, on {machine()}."
        note = [f"{given.note}\n"] if given.note else []
        write(given.output, TITLES[part], "\n".join([f"{about}\n", *note, *lines]))


def _command(part: str, given: argparse.Namespace) -> str:
    options = {
        "load": f"--seconds {given.seconds:g}",
        "streams": f"--streams {given.streams}",
        "soak": f"--soak {given.soak:g}",
    }
    return f"python benchmarks/server_load.py --output {given.output} --only {part} {options[part]}"


def write(path: Path, title: str, text: str) -> None:
    """Replace a section of the page, or add it."""
    known = path.read_text(encoding="utf-8") if path.exists() else HEAD
    head, *sections = known.split("\n## ")
    kept = dict(one.split("\n", 1) for one in sections)
    kept[title] = f"\n{text}\n"
    ordered = [one for one in TITLES.values() if one in kept]
    page = "\n".join([head.rstrip("\n") + "\n", *(f"## {one}\n{kept[one]}" for one in ordered)])
    path.write_text(page.rstrip("\n") + "\n", encoding="utf-8")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table; all columns but the first two are numbers."""
    rule = ["---" if place < 2 else "---:" for place in range(len(heads))]
    return [f"| {' | '.join(row)} |" for row in (heads, rule, *rows)]


def figures(taken: Taken) -> list[str]:
    """Return what is shown of some requests."""
    times = [f"{taken.at(share):,.1f}" for share in (0.5, 0.95, 0.99)]
    return [f"{taken.per_second:,.0f}", *times, f"{taken.failures:,}"]


@contextmanager
def databases(folder: Path) -> Iterator[dict[str, str | None]]:
    """Yield the addresses of both databases."""
    with postgresql(folder / "postgresql") as address:
        yield {"SQLite": None, "PostgreSQL": address}


def details(place: Place, token: str) -> Callable[[int], Ask]:
    """Return requests for a data set with its schema."""
    return lambda _: Ask(f"/v1/datasets/{place.dataset}", token)


def plans(place: Place, token: str, *, different: int) -> Callable[[int], Ask]:
    """Return requests for plans, of which so many are different."""
    path = f"/v1/datasets/{place.dataset}/plan"

    def make(number: int) -> Ask:
        epsilon = f"{1 + number % different / 1_000_000:.6f}"
        return Ask(path, token, {"question": {"kind": "mine", "epsilon": epsilon}})

    return make


def mixed(place: Place, token: str, *, different: int) -> Callable[[int], Ask]:
    """Return both in turn."""
    one, other = details(place, token), plans(place, token, different=different)
    return lambda number: (other if number % 2 else one)(number // 2)


@asynccontextmanager
async def jobs(place: Place, token: str, *, pause: float = 0.0) -> AsyncIterator[list[str]]:
    """Let a worker always have something to do; yield the jobs that are done."""
    done: list[str] = []

    async def one() -> None:
        while True:
            job = await place.submit(token, MINE, secrets.token_hex(8))
            while (await place.ask("GET", f"/v1/jobs/{job}", token))["state"] in (
                *("queued", "running"),
            ):
                await asyncio.sleep(0.25)
            done.append(job)
            await asyncio.sleep(pause)

    tasks = [asyncio.create_task(one()) for _ in range(1 if pause else 2)]
    try:
        yield done
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended


async def rich(place: Place, name: str) -> str:
    """Let the budget be no limit; return the token of a new analyst."""
    path = f"/v1/owner/datasets/{place.dataset}/budget"
    await place.ask("PUT", path, place.owner, {"epsilon": "1000000"})
    return await place.new_analyst(name)


async def load(folder: Path, given: argparse.Namespace) -> list[str]:
    """Measure requests for metadata and for plans while jobs run."""
    rows: list[list[str]] = []
    mined: list[str] = []
    with databases(folder) as addresses:
        for name, address in addresses.items():
            with serving(folder / name, address, release_every=0) as place:
                token = await rich(place, "load")
                begun = time.monotonic()
                async with jobs(place, token) as done:
                    rows += [[name, *row] for row in await _lines(place, token, given.seconds)]
                mined.append(f"{len(done)} with {name} in {time.monotonic() - begun:.0f} s")
    heads = ("database", "requests", "a second", "p50 ms", "p95 ms", "p99 ms", "failures")
    return [
        "A worker mines the generated clinic (5,000 patients) without a pause, and the generator",
        "runs on the same machine. Eight connections ask as fast as they are answered. In the last",
        f"line of each database, {STEADY} requests a second start at fixed moments, half of them",
        "for plans. No answer is kept for the next who asks the same. Times are those of whole",
        "answers. Limits on rates are lifted.\n",
        *table(heads, rows),
        f"\nJobs done meanwhile: {', '.join(mined)}.",
    ]


async def _lines(place: Place, token: str, seconds: float) -> list[list[str]]:
    kinds = {
        "a data set, with its schema": details(place, token),
        "a plan": plans(place, token, different=10**6),
    }
    rows = []
    for kind, make in kinds.items():
        await place.ask("GET", "/v1/me", token)
        taken = await as_fast_as_possible(place.port, make, connections=8, seconds=seconds)
        rows.append([kind, *figures(taken)])
    make = mixed(place, token, different=10**6)
    steady = await steadily(place.port, make, per_second=STEADY, seconds=seconds)
    return [*rows, [f"both, {STEADY} a second", *figures(steady)]]


async def streams(folder: Path, given: argparse.Namespace) -> list[str]:
    """Measure requests while many event streams are open and silent."""
    rows: list[list[str]] = []
    told: list[str] = []
    with databases(folder) as addresses:
        for name, address in addresses.items():
            with serving(folder / name, address, release_every=0) as place:
                more, words = await _streams(place, given.streams, given.seconds)
            rows += [[name, *row] for row in more]
            told.append(f"With {name}, {words}")
    heads = ("database", "open streams", "a second", "p50 ms", "p95 ms", "p99 ms", "failures")
    return [
        f"Every analyst has {STREAMS_EACH} streams, the default limit, on a job that waits for its",
        f"owner's approval. Meanwhile another analyst asks {STEADY} times a second, half of the",
        "time for a data set and half for a plan that nobody has asked for before.\n",
        *table(heads, rows),
        "",
        "\n".join(told),
    ]


async def _streams(place: Place, count: int, seconds: float) -> tuple[list[list[str]], str]:
    token = await rich(place, "other")
    rows, before = [], place.memory()["api"]
    analysts = [
        await place.new_analyst(f"idle {number}", needs_approval=True)
        for number in range(-(-count // STREAMS_EACH))
    ]
    asked = [await place.submit(one, MINE, "idle") for one in analysts]
    make = mixed(place, token, different=10**6)

    async def measured(opened: int) -> None:
        taken = await steadily(place.port, make, per_second=STEADY, seconds=seconds)
        rows.append([f"{opened:,}", *figures(taken)])

    await measured(0)
    begun = time.monotonic()
    statuses, connections = await _opened(place, analysts, asked, count)
    took = time.monotonic() - begun
    await measured(statuses[200])
    begun = time.monotonic()
    refused = await Connection(place.port).open_stream(
        Ask(f"/v1/jobs/{asked[0]}/events", analysts[0])
    )
    words = (
        f"{statuses[200]:,} streams of {len(analysts)} analysts were opened in {took:.0f} s; the "
        f"process that answers grew by {(place.memory()['api'] - before):.0f} MiB; one stream more "
        f"was answered with {refused} after {1000 * (time.monotonic() - begun):.0f} ms."
    )
    for one in connections:
        one.close()
    return rows, words


async def _opened(
    place: Place, analysts: list[str], asked: list[str], count: int
) -> tuple[Counter[int], list[Connection]]:
    """Open streams, some at a time; return what was answered, and the connections."""
    connections = [Connection(place.port) for _ in range(count)]
    turns = asyncio.Semaphore(50)

    async def one(number: int) -> int:
        whose = number // STREAMS_EACH
        async with turns:
            return await connections[number].open_stream(
                Ask(f"/v1/jobs/{asked[whose]}/events", analysts[whose])
            )

    return Counter(await asyncio.gather(*map(one, range(count)))), connections


async def soak(folder: Path, given: argparse.Namespace) -> list[str]:
    """Ask steadily for a long time, and watch the memory of every process."""
    samples: list[dict[str, float]] = []
    seconds = given.soak * 60
    with serving(folder / "soak") as place:
        token = await rich(place, "steady")
        watching = asyncio.create_task(_comings_and_goings(place, token))
        sampling = asyncio.create_task(_sample(place, samples))
        async with jobs(place, token, pause=5.0) as done:
            make = mixed(place, token, different=1500)
            taken = await steadily(place.port, make, per_second=2, seconds=seconds)
        for task in (watching, sampling):
            task.cancel()
        ended = await asyncio.gather(watching, sampling, return_exceptions=True)
        if any(not isinstance(one, asyncio.CancelledError) for one in ended):
            raise RuntimeError(f"the soak was disturbed: {ended}")
    return _soaked(samples, taken, len(done), given.soak)


async def _sample(place: Place, samples: list[dict[str, float]]) -> None:
    while True:
        samples.append(place.memory())
        print(f"{datetime.now(UTC):%H:%M:%S} {samples[-1]}", file=sys.stderr, flush=True)
        await asyncio.sleep(SAMPLE)


async def _comings_and_goings(place: Place, token: str) -> None:
    """Open an event stream every second, and leave it without a word some seconds later."""
    open_ones: list[Connection] = []
    job = ""
    for number in range(10**9):
        if number % 60 == 0:
            job = await place.submit(token, MINE, f"watched-{number}")
        connection = Connection(place.port)
        await connection.open_stream(Ask(f"/v1/jobs/{job}/events", token))
        open_ones.append(connection)
        if len(open_ones) > 5:
            open_ones.pop(0).close()
        await asyncio.sleep(1)


def _soaked(samples: list[dict[str, float]], taken: Taken, done: int, minutes: float) -> list[str]:
    part = max(1, len(samples) // 6)
    rows = []
    for kind in samples[-1]:
        values = [one[kind] for one in samples if kind in one]
        ends = [statistics.median(values[i * part : (i + 1) * part]) for i in range(6)]
        rows.append([kind, "MiB", *(f"{one:.0f}" for one in ends), f"{max(values):.0f}"])
    heads = ["process", "", *(f"{minutes * i / 6:g}–{minutes * (i + 1) / 6:g}" for i in range(6))]
    times = ", ".join(
        f"{taken.at(share):,.1f} ms (p{share * 100:g})" for share in (0.5, 0.95, 0.99)
    )
    return [
        f"For {minutes:g} minutes: two requests a second, half for a data set and half for one of",
        "1,500 plans; a job after the other with a pause of five seconds; an event stream opened",
        f"every second and dropped later. SQLite. {len(taken.seconds):,} requests, "
        f"{taken.failures} failures, {done} jobs. Answers took {times}.",
        "Median of the memory of each process (proportional set size, every 10 s) in each sixth of",
        "the time, in minutes, and the largest:\n",
        *table([*heads, "largest"], rows),
    ]


if __name__ == "__main__":
    main()
