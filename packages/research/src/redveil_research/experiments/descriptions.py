"""How well `describe` answers: single attributes of a public data set, at several ε.

    python -m redveil_research.experiments.descriptions DATA [--runs 20] [--epsilon 1,0.3,0.1,0.03]
        [--table FILE]

Four species of MAMMAL are described by the climate. The best answer of every list is judged on the
true rows, so the output is NOT private.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Final

import typer

import redveil
from redveil.seam.commands import say
from redveil_research.experiments.console import NONE, Table, parts, run, tracked, write_page
from redveil_research.experiments.judging import judge
from redveil_research.experiments.subjects import Loaded, public_subjects

DATA_SET: Final = "MAMMAL"
GIVEN: Final = ("Moose", "Stoat", "Beech Marten", "Wood mouse")
EPSILONS: Final = "1,0.3,0.1,0.03"


def described(
    loaded: Loaded, epsilon: str, runs: int, given: Sequence[str] = GIVEN
) -> tuple[str, ...]:
    """Describe each attribute so many times, and return a row of the table."""
    best: list[float] = []
    confirmed = 0
    for name in given:
        for _ in range(runs):
            result = redveil.describe(loaded.dataset, f"[{name}]", epsilon=epsilon, ledger=None)
            answers = judge(result, loaded.views)
            if answers:
                best.append(max(one.corrected for one in answers))
            confirmed += any(one.confirmed for one in result)
    done = runs * len(given)
    mean = f"{fmean(best):.2f}" if best else NONE
    return epsilon, f"{done}", f"{done - len(best)}", mean, f"{100 * confirmed / done:.0f} %"


def page(rows: Sequence[Sequence[str]]) -> str:
    """Return the table with a title.

    >>> page([]).splitlines()[0]
    '# How well questions are answered'
    """
    heads = ("ε", "runs", "empty", "best", "confirmed")
    return f"""# How well questions are answered

`describe` with {", ".join(f"`[{name}]`" for name in GIVEN[:-1])} and `[{GIVEN[-1]}]` of MAMMAL as
given queries, with a draft schema. *best* is the true corrected index of the best answer of a run,
the mean over all runs that have an answer. *confirmed*: the share of runs with a confirmed answer.
Written by
`python -m redveil_research.experiments.descriptions DATA --table docs/evidence/descriptions.md`.

{Table(heads, rows, texts=0).markdown()}
"""


def main(
    data: Annotated[Path, typer.Argument(help="The folder with the public data sets.")],
    runs: Annotated[int, typer.Option(min=1, help="Runs per attribute and ε.")] = 60,
    epsilon: Annotated[list[str] | None, typer.Option(help=f"Default: {EPSILONS}.")] = None,
    table: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Describe four species by the climate, and judge the answers."""
    found, skipped = public_subjects(data, [DATA_SET], "draft")
    for line in skipped:
        say(line, "yellow")
    if not found:
        return
    loaded = found[0].load()
    asked = tracked(parts(epsilon or [EPSILONS]), "describing")
    text = page([described(loaded, one, runs) for one in asked])
    typer.echo(text)
    write_page(table, text)


if __name__ == "__main__":
    run(main)
