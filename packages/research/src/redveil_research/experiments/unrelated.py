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
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

import redveil
from redveil.seam.commands import say
from redveil_research.experiments.console import numbers, parts, run, tracked
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


@dataclass(frozen=True, slots=True)
class Row:
    """How many runs listed or confirmed anything.

    by_chance: of the entries listed, how many are significant in these very rows
    """

    data: str
    epsilon: str
    runs: int
    listing: int
    confirming: int
    listed: int
    by_chance: int


def rows_of(runs: Iterable[Run]) -> list[Row]:
    """Summarise runs by data and ε.

    >>> rows_of([Run("noise, 700", "twin", "1", 1, "s", 0.5, 0.4)])[0].listing
    0
    """
    grouped: dict[tuple[str, str], list[Run]] = {}
    for one in runs:
        grouped.setdefault((one.data, one.epsilon), []).append(one)
    return [_row(key, newest(group)) for key, group in grouped.items()]


def _row(key: tuple[str, str], runs: Sequence[Run]) -> Row:
    p_values = [p for one in runs for p in one.p_value]
    return Row(
        *key,
        runs=len(runs),
        listing=sum(one.found > 0 for one in runs),
        confirming=sum(any(one.confirmed) for one in runs),
        listed=len(p_values),
        by_chance=sum(p <= SIGNIFICANT for p in p_values),
    )


def markdown(rows: Sequence[Row]) -> str:
    """Return the table, and a sum.

    >>> print(markdown([Row("noise, 700", "1", 100, 2, 0, 3, 3)]))
    | data | ε | runs | that list anything | that confirm anything | listed | with p ≤ 0.01 |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: |
    | noise, 700 | 1 | 100 | 2 | 0 | 3 | 3 |
    | all | | 100 | 2 | 0 | 3 | 3 |
    """
    heads = "runs | that list anything | that confirm anything | listed | with p ≤ 0.01"
    lines = [f"| data | ε | {heads} |", f"| --- | {' | '.join(['---:'] * 6)} |"]
    lines += [f"| {row.data} | {row.epsilon} | {_counts([row])} |" for row in rows]
    return "\n".join([*lines, f"| all | | {_counts(rows)} |"])


def _counts(rows: Sequence[Row]) -> str:
    sums = (
        sum(getattr(row, name) for row in rows)
        for name in ("runs", "listing", "confirming", "listed", "by_chance")
    )
    return " | ".join(str(one) for one in sums)


def page(rows: Sequence[Row], algorithm: str) -> str:
    """Return the table as a page with a title.

    >>> print(page([], "twin").splitlines()[0])
    # What is found where there is nothing to find: twin
    """
    return (
        f"# What is found where there is nothing to find: {algorithm}\n\n"
        "Generated data whose views are unrelated, new data for every run. An entry can have a "
        "small\np-value in the rows at hand, because it was chosen among many; none must be "
        f"confirmed.\n\n{markdown(rows)}\n"
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
    rows = rows_of(one for one in read(journal) if one.algorithm == algorithm)
    typer.echo(markdown(rows))
    if table:
        table.write_text(page(rows, algorithm), encoding="utf-8")
        say(f"written to {table}")


if __name__ == "__main__":
    run(main)
