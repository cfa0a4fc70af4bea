"""Every table and figure of the paper by name, and how they are made.

Runs that are not in the journal yet are done, then what they show is made.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

import redveil
from redveil.seam.commands import say
from redveil_research.experiments import datasets
from redveil_research.experiments.console import Table
from redveil_research.experiments.paper import figures, tables
from redveil_research.experiments.paper.agenda import FULL, QUICK, SWEPT_EPSILONS, Agenda, missing
from redveil_research.experiments.paper.pooled import LIMIT, Known, Pool
from redveil_research.experiments.rows import TwoTables
from redveil_research.experiments.runs import Finding, Run, code_name, read
from redveil_research.experiments.series import do_all
from redveil_research.experiments.subjects import public_subject

Make: TypeAlias = Callable[[Pool], Table]
Draw: TypeAlias = Callable[[Pool, Path], None]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table, a figure, or both.

    place: the table's or figure's number in the paper, or what it is besides
    needs: groups of runs (`Agenda.tasks`)

    >>> find("spearman").place
    'Table 2'
    """

    name: str
    place: str
    title: str
    needs: tuple[str, ...] = ()
    table: Make | None = None
    draws: tuple[tuple[str, Draw], ...] = ()


def _box(epsilon: str, measure: str) -> Draw:
    return lambda pool, path: figures.boxes(pool, epsilon, measure, path)


def _boxes(epsilon: str, first: int) -> tuple[Experiment, Experiment]:
    """Return the two box plots of an ε."""
    word = epsilon.replace(".", "")
    return (
        Experiment(f"accuracy-{word}", f"Figure {first}", f"true J by variant, ε = {epsilon}",
                   ("variants",), draws=((f"accuracy-{word}", _box(epsilon, "J")),)),
        Experiment(f"error-{word}", f"Figure {first + 1}", f"error of J by variant, ε = {epsilon}",
                   ("variants",), draws=((f"error-{word}", _box(epsilon, "error")),)),
    )  # fmt: skip


_RUNS = ("variants",)
EXPERIMENTS: Final = (
    Experiment("datasets", "Table 1", "properties of the data sets", _RUNS, tables.data_sets),
    Experiment("scatter", "Figures 2 and 3", "reported against true J, ε = 1", _RUNS,
               draws=(("scatter", figures.scatter),)),
    Experiment("spearman", "Table 2", "rank correlation of reported and true J, ε = 1", _RUNS,
               tables.correlations),
    Experiment("histograms", "Figures 4 and 5", "true J against SplitT and LayeredT, ε = 1",
               ("variants", "baselines"), draws=(("histograms", figures.histograms),)),
    Experiment("significance", "Table 3", "percentage of significant redescriptions", _RUNS,
               tables.significance),
    Experiment("tests-of-j", "Table 4", "Mann–Whitney tests of true J", _RUNS,
               tables.tests_of_index),
    Experiment("tests-of-error", "Table 5", "Mann–Whitney tests of the error of J", _RUNS,
               tables.tests_of_difference),
    Experiment("runtime", "Figures 6 and 15", "CPU time by number of rows, with SD",
               ("runtime",), tables.runtimes, (("runtime", figures.runtimes),)),
    Experiment("laplace", "Figure 7 and appendix C", "sums of Laplace noise", (),
               tables.laplace_sums, (("laplace", figures.laplace),)),
    Experiment("parameters", "Table 6", "parameters", _RUNS, tables.parameters),
    Experiment("convergence", "Figure 8", "scores of a walk over pairs of trees", ("walks",),
               tables.convergence, (("convergence", figures.convergence),)),
    Experiment("successes", "Tables 7 and 8", "runs that return anything", _RUNS,
               tables.successes),
    *_boxes("1", 9),
    *_boxes("0.1", 11),
    *_boxes("0.01", 13),
    Experiment("at-their-best", "not in the paper", "the variants at their best", _RUNS,
               tables.at_their_best),
    Experiment("worth", "not in the paper", "what the lists are worth", _RUNS, tables.worths),
    Experiment("epsilons", "not in the paper", "sweep over ε on MAMMAL", ("epsilons",),
               tables.epsilons,
               (("epsilons", partial(lambda values, pool, path: figures.sweep(pool, values, path),
                                     SWEPT_EPSILONS)),)),
    Experiment("depths", "not in the paper", "sweep over the depth on MAMMAL", ("depths",),
               tables.depths),
    Experiment("shares", "not in the paper", "sweep over the share of ε for trees on MAMMAL",
               ("shares",), tables.shares),
)  # fmt: skip
# All of them.
PAPER: Final = "paper"


def find(name: str) -> Experiment:
    """Return an experiment by its name.

    >>> find("nonsense")
    Traceback (most recent call last):
    redveil.errors.InputError: nonsense: no such experiment; redveil experiment list names them
    """
    for one in EXPERIMENTS:
        if one.name == name:
            return one
    raise redveil.InputError(f"{name}: no such experiment; redveil experiment list names them")


def chosen(name: str) -> Sequence[Experiment]:
    """Return all experiments for `paper`, or the one of a name.

    >>> len(chosen("paper")) > 15, [one.name for one in chosen("laplace")]
    (True, ['laplace'])
    """
    return EXPERIMENTS if name == PAPER else (find(name),)


def provenance(runs: Sequence[Run], command: str) -> dict[str, str]:
    """Return where numbers come from: program, code, command, machine, time.

    >>> provenance([], "redveil experiment paper")["command"]
    'redveil experiment paper'
    """
    return {
        "warning": "NOT PRIVATE: this file contains true values",
        "redveil": str(redveil.__version__),
        "code": code_name(),
        "codes": ",".join(sorted({run.code for run in runs})),
        "command": command,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def write_parquet(runs: Sequence[Run], folder: Path, command: str) -> tuple[Path, Path]:
    """Write one row for each finding, and one for each run."""
    told = {key.encode(): value.encode() for key, value in provenance(runs, command).items()}
    keys = ("data", "algorithm", "epsilon", "number", "settings", "code")
    rows = [
        {key: getattr(run, key) for key in keys}
        | one._asdict()
        | {"significant": one.p_value <= LIMIT}
        for run in runs
        for one in run.findings
    ]
    plain = [
        {key: getattr(run, key) for key in (*keys, "seconds", "cpu", "shape", "found", "worth")}
        | {"findings": len(run.findings)}
        for run in runs
        if not run.histogram
    ]
    texts = {key: pa.string() for key in keys} | {"number": pa.int64()}
    kinds = texts | dict.fromkeys(Finding._fields, pa.float64()) | {"significant": pa.bool_()}
    more = {"seconds": pa.float64(), "cpu": pa.float64(), "shape": pa.string(), "found": pa.int64(),
            "worth": pa.float64(), "findings": pa.int64()}  # fmt: skip
    paths = folder / "findings.parquet", folder / "runs.parquet"
    for path, lines, schema in zip(paths, (rows, plain), (kinds, texts | more), strict=True):
        table = pa.Table.from_pylist(lines, schema=pa.schema(list(schema.items()), metadata=told))
        part = path.with_name(f"{path.name}.part")
        pq.write_table(table, part)
        part.replace(path)
    return paths


JOURNAL: Final = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Conducted:
    """An experiment's runs, pooled, and where its files are."""

    pool: Pool
    folder: Path
    quick: bool


def conduct(
    experiments: Sequence[Experiment],
    data: Path,
    folder: Path,
    *,
    quick: bool,
    workers: int,
    same_code: bool = True,
) -> Conducted:
    """Run what is missing; resume after an interruption, whatever it was.

    same_code: count only runs that this version of the source has made
    """
    agenda = QUICK if quick else FULL
    needs = list(dict.fromkeys(name for one in experiments for name in one.needs))
    if not data.is_dir():
        raise redveil.InputError(f"{data}: no such folder; name the folder of the data sets")
    if needs and (lacking := missing(agenda, needs, data)):
        files = ", ".join(file for name in lacking for file in datasets.find(name).missing(data))
        raise redveil.InputError(f"{data} has no {files}; name the folder that contains them")
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / JOURNAL
    do_all(agenda.tasks(needs, data, journal, same_code=same_code), workers)
    runs = read(journal)
    if same_code:
        runs = [run for run in runs if run.code == code_name()]
    return Conducted(pooled(agenda, needs, runs, data, folder), folder, quick)


def pooled(
    agenda: Agenda, needs: Sequence[str], runs: Sequence[Run], data: Path, folder: Path
) -> Pool:
    """Return the runs with what is known of their data."""
    known = {name: _known(name, data, folder) for name in agenda.subjects} if needs else {}
    timed: dict[str, int] = {}
    if "runtime" in needs:
        timed = {name: _known(name, data, folder).rows for name in agenda.timed_on}
    return Pool(runs, known, timed)


def _known(name: str, data: Path, folder: Path) -> Known:
    """Return the size of a data set and the paper's settings for it. Not private."""
    subject = public_subject(name, data, folder)
    left, right = TwoTables.read(*subject.files()).views()
    columns = len(left.columns), len(right.columns)
    return Known(left.count, *columns, subject.large, subject.prune or 0)


def leave(done: Conducted, experiments: Sequence[Experiment], command: str) -> list[Path]:
    """Write tables as Markdown, figures as SVG, and all findings and runs as Parquet."""
    written = []
    for one in experiments:
        if one.table is not None:
            path = done.folder / f"{one.name}.md"
            head = f"# {one.place}: {one.title}\n\n"
            path.write_text(head + one.table(done.pool).markdown() + "\n", encoding="utf-8")
            written.append(path)
        for name, draw in one.draws:
            path = done.folder / f"{name}.svg"
            with figures.style():
                draw(done.pool, path)
            written.append(path)
    runs: list[Run] = list(done.pool.runs)
    written += write_parquet(runs, done.folder, command)
    say(f"{len(runs)} runs; written to {done.folder}")
    return written
