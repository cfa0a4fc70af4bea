"""`redveil experiment`: the paper's tables and figures, made again on public data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil import InputError
from redveil.seam.commands import display, say

if TYPE_CHECKING:
    from redveil_research.experiments.paper.catalogue import Experiment

LIST, PAGE, PAPER = "list", "page", "paper"


def experiment(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="list, paper for all, page, or one of the list.")
    ],
    data: Annotated[
        Path | None, typer.Option(help="Folder of the public data sets.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the journal and of what is made.")] = Path(
        "experiments"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="Three data sets and few runs: minutes, not days.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Count runs of other versions of the source, too."),
    ] = False,
    page: Annotated[
        Path, typer.Option(help="page: the file to write; figures go to evidence/ beside it.")
    ] = Path("docs/experiments.md"),
) -> None:
    """Make the paper's tables and figures again, on public data. NOT PRIVATE.

    Every finished run is a line of OUT/journal.jsonl. If it is interrupted, run it again: it goes
    on where it stopped.

    redveil experiment paper --data DATA --quick
    """
    from redveil_research.experiments.paper.catalogue import chosen

    if name == LIST:
        _show_list()
        return
    experiments = chosen(PAPER if name == PAGE else name)
    if data is None:
        raise InputError("no data; name the folder of the public data sets with --data")
    from redveil_research.experiments.paper.conduct import conduct, leave

    done = conduct(experiments, data, out, quick=quick, workers=workers, same_code=not keep)
    command = f"redveil experiment {name} --data DATA" + (" --quick" if quick else "")
    leave(done, experiments, command)
    if name == PAGE:
        from redveil_research.experiments.paper.page import write_page

        write_page(done, page)
        say(f"written to {page}")
    else:
        _show(experiments, out)


def _show_list() -> None:
    """Print every table and figure with its name."""
    from redveil.seam.results import Listing
    from redveil_research.experiments.paper.catalogue import EXPERIMENTS

    rows = [(one.name, one.place, one.title) for one in EXPERIMENTS]
    rows.append((PAPER, "all of them", "every table and figure"))
    display(Listing(("name", "in the paper", "what"), rows).rich())


def _show(experiments: Sequence[Experiment], out: Path) -> None:
    """Print the table of a single experiment."""
    if len(experiments) == 1 and experiments[0].table is not None:
        typer.echo((out / f"{experiments[0].name}.md").read_text(encoding="utf-8"))
