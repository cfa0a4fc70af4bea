"""What lists are worth: the default and the published algorithms, on all data sets, at several ε.

    python -m redveil_research.experiments.worth DATA [--runs 20] [--epsilon 1,0.1,0.01]
        [--only MAMMAL,RWAS] [--algorithms twin,alt-mcmc,…] [--schema declared] [--out DIR]
    python -m redveil_research.experiments.worth --generated [--rows 1000,5000] …

DATA is the folder of the data sets (see `datasets.py`); those that are not there are skipped. Every
finished run is a line of `OUT/worth.jsonl`; run the command again to resume. The table is
made from all lines. For data that is not sensitive: the journal contains true values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import redveil
from redveil_research.experiments.console import numbers, parts, say
from redveil_research.experiments.console import run as run_command
from redveil_research.experiments.runs import read, settings_of
from redveil_research.experiments.series import Task, do_all
from redveil_research.experiments.subjects import SchemaChoice, Subject, public_subjects, worlds
from redveil_research.experiments.worth_table import markdown, ordered, summarise_all

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
    table.write_text(markdown(summaries), encoding="utf-8")
    say(f"written to {table}")


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
