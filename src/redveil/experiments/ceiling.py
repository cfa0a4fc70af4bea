"""What there would be to say without noise: the best list of plain pairs, read off the true rows.

    python -m redveil.experiments.ceiling DATA [--only MAMMAL,RWAS] [--entries 12] [--table FILE]

Every pair of one literal from each view is a candidate, with the cut points of the schema. The list
is greedy: the next entry is the one that adds the most worth. A second list takes only pairs of
which neither query covers more than half of the entities. NOT private.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

import redveil
from redveil.experiments.console import parts, run, say, tracked
from redveil.experiments.judging import PER_LITERAL, entropy
from redveil.experiments.rows import Rows
from redveil.experiments.subjects import Loaded, SchemaChoice, public_subjects

DATA_SETS: Final = "MAMMAL,CMS2,RWAS,NPAS-2016,DIABETES"
# Rows beyond this many are thinned out evenly: indices and entropies change little.
MOST_ROWS: Final = 20_000
# Rare literals are left out: what they tell is next to nothing.
FEWEST: Final = 30
# So many candidates with the largest indices are tried for every entry.
TRIED: Final = 400

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The worth of the greedy list, of any pairs and of those of smaller halves."""

    data: str
    entries: int
    any_half: float
    smaller_half: float


def literals(attribute: Any) -> Iterator[dict[str, Any]]:
    """Yield the literals of an attribute of a schema, as JSON.

    >>> from redveil.data.synthetic import clinic_schema
    >>> [one["op"] for one in literals(clinic_schema().left.attributes[0])][:2]
    ['<=', '>']
    """
    if attribute.kind == "boolean":
        pairs: list[tuple[str, Any]] = [("=", True), ("=", False)]
    elif attribute.kind == "categorical":
        pairs = [(op, label) for label in attribute.categories for op in ("=", "!=")]
    else:
        values = attribute.cuts or attribute.categories[:-1]
        pairs = [(op, value) for value in values for op in ("<=", ">")]
    for op, value in pairs:
        yield {"attribute": attribute.name, "op": op, "value": value}


def supports(view: Any, rows: Rows) -> Bools:
    """Return who satisfies each literal of a view, bool[literals, entities]."""
    declared = {one.name: one for one in view.attributes}
    step = max(-(-rows.count // MOST_ROWS), 1)
    found = [
        rows.answers(literal, declared).yes[::step]
        for attribute in view.attributes
        for literal in literals(attribute)
    ]
    every: Bools = np.array(found, dtype=np.bool_).reshape(len(found), -(-rows.count // step))
    counts = every.sum(axis=1)
    common: Bools = every[(counts >= FEWEST) & (counts < every.shape[1])]
    return common


def corrected(left: Bools, right: Bools) -> tuple[Floats, Floats]:
    """Return the corrected indices of all pairs, and the larger support as a share.

    >>> half = np.array([[True, True, False, False]])
    >>> [float(one[0, 0]) for one in corrected(half, half)]
    [1.0, 0.5]
    """
    entities = left.shape[1]
    both = (left.astype(np.float32) @ right.astype(np.float32).T).astype(np.float64) / entities
    one, other = left.mean(axis=1)[:, None], right.mean(axis=1)[None]
    chance = one * other
    expected = chance / (one + other - chance)
    index = both / (one + other - both)
    return (index - expected) / (1 - expected), np.maximum(one, other)


def greedy(left: Bools, right: Bools, values: Floats, entries: int) -> float:
    """Return the worth of a list that is made one best entry after the other.

    values: what each pair is worth if nothing is known, float64[left, right]

    >>> half = np.array([[True, True, False, False]])
    >>> round(greedy(half, half, np.array([[1.0]]), 3), 4)
    1.0
    """
    told: Integers = np.zeros(left.shape[1], np.int64)
    total = 0.0
    for _ in range(entries):
        known, best, chosen = entropy(told), 0.0, None
        for place in np.argsort(-values, axis=None, kind="stable")[:TRIED].tolist():
            i, j = divmod(place, values.shape[1])
            if values[i, j] <= best:
                break
            says = 2 * left[i].astype(np.int64) + right[j]
            after = np.unique(4 * told + says, return_inverse=True)[1].astype(np.int64)
            value = values[i, j] * (entropy(after) - known) / max(entropy(says), 1e-12)
            if value > best:
                best, chosen = float(value), (i, j, after)
        if chosen is None:
            break
        total += best
        told = chosen[2]
        values = values.copy()
        values[chosen[:2]] = -1.0
    return total


def ceiling(title: str, loaded: Loaded, entries: int) -> Ceiling:
    """Return what the best lists of so many entries are worth."""
    schema = loaded.dataset.schema
    left, right = supports(schema.left, loaded.views[0]), supports(schema.right, loaded.views[1])
    index, half = corrected(left, right)
    values = np.maximum(index, 0.0) * PER_LITERAL**2
    smaller = np.where(half <= 0.5, values, -1.0)
    worths = [greedy(left, right, some, entries) for some in (values, smaller)]
    return Ceiling(title, entries, *worths)


def page(found: list[Ceiling]) -> str:
    """Return the ceilings as a page.

    >>> print(page([Ceiling("A", 12, 2.0, 1.5)]).splitlines()[-1])
    | A | 12 | 2.00 | 1.50 |
    """
    lines = [
        "# What there would be to say without noise",
        "",
        "The worth of a greedy list of pairs of one literal each, chosen on the true rows with the",
        "cut points of a draft schema. *smaller halves* takes only pairs of which neither query",
        "covers more than half of the entities.",
        "",
        "| data | entries | any pairs | smaller halves |",
        "| --- | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {one.data} | {one.entries} | {one.any_half:.2f} | {one.smaller_half:.2f} |"
        for one in found
    ]
    return "\n".join(lines)


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the data sets.")],
    only: Annotated[list[str] | None, typer.Option(help=f"Default: {DATA_SETS}.")] = None,
    entries: Annotated[int, typer.Option(min=1, help="Length of the lists.")] = 12,
    schema: Annotated[SchemaChoice, typer.Option(help="Whose cut points.")] = "draft",
    table: Annotated[Path | None, typer.Option(help="Write the page to this file.")] = None,
) -> None:
    """Make the best lists that the true rows allow. NOT private."""
    subjects, skipped = public_subjects(data, parts(only or [DATA_SETS]), schema)
    for line in skipped:
        say(line, "yellow")
    if not subjects:
        raise redveil.InputError(f"{data}: none of the data sets is there")
    found = [ceiling(one.title, one.load(), entries) for one in tracked(subjects, "data sets")]
    typer.echo(page(found))
    if table:
        table.write_text(f"{page(found)}\n", encoding="utf-8")
        say(f"written to {table}")


if __name__ == "__main__":
    run(main)
