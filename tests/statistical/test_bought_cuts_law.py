"""Bought cut points against their exact law, summed over every possible noisy histogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from redveil.algorithms.cut_points import CutPointRequest, bought_cuts, even_cuts, smoothed
from redveil.data.table import NumericColumn, Table
from redveil.privacy.loss import laplace_variance
from redveil.schema import Attribute, Kind, Side
from redveil.sealed import Sealed
from support.seeded import SeededRandomness
from support.surprise import FALSE_ALARM, surprise

GRID = (0.0, 1.0)
COST = Attribute("cost", Kind.NUMERIC, minimum=0, maximum=2, cuts=GRID)
EPSILON = Fraction(3, 2)
# One value for each of the three bins.
VALUES = (0.0, 0.5, 2.0)
# Noisy counts beyond these have a total probability of about 10^-4.
NOISY = np.arange(-7, 10)
Counts = tuple[int, ...]


@dataclass(frozen=True)
class Outcomes:
    """The outcome of each noisy histogram, as a number: int64[noisy, noisy, noisy]."""

    cuts: list[tuple[float, ...]]
    places: NDArray[np.int64]

    def law(self, counts: Counts) -> dict[Hashable, float]:
        """Add up the probabilities of all noisy histograms that lead to the same cut points."""
        decay = np.exp(-float(EPSILON))
        chances = [(1 - decay) / (1 + decay) * decay ** np.abs(NOISY - x) for x in counts]
        joint = np.einsum("i,j,k->ijk", *chances)
        sums = np.bincount(self.places.ravel(), joint.ravel(), len(self.cuts))
        return dict(zip(self.cuts, sums.tolist(), strict=True))


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    variance = laplace_variance(EPSILON)
    made = [
        tuple(GRID[i] for i in even_cuts(smoothed(np.array(counts, float), variance), 1))
        for counts in product(NOISY.tolist(), repeat=3)
    ]
    cuts = sorted(set(made))
    return Outcomes(cuts, np.array([cuts.index(one) for one in made]).reshape([NOISY.size] * 3))


def test_cut_points_follow_the_law(outcomes: Outcomes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redveil.algorithms.cut_points.fine_grid", lambda _: GRID)
    counts, source = (1, 0, 3), SeededRandomness(3)
    values = np.array([*np.repeat(VALUES, counts), np.nan])
    table = Sealed(Table(values.size, {}, {"cost": NumericColumn(COST, values)}))
    seen: Counter[Hashable] = Counter(
        bought_cuts(table, [CutPointRequest(Side.RIGHT, COST)], 1, EPSILON, source)[0]
        for _ in range(2000)
    )
    law = outcomes.law(counts)
    assert len(law) == 2
    assert sum(law.values()) == pytest.approx(1, abs=1e-4)
    assert surprise(seen, law) > FALSE_ALARM
    # The same draws do not pass for those of other data.
    assert surprise(seen, outcomes.law((3, 0, 1))) < FALSE_ALARM


def test_one_entity_moves_the_law_by_no_more_than_its_price(outcomes: Outcomes) -> None:
    largest = 0.0
    for counts in product(range(3), repeat=3):
        before = outcomes.law(counts)
        for added in range(3):
            after = outcomes.law(tuple(c + (i == added) for i, c in enumerate(counts)))
            losses = [abs(np.log(after[cuts] / before[cuts])) for cuts in before]
            largest = max(largest, *losses)
    assert largest <= float(EPSILON) + 1e-3
    # If the cut points hardly depended on the data, the test above would show nothing.
    assert largest > float(EPSILON) / 4
