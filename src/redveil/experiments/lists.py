"""What the default prints for public data sets.

    python -m redveil.experiments.lists DATA [--only MAMMAL,CMS2,RWAS] [--epsilon 1] [--table FILE]

Mines every data set once, with a schema that is declared without looking at the data, and writes
the lists that a reader would see.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

import redveil
from redveil.experiments.console import parts, run, say, tracked
from redveil.experiments.datasets import PublicData, find

WANTED: Final = "MAMMAL,CMS2,RWAS"


def listed(result: redveil.Result) -> str:
    """Return a result's list as a Markdown table."""
    heads = "# | left | right | Jaccard [95 %] | corrected | in both | confirmed"
    lines = [f"| {heads} |", "| ---: | --- | --- | ---: | ---: | ---: | --- |"]
    for number, one in enumerate(result.redescriptions, start=1):
        j = one.jaccard
        cells = [
            str(number),
            *(_code(query.text) for query in (one.left, one.right)),
            f"{j.estimate:.2f} [{j.low:.2f}, {j.high:.2f}]",
            f"{one.corrected.estimate:.2f}" if one.corrected else "",
            f"{one.support.both.estimate:,.0f}",
            "yes" if one.confirmed else "no",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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
    about = f" of about {size.estimate:,.0f}" if size else ""
    return f"## {data.name}\n\nEach entity is one {data.unit}{about}.\n\n{listed(result)}\n"


def page(sections: Sequence[str], epsilon: str) -> str:
    """Return the lists as a page with a title.

    >>> print(page([], "1").splitlines()[0])
    # Lists that the default prints at ε = 1
    """
    return (
        f"# Lists that the default prints at ε = {epsilon}\n\n"
        "One run each, with a schema declared without looking at the data. Every run draws fresh\n"
        "noise, so another run lists other pairs.\n\n" + "\n".join(sections)
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
