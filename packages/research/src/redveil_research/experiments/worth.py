"""What lists are worth: the default and the published algorithms, on all data sets, at several ε.

    python -m redveil_research.experiments.worth DATA [--runs 20] [--epsilon 1,0.1,0.01]
        [--only MAMMAL,RWAS] [--algorithms twin,alt-mcmc,…] [--schema declared] [--out DIR]
    python -m redveil_research.experiments.worth --generated [--rows 1000,5000] …

DATA is the folder of the data sets (see `datasets.py`); those that are not there are skipped. Every
finished run is a line of `OUT/worth.jsonl`; run the command again to resume. The table is
made from all lines. For data that is not sensitive: the journal contains true values.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import redveil
from redveil.seam.commands import say
from redveil_research.experiments.console import NONE, Table, numbers, parts, write_page
from redveil_research.experiments.console import run as run_command
from redveil_research.experiments.judging import SIGNIFICANT
from redveil_research.experiments.runs import RowKey, Run, latest, read, settings_of
from redveil_research.experiments.series import Task, do_all
from redveil_research.experiments.subjects import SchemaChoice, Subject, public_subjects, worlds

# The algorithm that the figures are about.
DEFAULT = "twin"


@dataclass(frozen=True, slots=True)
class Target:
    """The figures of one data set at one ε.

    first:  worth in the first release
    found:  entries per list in the first release
    larger: the share of entries in the first release that were larger halves, if it is known
    best:   worth of the best of eight shapes in the first release
    target: what is wanted
    """

    data: str
    epsilon: str
    first: float
    found: float
    best: float
    target: float
    larger: float | None = None


@cache
def targets() -> tuple[Target, ...]:
    """Return all figures.

    >>> targets()[0].target
    3.1
    """
    path = files("redveil_research.experiments").joinpath("worth_targets.toml")
    return tuple(Target(**row) for row in tomllib.loads(path.read_text("utf-8"))["row"])


def target_of(data: str, algorithm: str, epsilon: str) -> Target | None:
    """Return the figures for a row of the table, if there are any.

    >>> target_of("mammal, 300", "twin", "1")
    """
    if algorithm != DEFAULT:
        return None
    rows = (one for one in targets() if (one.data, one.epsilon) == (data, epsilon))
    return next(rows, None)


LARGER_HALF = 0.5
HEADS = (
    *("data", "ε", "algorithm", "runs", "empty", "worth", "first release", "target", "found"),
    *("confirmed", "larger halves", "significant", "J in interval", "width", "p within bound", "J"),
    *("corrected", "literals", "CPU s"),
)
LEGEND = """\
*worth* is the mean of the runs with its standard error, an empty list being worth 0: the sum over a
list of corrected J × novelty × 0.99^literals, less 1 for every entry whose true p-value (Fisher,
one-sided) is above 0.01. *first release* and *target* are about the default alone. *found* is a
mean per run. The others are about all redescriptions of a row's runs. Shares: *confirmed* by the
list itself; *larger halves*, of which a query covers more than half of the entities;
*significant*, with a true p-value of at most 0.01; *J in interval*, whose true J lies in the
reported interval; *p within bound*, whose true p-value is at most the reported one. Medians:
*width* of that interval, true *J*, *corrected* J and *literals*. *CPU s* is the median per run.
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """One row of the table. Shares lie between 0 and 1; NaN where nothing was found.

    worth: its mean and the standard error of that, NaN for a single run

    >>> summarise([Run("a", "twin", "1", 1, "x", 0.5, 0.4)]).empty
    1
    """

    data: str
    algorithm: str
    epsilon: str
    runs: int
    empty: int
    worth: tuple[float, float]
    found: float
    confirmed: float
    larger: float
    significant: float
    inside: float
    width: float
    p_within_bound: float
    jaccard: float
    corrected: float
    literals: float
    cpu: float


def summarise_all(runs: Iterable[Run]) -> list[Summary]:
    """Summarise every row. If its settings have changed, only runs with the latest ones count.

    >>> old, new = (Run("a", "twin", "1", 1, x, 0.5, 0.4) for x in ("old", "new"))
    >>> [(one.data, one.runs) for one in summarise_all([old, new])]
    [('a', 1)]
    """
    grouped: dict[RowKey, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.row, []).append(run)
    return [summarise(latest(group)) for group in grouped.values()]


def summarise(runs: Sequence[Run]) -> Summary:
    """Summarise the pooled runs of one row.

    >>> run = Run("a", "twin", "1", 1, "x", 0.5, 0.4, jaccard=(0.5,), corrected=(0.4,),
    ...           p_value=(0.0,), novelty=(1.0,), literals=(2,), share=(0.6,), low=(0.4,),
    ...           high=(0.55,), p_bound=(0.1,), confirmed=(True,))
    >>> summarise([run]).inside, summarise([run]).larger
    (1.0, 1.0)
    """

    def pooled(name: str) -> np.ndarray:
        return np.array([x for run in runs for x in getattr(run, name)], dtype=np.float64)

    true, low, high, p = (pooled(name) for name in ("jaccard", "low", "high", "p_value"))
    return Summary(
        *runs[0].row,
        runs=len(runs),
        empty=sum(run.found == 0 for run in runs),
        worth=mean_and_error([run.worth for run in runs]),
        found=float(np.mean([run.found for run in runs])),
        confirmed=_mean(pooled("confirmed")),
        larger=_mean(pooled("share") > LARGER_HALF),
        significant=_mean(p <= SIGNIFICANT),
        inside=_mean((low <= true) & (true <= high)),
        width=_median(high - low),
        p_within_bound=_mean(p <= pooled("p_bound")),
        jaccard=_median(true),
        corrected=_median(pooled("corrected")),
        literals=_median(pooled("literals")),
        cpu=_median(np.array([run.cpu for run in runs])),
    )


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error, NaN for a single value.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(np.mean(values)), float(error)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if values.size else math.nan


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else math.nan


def ordered(
    summaries: Iterable[Summary], data: Sequence[str], algorithms: Sequence[str]
) -> list[Summary]:
    """Sort rows in the given orders, other rows last, and by decreasing ε.

    >>> runs = [Run("a", "twin", e, 1, "x", 0.5, 0.4) for e in ("0.1", "1")]
    >>> [one.epsilon for one in ordered(summarise_all(runs), ["a"], ["twin"])]
    ['1', '0.1']
    """

    def place(names: Sequence[str], name: str) -> tuple[int, str]:
        return (names.index(name), "") if name in names else (len(names), name)

    return sorted(
        summaries,
        key=lambda one: (
            place(data, one.data),
            -Fraction(one.epsilon),
            place(algorithms, one.algorithm),
        ),
    )


def markdown(summaries: Iterable[Summary]) -> str:
    """Return the table with its legend.

    >>> print(markdown(summarise_all([Run("a", "twin", "1", 1, "x", 0.5, 0.4)])).splitlines()[-1])
    | a | 1 | twin | 1 | 1 | 0.00 | – | – | 0.0 | – | – | – | – | – | – | – | – | – | 0.40 |
    """
    return f"{LEGEND}\n{Table(HEADS, [_texts(one) for one in summaries], texts=3).markdown()}\n"


def _texts(one: Summary) -> list[str]:
    """Return the texts of a row, – for missing values."""
    known = target_of(one.data, one.algorithm, one.epsilon)
    mean, error = one.worth
    return [
        *(one.data, one.epsilon, one.algorithm, str(one.runs), str(one.empty)),
        f"{mean:.2f}" if math.isnan(error) else f"{mean:.2f} ± {error:.2f}",
        *((f"{known.first:.2f}", f"{known.target:.2f}") if known else (NONE, NONE)),
        f"{one.found:.1f}",
        *map(_percent, (one.confirmed, one.larger, one.significant, one.inside)),
        shown(one.width),
        _percent(one.p_within_bound),
        *(shown(one.jaccard), shown(one.corrected), shown(one.literals, "g"), f"{one.cpu:.2f}"),
    ]


def _percent(share: float) -> str:
    return shown(100 * share, ".1f", " %")


def shown(value: float, how: str = ".2f", unit: str = "") -> str:
    """Return a number as text, – if there is none.

    >>> shown(math.nan)
    '–'
    """
    return NONE if math.isnan(value) else f"{value:{how}}{unit}"


ALGORITHMS = "twin,alt-expm,alt-mcmc,tree-pair"
EPSILONS = "1,0.1,0.01"
# Those that have targets, one more like them, and the largest, last.
DATA_SETS = "MAMMAL,CMS2,RWAS,NPAS-2016,NPAS,DIABETES,CMS-ALL"


def report(journal: Path, table: Path, subjects: Sequence[str], algorithms: Sequence[str]) -> None:
    """Write the table from all runs in the journal.

    >>> report(Path("nowhere.jsonl"), Path("a.md"), [], [])
    """
    summaries = ordered(summarise_all(read(journal)), subjects, algorithms)
    if not summaries:
        say(f"{journal}: no runs; nothing to report")
        return
    write_page(table, markdown(summaries))


def subjects_of(
    data: Path | None, only: Sequence[str], rows: Sequence[int], schema: SchemaChoice
) -> list[Subject]:
    """Return generated data of these sizes if there are any, or the data sets in the folder.

    >>> [subject.title for subject in subjects_of(None, ["noise", "survey"], [300], "draft")]
    ['noise, 300', 'survey, 300']
    """
    if rows:
        return worlds(only, rows)
    found, skipped = public_subjects(data, only or parts([DATA_SETS]), schema)
    for line in skipped:
        say(line, "yellow")
    return found


def main(  # noqa: PLR0913 - one argument per option
    data: Annotated[Path | None, typer.Argument(help="Folder of the data sets.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs per row.")] = 20,
    epsilon: Annotated[list[str] | None, typer.Option(help=f"Default: {EPSILONS}.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Data sets or generators, separated by commas; quote spaces."),
    ] = None,
    algorithms: Annotated[
        str,
        typer.Option(
            help="twin, or published algorithms; :hardened for the other profile, "
            "@2x3 for a depth of 2 and 3 repetitions."
        ),
    ] = ALGORITHMS,
    schema: Annotated[
        SchemaChoice, typer.Option(help="Drafted from the data, or declared without it.")
    ] = "draft",
    out: Annotated[Path, typer.Option(help="Folder of the journal.")] = Path("worth"),
    table: Annotated[Path | None, typer.Option(help="Default: OUT/worth.md.")] = None,
    limit_seconds: Annotated[
        float | None, typer.Option(help="Start no further run of a row after this time.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    generated: Annotated[  # noqa: FBT002 - Typer makes a flag of it
        bool, typer.Option("--generated", help="Use generated data instead of DATA.")
    ] = False,
    rows: Annotated[
        list[str] | None, typer.Option(help="Sizes of generated data. Default: 1000,5000.")
    ] = None,
) -> None:
    """Do the runs that are not in the journal yet, then write the table."""
    chosen = parts([algorithms])
    epsilons = tuple(parts(epsilon or [EPSILONS]))
    # Plans need no data: a misspelt name fails here and not after an hour.
    for name in chosen:
        for price in epsilons:
            redveil.plan(price, **settings_of(name, large=False))
    sizes = numbers(rows or ["1000,5000"]) if generated else []
    subjects = subjects_of(data, parts(only or []), sizes, schema)
    out.mkdir(parents=True, exist_ok=True)
    journal = out / ("generated.jsonl" if generated else "worth.jsonl")
    do_all(
        [
            Task(subject, name, epsilons, runs, limit_seconds, journal)
            for subject in subjects
            for name in chosen
        ],
        workers,
    )
    report(
        journal,
        table or journal.with_suffix(".md"),
        [subject.title for subject in subjects],
        chosen,
    )


if __name__ == "__main__":
    run_command(main)
