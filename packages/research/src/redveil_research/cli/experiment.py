"""`redveil experiment` and `redveil prepare`: published experiments, and public data for them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from redveil import InputError
from redveil.seam.commands import display, say

if TYPE_CHECKING:
    from redveil_research.experiments.paper.conduct import Experiment
    from redveil_research.preparation.prepared import Prepared


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
    from redveil_research.experiments.paper.conduct import chosen

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
    from redveil_research.experiments.paper.conduct import EXPERIMENTS

    rows = [(one.name, one.place, one.title) for one in EXPERIMENTS]
    rows.append((PAPER, "all of them", "every table and figure"))
    display(Listing(("name", "in the paper", "what"), rows).rich())


def _show(experiments: Sequence[Experiment], out: Path) -> None:
    """Print the table of a single experiment."""
    if len(experiments) == 1 and experiments[0].table is not None:
        typer.echo((out / f"{experiments[0].name}.md").read_text(encoding="utf-8"))


DatasetName = Literal["cms", "npas", "mammals", "mimic"]


def prepare(
    name: Annotated[
        DatasetName, typer.Argument(metavar="NAME", help="cms, npas, mammals or mimic.")
    ],
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="Folder with the publisher's files.")],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for left.csv, right.csv and their schema.")
    ],
    segments: Annotated[
        int | None, typer.Option(help="cms: how many of the 16 segments [default: all]")
    ] = None,
) -> None:
    """Turn the raw files of a public data set into two views and a schema."""
    from redveil_research.preparation.prepared import must_be_free

    if segments is not None and name != "cms":
        raise InputError(f"--segments does nothing for {name}; leave it out")
    if segments is not None and not 1 <= segments <= 16:
        raise InputError("--segments must be a whole number from 1 to 16")
    must_be_free(out)
    prepared = _prepared(name, raw, segments)
    prepared.write(out)
    for note in prepared.notes:
        say(f"owner only: {note}", "dim")
    left, right = prepared.schema.left.attributes, prepared.schema.right.attributes
    say(f"written to {out}: {len(left)} left and {len(right)} right attributes")


def _prepared(name: DatasetName, raw: Path, segments: int | None) -> Prepared:
    """Prepare a data set."""
    module = import_module(f"redveil_research.preparation.{name}")
    options = {} if segments is None else {"segments": segments}
    prepared: Prepared = getattr(module, f"prepare_{name}")(raw, **options)
    return prepared
