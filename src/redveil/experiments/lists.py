"""What the default prints for public data sets.

    python -m redveil.experiments.lists DATA [--only MAMMAL,CMS2,RWAS] [--epsilon 1] [--table FILE]

Mines every data set once, with a schema that is declared without looking at the data, and writes
the lists that a reader would see.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Final

import typer

import redveil
from redveil.experiments.console import parts, run, say, tracked
from redveil.experiments.datasets import PublicData, find

WANTED: Final = "MAMMAL,CMS2,RWAS"
# What a reader has to know about the names, from public descriptions of the data.
NAMES: Final = {
    "MAMMAL": "Species on the left, climate on the right: `t1-`, `t1~`, `t1+` are January's daily "
    "minimum, mean and maximum temperature in °C, `p1~` is its precipitation in mm; 2 is February, "
    "and so on. Two taxa are called house mouse.",
    "CMS2": "Chronic conditions by year (`chr_`) and diagnoses in hospital (`dx_`: 7.1 "
    "hypertension, 7.2 diseases of the heart, 10.1 diseases of the urinary system) on the left; on "
    "the right dollars paid by Medicare (`MEDREIMB`) and owed by the beneficiary (`BENRES`) for "
    "inpatient (`IP`), outpatient (`OP`) and physicians' (`CAR`) services, and sums over "
    "inpatient claims (`IPCLM`). The data is synthetic.",
    "RWAS": "Background on the left (education from 1, less than high school, to 4, graduate "
    "degree), answers on the right: `Q1` to `Q22` are statements about authority and tradition, "
    "rated from 1, strongly disagree, to 9, strongly agree; `VCL1` to `VCL16` are words that a "
    "respondent claims to know, of which three do not exist; `TIPI` are ten items about "
    "personality, rated from 1 to 7.",
}


def listed(result: redveil.Result) -> str:
    """Return a result's list as a Markdown table, and what it says of all entries."""
    heads = "# | left | right | left, both, right | Jaccard [95 %] | corrected [95 %]"
    lines = [f"| {heads} |", "| ---: | --- | --- | ---: | ---: | ---: |"]
    for number, one in enumerate(result.redescriptions, start=1):
        sizes = one.support.left, one.support.both, one.support.right
        cells = [
            str(number) if one.confirmed else f"({number})",
            *(_code(query.text) for query in (one.left, one.right)),
            ", ".join(f"{size.estimate:,.0f}" for size in sizes),
            _interval(one.jaccard.estimate, one.jaccard.low, one.jaccard.high),
            _interval(one.corrected.estimate, one.corrected.low, one.corrected.high),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    confirmed = sum(bool(one.confirmed) for one in result.redescriptions)
    total = len(result.redescriptions)
    others = "" if confirmed == total else "; the others are in brackets"
    return "\n".join([*lines, "", f"{confirmed} of {total} are confirmed{others}."])


def _interval(estimate: float, low: float, high: float) -> str:
    return f"{estimate:.2f} [{low:.2f}, {high:.2f}]"


def _code(text: str) -> str:
    r"""Return a query as code in a cell of a table.

    >>> _code("[a] | [b]")
    '`[a] \\| [b]`'
    """
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`"


def section(data: PublicData, result: redveil.Result) -> str:
    """Return a data set's list under its name."""
    size = result.document.entities
    about = f"About {size.estimate:,.0f} entities (noisy)" if size else "Entities"
    names = NAMES.get(data.name, "")
    intro = "\n".join(wrap(f"{about}, each one {data.unit}. {names}".rstrip(), 100))
    return f"## {data.name}\n\n{intro}\n\n{listed(result)}\n"


def page(sections: Sequence[str], epsilon: str) -> str:
    """Return the lists as a page with a title.

    >>> print(page([], "1").splitlines()[0])
    # Lists that the default prints at ε = 1
    """
    return (
        f"# Lists that the default prints at ε = {epsilon}\n\n"
        "One run each, with a schema declared without looking at the data. Every run draws fresh "
        "noise, so\nanother run lists other pairs. Entries come in the order of what they add to "
        "those before them.\n\n" + "\n".join(sections)
    )


def main(
    data: Annotated[Path, typer.Argument(help="The folder with the public data sets.")],
    only: Annotated[list[str] | None, typer.Option(help=f"Default: {WANTED}.")] = None,
    epsilon: Annotated[str, typer.Option(help="The price of each run.")] = "1",
    table: Annotated[Path | None, typer.Option(help="Write the lists to this file.")] = None,
) -> None:
    """Mine public data sets once each and print the lists."""
    wanted = [find(name) for name in parts(only or [WANTED])]
    sections = [
        section(one, redveil.mine(one.load(data), epsilon)) for one in tracked(wanted, "mining")
    ]
    typer.echo("\n".join(sections))
    if table:
        table.write_text(page(sections, epsilon), encoding="utf-8")
        say(f"written to {table}")


if __name__ == "__main__":
    run(main)
