"""What `redveil plan --detect` says, tried out by mining: above the limit, and far below it."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import numpy as np
import polars as pl
import pytest

import redveil
from redveil.algorithms.catalogue import make_algorithm
from redveil.data.dataset import Dataset
from redveil.findings.detection import SHARES
from redveil.findings.reporting import Reporting
from redveil.findings.required_budget import Match
from redveil.findings.statistics import expected_jaccard
from redveil.losses.loss import Loss
from redveil.mining import mine
from redveil.query.formula import attributes
from redveil.schema import Attribute, Kind, Schema, View
from support.seeded import SeededRandomness

FLAGS = 60
RUNS = 12
MOST = 10


def schema_of(names: dict[str, list[str]]) -> Schema:
    views = [
        View(side, "id", tuple(Attribute(one, Kind.BOOLEAN, required=True) for one in listed))
        for side, listed in names.items()
    ]
    return Schema("planted", views[0], views[1])


NAMES = {side: [*(f"{side} {i}" for i in range(FLAGS)), side] for side in ("left", "right")}


def planted(size: int, match: Match) -> Dataset:
    """Return a match among unrelated flags, each true of half of the entities."""
    generator = np.random.default_rng(7)
    each, both = round(size * match.share), round(match.both(size))
    tables: list[pl.DataFrame] = []
    for side, first in (("left", 0), ("right", each - both)):
        columns = {name: generator.random(size) < 0.5 for name in NAMES[side][:-1]}
        columns[side] = (np.arange(size) >= first) & (np.arange(size) < first + each)
        tables.append(pl.DataFrame({"id": np.arange(size), **columns}))
    return redveil.load(tables[0], tables[1], schema_of(NAMES))


def confirmed(dataset: Dataset, epsilon: Fraction) -> int:
    """Return in how many runs the planted pair was reported and confirmed."""
    streams, wanted = count(1), make_algorithm()

    def is_confirmed() -> bool:
        source = (SeededRandomness(next(streams)) for _ in count())
        mined = mine(dataset, wanted, Reporting(), Loss(epsilon), lambda _: next(source), workers=1)
        return any(
            one.confirmed and "left" in attributes(one.left) and "right" in attributes(one.right)
            for one in mined.findings.redescriptions
        )

    return sum(is_confirmed() for _ in range(RUNS))


@pytest.mark.parametrize(
    ("size", "epsilon", "word"),
    [
        (2_000, "0.3", "common"),
        (2_000, "0.3", "medium"),
        (10_000, "0.05", "common"),
        (10_000, "0.2", "rare"),
    ],
)
def test_what_is_above_the_limit_is_confirmed_and_what_is_far_below_is_not(
    size: int, epsilon: str, word: str
) -> None:
    said = redveil.detectable(epsilon, size, schema_of(NAMES))
    [here] = [one for one in said.detections if one.loss == Loss(Fraction(epsilon))]
    limit = here.limits[word].confirmed
    assert limit is not None
    by_chance = expected_jaccard(SHARES[word], SHARES[word], 1)
    # By the corrected index: 1.3 to 1.9 times the limit, and a third of it. At the limit itself,
    # noise decides.
    above = Match(limit.jaccard + 0.15 * (1 - limit.jaccard), limit.share)
    below = Match(by_chance + limit.corrected / 3 * (1 - by_chance), limit.share)
    assert confirmed(planted(size, above), Fraction(epsilon)) >= MOST
    assert confirmed(planted(size, below), Fraction(epsilon)) <= RUNS - MOST
