"""What the default prints for public data sets.

    python -m redveil.experiments.lists DATA [--only MAMMAL,CMS2,RWAS] [--epsilon 1] [--table FILE]

Mines every data set once, with a schema that is declared without looking at the data, and writes
the lists that a reader would see.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Final

import typer

import redveil
from redveil.experiments.console import parts, run, say, tracked
from redveil.experiments.datasets import PublicData, find

WANTED: Final = "MAMMAL,CMS2,RWAS"
HOW_TO_READ: Final = """\
`!` is *not*, `&` is *and*, `|` is *or*. *left, both, right*: how many entities satisfy the left
query, both queries, and the right one. *Jaccard*: of those who satisfy either query, the share who
satisfy both. *corrected*: the same, but 0 if the queries have nothing to do with each other."""
# What a reader has to know about the data, besides the titles of its columns.
ABOUT: Final = {
    "MAMMAL": "Which species live in a cell of a map of Europe on the left, its climate on the "
    "right. Two taxa are called house mouse.",
    "CMS2": "Chronic conditions by year, and diagnoses during stays in hospital, on the left; on "
    "the right, who paid how much. Medicare pays for most; the patient has to pay the rest. The "
    "data is synthetic.",
    "RWAS": "Background on the left, answers to an online test on the right: 22 statements about "
    "authority and tradition, ten traits, and sixteen words, three of which do not exist.",
}


def listed(result: redveil.Result) -> str:
    """Return a result's list as a Markdown table, and what it says of all entries."""
    numbered = list(enumerate(result.redescriptions, start=1))
    lines = _rows([(number, one) for number, one in numbered if not one.detail])
    if details := [(number, one) for number, one in numbered if one.detail]:
        lines += ["", "These add detail to the entries above:", "", *_rows(details)]
    confirmed = sum(bool(one.confirmed) for one in result.redescriptions)
    total = len(result.redescriptions)
    others = "" if confirmed == total else "; the others are in brackets"
    return "\n".join([*lines, "", f"{confirmed} of {total} are confirmed{others}."])


def _rows(numbered: Iterable[tuple[int, Any]]) -> list[str]:
    """Return the lines of a table of redescriptions."""
    heads = "# | left | right | left, both, right | Jaccard [95 %] | corrected [95 %]"
    lines = [f"| {heads} |", "| ---: | --- | --- | ---: | ---: | ---: |"]
    for number, one in numbered:
        sizes = one.support.left, one.support.both, one.support.right
        cells = [
            str(number) if one.confirmed else f"({number})",
            *(_code(query.text) for query in (one.left, one.right)),
            ", ".join(f"{size.estimate:,.0f}" for size in sizes),
            _interval(one.jaccard.estimate, one.jaccard.low, one.jaccard.high),
            _interval(one.corrected.estimate, one.corrected.low, one.corrected.high),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def legend(result: redveil.Result) -> str:
    """Return what the names in a list mean, as far as the schema says."""
    listed = " ".join(f"{one.left.text} {one.right.text}" for one in result.redescriptions)
    attributes = result.document.attributes
    told = [
        f"- `{one.name}`: {one.title}"
        for one in (*attributes.left, *attributes.right)
        if one.title and (f"[{one.name}]" in listed or f"[{one.name} " in listed)
    ]
    return "\n".join(["What the names mean:", "", *told]) if told else ""


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
    about_it = ABOUT.get(data.name, "")
    intro = "\n".join(wrap(f"{about}, each one {data.unit}. {about_it}".rstrip(), 100))
    parts = [f"## {data.name}", intro, listed(result), legend(result)]
    return "\n\n".join(part for part in parts if part) + "\n"


def page(sections: Sequence[str], epsilon: str) -> str:
    """Return the lists as a page with a title.

    >>> print(page([], "1").splitlines()[0])
    # Lists that the default prints at ε = 1
    """
    return (
        f"# Lists that the default prints at ε = {epsilon}\n\n"
        "One run each, with a schema declared without looking at the data. Every run draws fresh "
        "noise, so\nanother run lists other pairs. Entries come in the order of what they add to "
        "those before them.\n\n"
        f"{HOW_TO_READ}\n\n" + "\n".join(sections)
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
