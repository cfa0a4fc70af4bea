"""What is listed, and what is confirmed, where there is nothing to find.

    python -m redveil_research.experiments.unrelated [--runs 100] [--epsilon 10,1,0.1,0.01]
        [--table FILE] …

Every run mines new data: generated views that are unrelated, or related ones whose rows are
shuffled. On such data a search finds pairs that are significant by themselves, because it has
looked at so many; nothing must be confirmed. Every finished run is a line of `OUT/unrelated.jsonl`;
run the command again to resume.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

import redveil
from redveil.seam.commands import say
from redveil_research.experiments.console import Table, numbers, parts, run, tracked, write_page
from redveil_research.experiments.judging import SIGNIFICANT
from redveil_research.experiments.runs import (
    RowKey,
    Run,
    append,
    newest,
    perform,
    read,
    settings_of,
)
from redveil_research.experiments.subjects import World

# The last three are shuffled.
KINDS: Final = ("noise", "gradients", "survey", "claims")
SIZES: Final = "700,3000,12000"
EPSILONS: Final = "10,1,0.1,0.01"
# The row of a run, and its number.
Done: TypeAlias = tuple[RowKey, int]


HEADS: Final = (
    *("data", "ε", "runs", "that list anything", "that confirm anything", "listed"),
    "with p ≤ 0.01",
)
Counts: TypeAlias = dict[tuple[str, str], tuple[int, ...]]


def counted(runs: Iterable[Run]) -> Counts:
    """Count runs by data and ε: those that list or confirm anything, and what they list.

    >>> counted([Run("noise, 700", "twin", "1", 1, "s", 0.5, 0.4)])
    {('noise, 700', '1'): (1, 0, 0, 0, 0)}
    """
    grouped: dict[tuple[str, str], list[Run]] = {}
    for one in runs:
        grouped.setdefault((one.data, one.epsilon), []).append(one)
    return {key: _counts(newest(group)) for key, group in grouped.items()}


def _counts(runs: Sequence[Run]) -> tuple[int, ...]:
    p_values = [p for one in runs for p in one.p_value]
    return (
        len(runs),
        sum(one.found > 0 for one in runs),
        sum(any(one.confirmed) for one in runs),
        len(p_values),
        # Significant in these very rows, by chance.
        sum(p <= SIGNIFICANT for p in p_values),
    )


def markdown(counts: Counts) -> str:
    """Return the table, and a sum.

    >>> print(markdown({("noise, 700", "1"): (100, 2, 0, 3, 3)}).splitlines()[-1])
    | all |  | 100 | 2 | 0 | 3 | 3 |
    """
    sums = tuple(map(sum, zip(*counts.values(), strict=True)))
    rows = [(*key, *map(str, row)) for key, row in (counts | {("all", ""): sums}).items()]
    return Table(HEADS, rows).markdown()


def page(counts: Counts, algorithm: str) -> str:
    """Return the table as a page with a title.

    >>> print(page({}, "twin").splitlines()[0])
    # What is found where there is nothing to find: twin
    """
    return (
        f"# What is found where there is nothing to find: {algorithm}\n\n"
        "Generated data whose views are unrelated, new data for every run. An entry can have a "
        "small\np-value in the rows at hand, because it was chosen among many; none must be "
        f"confirmed.\n\n{markdown(counts)}\n"
    )


def mine_anew(
    world: World, algorithm: str, epsilons: Sequence[str], done: Collection[Done], journal: Path
) -> None:
    """Mine one world at every ε at which it has not been mined yet.

    The number of a run is the seed of its data.
    """
    rows = [(world.title, algorithm, epsilon) for epsilon in epsilons]
    missing = [row for row in rows if (row, world.seed) not in done]
    if not missing:
        return
    loaded = world.load()
    for row in missing:
        one = perform(loaded, *row, world.seed, large=world.large)
        append(journal, one)
        if any(one.confirmed):
            say(f"{world.title}, ε = {row[2]}, run {world.seed}: something is confirmed", "red")


def main(
    algorithm: Annotated[str, typer.Option(help="As in the worth experiment.")] = "twin",
    runs: Annotated[int, typer.Option(min=1, help="Runs per row.")] = 100,
    epsilon: Annotated[list[str] | None, typer.Option(help=f"Default: {EPSILONS}.")] = None,
    only: Annotated[list[str] | None, typer.Option(help=f"Default: {','.join(KINDS)}.")] = None,
    sizes: Annotated[list[str] | None, typer.Option(help=f"Default: {SIZES}.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the journal.")] = Path("unrelated"),
    table: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Mine unrelated data and print how often anything was listed or confirmed."""
    prices = parts(epsilon or [EPSILONS])
    for price in prices:
        redveil.plan(price, **settings_of(algorithm, large=False))
    out.mkdir(parents=True, exist_ok=True)
    journal = out / "unrelated.jsonl"
    done = {(one.row, one.number) for one in read(journal)}
    # All kinds and sizes once, then again: an experiment that is stopped early tells of all.
    kinds = [(name, size) for name in parts(only or KINDS) for size in numbers(sizes or [SIZES])]
    for number in tracked(range(1, runs + 1), "mining"):
        for name, size in kinds:
            world = World(name, size, number, unrelated=name != "noise")
            mine_anew(world, algorithm, prices, done, journal)
    counts = counted(one for one in read(journal) if one.algorithm == algorithm)
    typer.echo(markdown(counts))
    write_page(table, page(counts, algorithm))


if __name__ == "__main__":
    run(main)
