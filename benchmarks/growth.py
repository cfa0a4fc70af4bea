"""How the time of mining grows with rows, columns, cut points and depth, and a model of it.

The model has three constants, fitted to half of the measurements and compared with the others. It
then says what larger data would take, on one machine and on many workers.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

# Idle linear-algebra threads would add CPU time by busy waiting.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.optimize import nnls

import redveil
from redveil.data.synthetic import wide_dataset

REPEAT = 3
BYTES_PER_COUNT = 8
# A gigabit network moves so many bytes a second.
NETWORK = 1.2e8
WORKERS, CORES = 100, 8
DEEPEST_MODELLED = 2


@dataclass(frozen=True, slots=True)
class Work:
    """One run of twin trees."""

    rows: int = 40_000
    booleans: int = 50
    numerics: int = 20
    cuts: int = 20
    depth: int = 2
    trials: int = 2

    @property
    def pairs(self) -> int:
        """How many pairs of splits there are."""
        return self.booleans * self.numerics * self.cuts

    @property
    def words(self) -> float:
        """Pairs of words that are counted: the root once, every level below once per trial."""
        return self.rows / 64 * self.pairs * (1 + self.trials * (self.depth - 1))

    @property
    def bits(self) -> float:
        """Members of split sets that are written: at the root, and below in every trial."""
        splits = self.booleans + self.numerics * self.cuts
        return self.rows * splits * (1 + self.trials * (self.depth - 1))

    @property
    def cells(self) -> float:
        """Pairs of splits that are scored: at every node, and sides matched in either way."""
        return 2 * self.pairs * self.trials * (2**self.depth - 1)

    def seconds(self) -> float:
        """Return the CPU seconds that mining takes in a process that has compiled everything."""
        dataset = wide_dataset(self.rows, self.booleans, self.numerics, cuts=self.cuts)
        used = []
        for _ in range(REPEAT + 1):
            begin = time.process_time()
            redveil.mine(dataset, 1, trials=self.trials, depth=self.depth, ledger=None)
            used.append(time.process_time() - begin)
        return min(used[1:])


# What grows, and how.
USUAL = Work()
SERIES: dict[str, tuple[Sequence[int], Callable[[int], Work]]] = {
    "rows": (
        (10_000, 20_000, 40_000, 80_000, 160_000, 320_000),
        lambda rows: replace(USUAL, rows=rows),
    ),
    "columns": (
        (35, 70, 140, 280),
        lambda columns: replace(USUAL, booleans=5 * columns // 7, numerics=2 * columns // 7),
    ),
    "cut points": ((5, 10, 20, 40, 80), lambda cuts: replace(USUAL, cuts=cuts)),
    "depth": ((1, 2, 3, 4), lambda depth: replace(USUAL, depth=depth)),
}


@dataclass(frozen=True, slots=True)
class Model:
    """CPU seconds: always, per pair of words, per member of a split set, per pair of splits.

    For depths 1 and 2. Deeper tables take more simulations of their noise, whatever the data is.
    """

    always: float
    per_word: float
    per_bit: float
    per_cell: float

    @classmethod
    def fitted(cls, works: Sequence[Work], seconds: Sequence[float]) -> Model:
        """Return the model with the smallest relative errors."""
        facts = np.array([(1.0, work.words, work.bits, work.cells) for work in works])
        relative = facts / np.array(seconds)[:, None]
        # Comparable columns, and no negative constants.
        scale = relative.max(axis=0)
        return cls(*(nnls(relative / scale, np.ones(len(works)))[0] / scale).tolist())

    def seconds(self, work: Work) -> float:
        """Return the CPU seconds of a run."""
        counted = self.per_word * work.words + self.per_bit * work.bits
        return self.always + counted + self.per_cell * work.cells

    def on_workers(self, work: Work, workers: int, cores: int) -> tuple[float, float]:
        """Return seconds of counting on workers, and of sending counts up a tree of them."""
        steps = 1 + work.trials * (work.depth - 1)
        nodes = 1 + work.trials * (2**work.depth - 2)
        sent = math.ceil(math.log2(max(workers, 1))) * nodes * work.pairs * BYTES_PER_COUNT
        counted = self.per_word * work.words + self.per_bit * work.bits
        counting = counted / (workers * cores)
        return counting + self.per_cell * work.cells, sent / NETWORK + steps * 0.01


def growth_section(folder: Path | None) -> str:
    """Measure, draw the figure, and return the section of the page."""
    measured = {
        name: [(value, make(value), make(value).seconds()) for value in values]
        for name, (values, make) in SERIES.items()
    }
    every = [
        (work, seconds)
        for line in measured.values()
        for _, work, seconds in line
        if work.depth <= DEEPEST_MODELLED
    ]
    model = Model.fitted([work for work, _ in every[::2]], [taken for _, taken in every[::2]])
    off = [abs(model.seconds(work) / taken - 1) for work, taken in every[1::2]]
    if folder is not None:
        _draw(measured, model, folder / "speed.svg")
    rows = "\n".join(
        f"| {name} | {value:,} | {taken:.3f} | {_shown(model, work)} |"
        for name, line in measured.items()
        for value, work, taken in line
    )
    return f"""## Growth

CPU seconds of mining alone (twin trees, {USUAL.trials} pairs of depth {USUAL.depth}), with
{USUAL.rows:,} rows, {USUAL.booleans} Boolean and {USUAL.numerics} numeric columns of
{USUAL.cuts} cut points where nothing else is said; the least of {REPEAT} runs. *Model* is
{model.always:.3f} s + {model.per_word * 1e12:.0f} ps per pair of words +
{model.per_bit * 1e12:.0f} ps per member of a split set + {model.per_cell * 1e9:.1f} ns per pair of
splits scored, fitted to every other line up to depth {DEEPEST_MODELLED}. On the other lines up to
that depth it is off by {100 * float(np.median(off)):.0f} % in the median, {100 * max(off):.0f} % at
most.

![Growth with rows, columns, cut points and depth](speed.svg)

| what grows | to | CPU s | model |
| --- | ---: | ---: | ---: |
{rows}

## Larger data, by the model

Not measured: what the model says of 100 Boolean and 40 numeric columns of {USUAL.cuts} cut points,
after loading. On {WORKERS} workers of {CORES} cores each, counts go up a tree of workers at
{NETWORK / 1e6:.0f} MB/s. The *table* is one byte a number and one bit a flag.

| entities | CPU s, one machine | table, GB | s, {WORKERS} workers | of it sending | GB a worker |
| --- | ---: | ---: | ---: | ---: | ---: |
{_larger(model)}
"""


def _shown(model: Model, work: Work) -> str:
    return f"{model.seconds(work):.3f}" if work.depth <= DEEPEST_MODELLED else "–"


def _larger(model: Model) -> str:
    lines = []
    for rows in (10**6, 10**7, 10**8, 10**9):
        work = replace(USUAL, rows=rows, booleans=100, numerics=40)
        size = rows * (work.booleans / 8 + work.numerics) / 1e9
        counting, sending = model.on_workers(work, WORKERS, CORES)
        lines.append(
            f"| {rows:,} | {model.seconds(work):,.0f} | {size:,.1f} | {counting + sending:,.1f} "
            f"| {sending:,.1f} | {size / WORKERS:,.2f} |"
        )
    return "\n".join(lines)


def _draw(measured: dict[str, list[tuple[int, Work, float]]], model: Model, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(measured), figsize=(12, 3), layout="constrained")
    for panel, (name, line) in zip(panels, measured.items(), strict=True):
        values = [value for value, *_ in line]
        panel.plot(values, [taken for *_, taken in line], "o", label="measured")
        known = [one for one in line if one[1].depth <= DEEPEST_MODELLED]
        panel.plot(*zip(*((v, model.seconds(w)) for v, w, _ in known), strict=True), label="model")
        panel.set(xlabel=name, xscale="log", yscale="log")
    panels[0].set_ylabel("CPU s")
    panels[0].legend()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
