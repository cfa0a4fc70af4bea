"""The required budget that an empty result names, tried out by mining with it."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import numpy as np
import polars as pl
import pytest

import redveil
from redveil.algorithms.catalogue import make_algorithm
from redveil.data.dataset import Dataset
from redveil.findings.released_table import split_counts
from redveil.findings.reporting import Constraints, Reporting
from redveil.findings.required_budget import RARE_SHARE, Match, required_budget
from redveil.losses.loss import Loss
from redveil.mining import mine
from redveil.query.formula import attributes
from redveil.schema import Attribute, Kind, Schema, View
from support.seeded import SeededRandomness

FLAGS = 60
RUNS = 12


def planted(size: int, match: Match) -> Dataset:
    """Return a match among unrelated flags."""
    generator = np.random.default_rng(7)
    half, both = round(size * match.share), round(match.both(size))
    tables: list[pl.DataFrame] = []
    views: list[View] = []
    for side, first in (("left", 0), ("right", half - both)):
        columns = {f"{side} {i}": generator.random(size) < 0.5 for i in range(FLAGS)}
        columns[side] = (np.arange(size) >= first) & (np.arange(size) < first + half)
        flags = (Attribute(name, Kind.BOOLEAN, required=True) for name in columns)
        views.append(View(side, "id", tuple(flags)))
        tables.append(pl.DataFrame({"id": np.arange(size), **columns}))
    return redveil.load(tables[0], tables[1], Schema("planted", views[0], views[1]))


def found(dataset: Dataset, epsilon: Fraction) -> int:
    """Return in how many runs the planted pair was reported."""
    streams = count(1)

    def is_found() -> bool:
        mined = mine(
            dataset,
            make_algorithm(),
            Reporting(),
            Loss(epsilon),
            lambda _: SeededRandomness(next(streams)),
            workers=1,
        )
        return any("left" in attributes(one.left) for one in mined.findings.redescriptions)

    return sum(is_found() for _ in range(RUNS))


@pytest.mark.parametrize(
    ("size", "share", "less"),
    # What is rare may do with less: a shallower plan would have found it.
    [(1_500, 0.5, 2), (4_000, 0.5, 2), (12_000, 0.5, 2), (4_000, RARE_SHARE, 4)],
)
def test_what_is_said_to_suffice_does_and_a_part_of_it_does_not(
    size: int, share: float, less: int
) -> None:
    match = Match(0.5, share)
    dataset = planted(size, match)
    required = required_budget(
        lambda entities, price: make_algorithm().designs(dataset.schema, entities, price),
        Constraints(),
        split_counts(dataset.schema),
        size,
        Loss(Fraction(1, 200)),
        match,
    )
    enough = Fraction(required.epsilon).limit_denominator(10**4)
    assert found(dataset, enough) >= 9
    assert found(dataset, enough / less) <= 3
