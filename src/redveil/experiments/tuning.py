"""The evidence for the tuning rule: trees of several shapes on generated data, judged by worth.

    python -m redveil.experiments.tuning [--algorithm twin] [--runs 3] [--table FILE] …

Needs no data: the rule must not be fitted to the data sets that it is judged by. Every generator
runs at several sizes, strengths, seeds and ε, with fixed shapes and as the rule decides. The table
has a row for each world, with what the rule went by: its strength s and what its scout saw. Every
finished run is a line of `OUT/ALGORITHM.jsonl`; run the command again to resume.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

import redveil
from redveil.experiments.console import numbers, parts, run, say
from redveil.experiments.runs import Run, newest, read, settings_of
from redveil.experiments.series import Task, do_all
from redveil.experiments.subjects import World
from redveil.experiments.worth_table import mean_and_error, shown

# Each generator as it is, and with weakly related views.
STRENGTHS: Final = {
    "gradients": (None, 0.4),
    "survey": (None, 0.35),
    "claims": (None, 0.4),
    "markers": (None, 0.5),
}
SIZES: Final = "300,700,1500,3000,6000,12000,30000"
SHAPES: Final = {
    "twin": "1x1,1x2,1x3,1x5,2x1,2x3,2x6,2x12,3x1,3x3,3x8",
    "alt-expm": "1x0,1x1,2x1,2x2",
    "alt-mcmc": "1x0,1x1,2x1,2x2",
}
SEEDS: Final = (1, 2)
RULE: Final = "rule"


@dataclass(frozen=True, slots=True)
class Row:
    """One world at one ε, over all seeds and runs: what each shape was worth, and the rule.

    strength: the s of the rule; NaN if no number of entities was bought
    related:  what its scout saw; NaN if there was none
    decided:  the shapes that the rule chose, the most frequent first
    worths:   mean and standard error by shape, and of the rule
    empty:    the share of empty runs by shape, and of the rule
    """

    data: str
    epsilon: str
    runs: int
    strength: float
    related: float
    decided: tuple[str, ...]
    worths: dict[str, tuple[float, float]]
    empty: dict[str, float]

    @property
    def best(self) -> str:
        """The fixed shape of the largest worth.

        >>> Row("a", "1", 1, 1.0, 0.1, (), {"1x1": (0.2, 0.1), "rule": (0.4, 0.1)}, {}).best
        '1x1'
        """
        fixed = {shape: worth for shape, worth in self.worths.items() if shape != RULE}
        return max(fixed, key=lambda shape: fixed[shape][0], default="")


def rows_of(runs: Iterable[Run], base: str, shapes: Sequence[str]) -> list[Row]:
    """Summarise runs by world and ε, in the order in which worlds appear.

    base:   the algorithm without a shape
    shapes: the fixed shapes of the table; runs of other shapes are left out

    >>> done = [Run("a", f"twin{x}", "1", 1, "s", 0.5, 0.4, "1×1") for x in ("", "@1x1")]
    >>> rows_of(done, "twin", ["1x1"])[0].worths
    {'1x1': (0.0, nan), 'rule': (0.0, nan)}
    """
    grouped: dict[tuple[str, str], dict[str, list[Run]]] = {}
    for one in runs:
        shape = _shape_of(one, base)
        if shape in (*shapes, RULE):
            grouped.setdefault((one.data, one.epsilon), {}).setdefault(shape, []).append(one)
    return [
        _row(world, {shape: newest(runs) for shape, runs in by_shape.items()}, shapes)
        for world, by_shape in grouped.items()
    ]


def _shape_of(one: Run, base: str) -> str:
    if one.algorithm == base:
        return RULE
    name, _, shape = one.algorithm.partition("@")
    return shape if name == base else ""


def _row(world: tuple[str, str], by_shape: dict[str, list[Run]], shapes: Sequence[str]) -> Row:
    present = [shape for shape in (*shapes, RULE) if shape in by_shape]
    ruled = by_shape.get(RULE, [])
    decided = [one.shape for one in ruled]
    return Row(
        *world,
        runs=max(len(runs) for runs in by_shape.values()),
        strength=_mean(one.strength for one in ruled),
        # Without a scout, a pair of depth 1 saw the whole price's worth; the rule saw nothing.
        related=_mean(one.related for one in ruled if one.shape != "1×1"),
        decided=tuple(sorted(set(decided), key=lambda shape: (-decided.count(shape), shape))),
        worths={shape: mean_and_error([r.worth for r in by_shape[shape]]) for shape in present},
        empty={shape: float(np.mean([r.found == 0 for r in by_shape[shape]])) for shape in present},
    )


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else math.nan


def markdown(rows: Iterable[Row], shapes: Sequence[str]) -> str:
    """Return the table for the documentation.

    >>> row = Row("claims, 300", "1", 6, 310.0, math.nan, ("1×1",),
    ...           {"1x1": (0.61, 0.1), "rule": (0.5, 0.1)}, {"1x1": 0.0, "rule": 0.5})
    >>> print(markdown([row], ["1x1"]))
    | data | ε | runs | s | scout | rule | worth | 1x1 | best |
    | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |
    | claims, 300 | 1 | 6 | 310 | – | 1×1 | 0.50 (50 %) | 0.61 | 1x1 |
    """
    heads = ["data", "ε", "runs", "s", "scout", "rule", "worth", *shapes, "best"]
    texts = {"data", "rule", "best"}
    lines = [
        "| " + " | ".join(heads) + " |",
        "| " + " | ".join("---" if head in texts else "---:" for head in heads) + " |",
    ]
    lines += ["| " + " | ".join(_texts(row, shapes)) + " |" for row in rows]
    return "\n".join(lines)


def _texts(row: Row, shapes: Sequence[str]) -> list[str]:
    return [
        row.data,
        row.epsilon,
        str(row.runs),
        shown(row.strength, ".0f"),
        shown(row.related, ".3f"),
        ", ".join(row.decided),
        *(_worth(row, shape) for shape in (RULE, *shapes)),
        row.best,
    ]


def _worth(row: Row, shape: str) -> str:
    """Return a shape's mean worth, with the share of empty runs if there are any."""
    if shape not in row.worths:
        return "–"
    empty = row.empty[shape]
    return f"{row.worths[shape][0]:.2f}" + (f" ({100 * empty:.0f} %)" if empty else "")


def summary(rows: Sequence[Row]) -> str:
    """Return the mean worth of the rule and of the best fixed shape of each world.

    >>> row = Row("a", "1", 2, 1.0, 0.1, (), {"1x1": (0.5, 0.1), "rule": (0.4, 0.1)}, {"rule": 0.5})
    >>> summary([row])
    'Mean over 1 worlds: the rule 0.40, the best fixed shape of each 0.50. Empty: 50.0 % of runs.'
    """
    compared = [row for row in rows if RULE in row.worths and row.best]
    if not compared:
        return "No world was mined both by the rule and with a fixed shape."
    rule = np.mean([row.worths[RULE][0] for row in compared])
    best = np.mean([row.worths[row.best][0] for row in compared])
    empty = np.mean([row.empty[RULE] for row in compared])
    return (
        f"Mean over {len(compared)} worlds: the rule {rule:.2f}, the best fixed shape of each "
        f"{best:.2f}. Empty: {100 * empty:.1f} % of runs."
    )


def page(rows: Sequence[Row], algorithm: str, shapes: Sequence[str]) -> str:
    """Return the table as a page with a title.

    >>> print(page([], "twin", []).splitlines()[0])
    # All rows of the tuning experiment: twin
    """
    return (
        f"# All rows of the tuning experiment: {algorithm}\n\n"
        "Generated data; a number after a name is the strength, where it is not the usual one. The"
        "\ncolumns are mean worth, with the share of empty runs if there are any: of the rule\n"
        "(*worth*), and of fixed shapes, depth x repetitions. *s* and *scout* are what the rule "
        "went by,\n*rule* what it chose. *best* is the best fixed shape; with a few runs each, "
        f"take it loosely.\n\n{summary(rows)}\n\n{markdown(rows, shapes)}\n"
    )


def tasks_of(
    base: str,
    shapes: Sequence[str],
    sizes: Sequence[int],
    epsilons: tuple[str, ...],
    runs: int,
    journal: Path,
) -> list[Task]:
    """Return the work, world by world, so that each is generated once.

    >>> len(tasks_of("twin", ["1x1"], [300], ("1",), 1, Path("a.jsonl")))
    32
    """
    kinds = [(name, one) for name, strengths in STRENGTHS.items() for one in strengths]
    return [
        # Seeds share a row of the table, so their runs have different numbers.
        Task(World(name, size, seed, strength), algorithm, epsilons, runs, None, journal, first)
        for name, strength in kinds
        for size in sizes
        for first, seed in zip(range(1, 1 + runs * len(SEEDS), runs), SEEDS, strict=True)
        for algorithm in (base, *(f"{base}@{shape}" for shape in shapes))
    ]


def main(
    algorithm: Annotated[str, typer.Option(help="twin, alt-expm or alt-mcmc")] = "twin",
    runs: Annotated[int, typer.Option(min=1, help="Runs per seed.")] = 3,
    sizes: Annotated[list[str] | None, typer.Option(help=f"Default: {SIZES}.")] = None,
    epsilon: Annotated[list[str] | None, typer.Option(help="Default: 1,0.1.")] = None,
    shapes: Annotated[
        list[str] | None, typer.Option(help="Depth x repetitions, as in 1x1,2x3.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the journal.")] = Path("tuning"),
    table: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
) -> None:
    """Mine all generated data with all shapes and by the rule, and print the table."""
    if algorithm not in SHAPES:
        raise redveil.InputError(f"no shapes for this algorithm; use one of {', '.join(SHAPES)}")
    fixed = parts(shapes or [SHAPES[algorithm]])
    prices = tuple(sorted(parts(epsilon or ["1,0.1"]), key=Fraction, reverse=True))
    base = algorithm if algorithm == "twin" else f"{algorithm}:hardened"
    for shape in fixed:
        redveil.plan(1, **settings_of(f"{base}@{shape}", large=False))
    out.mkdir(parents=True, exist_ok=True)
    journal = out / f"{algorithm}.jsonl"
    do_all(tasks_of(base, fixed, numbers(sizes or [SIZES]), prices, runs, journal), workers)
    rows = rows_of(read(journal), base, fixed)
    typer.echo(f"{summary(rows)}\n\n{markdown(rows, fixed)}")
    if table:
        table.write_text(page(rows, algorithm, fixed), encoding="utf-8")
        say(f"written to {table}")


if __name__ == "__main__":
    run(main)
