"""Loading and mining on the workers of a Dask cluster on this machine, beside none.

    python benchmarks/workers.py [--entities 200000]

Workers are processes of one thread each. They share the machine's cores, so more workers than cores
show what a cluster costs, not what it wins. Every question is timed, and so are the bytes that it
moves: to the workers, and from worker to worker and back. That all of them release what one machine
releases is a test (tests/system/test_cluster.py).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import large_data

import redveil
from redveil.counting.cluster import ClusterCounts

ENTITIES, FLAGS, NUMBERS = 200_000, 50, 20
WORKERS = (2, 4, 8)
SHAPE: dict[str, Any] = {"trials": 2, "depth": 2}


@dataclass(slots=True)
class Steps:
    """What questions of one kind took: seconds, bytes to the workers, and bytes that they sent."""

    seconds: list[float] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)

    def line(self, kind: str) -> str:
        """Return the line of the table."""
        asked, answered = mean(self.asked) / 1e3, mean(self.answered) / 1e3
        times, taken = len(self.seconds), mean(self.seconds)
        return f"| {kind} | {times} | {taken:.3f} | {asked:,.1f} | {answered:,.1f} |"


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of loading and mining; workers = 0 is this process alone."""

    workers: int
    loading: float
    mining: float
    steps: dict[str, Steps]

    def line(self) -> str:
        """Return the line of the table."""
        each = [taken for one in self.steps.values() for taken in one.seconds]
        who = f"{self.workers}" if self.workers else "none"
        step = f"{mean(each):.3f}" if each else "–"
        return f"| {who} | {self.loading:.2f} | {self.mining:.2f} | {step} |"


def measure(folder: Path, workers: int) -> Measured:
    """Load and mine, once to warm up and once more."""
    paths = folder / "left.parquet", folder / "right.parquet", folder / "datapackage.json"
    if not workers:
        return _measured(0, lambda: redveil.load(*paths, packed=True), {})
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        watched(client) as steps,
    ):
        return _measured(workers, lambda: redveil.load(*paths, cluster=client), steps)


def _measured(workers: int, load: Any, steps: dict[str, Steps]) -> Measured:
    for _ in range(2):
        begin = time.perf_counter()
        dataset = load()
        loaded = time.perf_counter()
        steps.clear()
        redveil.mine(dataset, 1, ledger=None, **SHAPE)
        mined = time.perf_counter()
        del dataset
    return Measured(workers, loaded - begin, mined - loaded, dict(steps))


@contextmanager
def watched(client: Any) -> Iterator[dict[str, Steps]]:
    """Take the time and the bytes of every question."""
    from distributed.protocol.pickle import dumps

    steps: dict[str, Steps] = defaultdict(Steps)
    ask = ClusterCounts.ask

    def sent() -> int:
        return sum(client.run(_sent).values())

    def asked(self: ClusterCounts, question: Any) -> Any:
        # A question goes to all partitions, and to every sum of two answers.
        size, before = len(dumps(question)) * (2 * len(self._partitions) - 1), sent()
        begin = time.perf_counter()
        found = ask(self, question)
        step = steps[type(question).__name__]
        step.seconds.append(time.perf_counter() - begin)
        step.asked.append(size)
        step.answered.append(sent() - before)
        return found

    ClusterCounts.ask = asked  # type: ignore[method-assign]
    try:
        yield steps
    finally:
        ClusterCounts.ask = ask  # type: ignore[method-assign]


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def workers_section(figures: Path | None, entities: int = ENTITIES) -> str:
    """Measure, draw the figure, and return the section of the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large_data.write(folder, entities, FLAGS, NUMBERS)
        measured = [measure(folder, workers) for workers in (0, *WORKERS)]
    if figures is not None:
        _draw(measured, figures / "speed-workers.svg")
    totals = "\n".join(one.line() for one in measured)
    middle = measured[2]
    kinds = "\n".join(steps.line(kind) for kind, steps in middle.steps.items())
    return f"""## Workers

{entities:,} entities, {FLAGS} Boolean and {NUMBERS} numeric columns, twin trees, {SHAPE["trials"]}
pairs of depth {SHAPE["depth"]}, on Dask workers of one thread each on the same machine, after a run
that warmed them up. They share its cores, so this is what a cluster costs, not what it wins.

| workers | loading, s | mining, s | s a question |
| --- | ---: | ---: | ---: |
{totals}

![Seconds by the number of workers](speed-workers.svg)

What a question moves with {middle.workers} workers: to the workers and sums, and from worker to
worker and back to the process that draws. It does not depend on the number of entities.

| question | asked | s each | kB to workers | kB that workers sent |
| --- | ---: | ---: | ---: | ---: |
{kinds}
"""


def _draw(measured: list[Measured], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, panel = plt.subplots(figsize=(4, 3), layout="constrained")
    panel.plot([one.workers for one in measured], [one.loading for one in measured], "o-")
    panel.plot([one.workers for one in measured], [one.mining for one in measured], "s-")
    panel.set(xlabel="workers (0: none)", ylabel="s", ylim=(0, None))
    panel.legend(["loading", "mining"])
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Read the command line, and print the section."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entities", type=int, default=ENTITIES)
    print(workers_section(None, parser.parse_args().entities))


if __name__ == "__main__":
    main()
