"""Whole trials on small tables: with a purse that records, and randomness without noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.targets import attribute_target
from redveil.algorithms.trial import Trial
from redveil.counting.local import LocalCounts
from redveil.counting.prepared import PreparedData, splits_of
from redveil.data.binning import bin_table
from redveil.data.table import Table
from redveil.findings.leaf_table import LeafTable
from redveil.losses.loss import Price
from redveil.losses.plan import Mechanism, Plan, StepKey
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Schema
from redveil.sealed import Receipt, Released, Sealed
from support.seeded import SeededRandomness


class NoiselessRandomness(SeededRandomness):
    """Chooses at random, counts without noise."""

    def laplace(self, _epsilon: Fraction, count: int) -> NDArray[np.int64]:
        """Return no noise at all."""
        return np.zeros(count, dtype=np.int64)

    def gaussian(self, rho: Fraction, count: int) -> NDArray[np.int64]:
        """Return no noise at all."""
        return self.laplace(rho, count)


class RecordingPurse(Purse):
    """A purse for one plan that records what it paid for."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.price)
        self.commit(plan)
        self.paid: list[StepKey] = []

    def pay(self, key: StepKey, mechanism: Mechanism) -> Receipt:
        """Pay, and record the step."""
        self.paid.append(key)
        return super().pay(key, mechanism)


@dataclass(frozen=True)
class Trials:
    """What all trials of an algorithm released, what paid for it, and how often they reported."""

    tables: list[Released[LeafTable]]
    purse: RecordingPurse
    stages: int


def run_trials(
    table: Table,
    schema: Schema,
    algorithm: Algorithm,
    price: Price,
    randomness: Randomness,
    stop_after: int | None = None,
    block_entities: int | None = None,
) -> Trials:
    """Run all trials one after the other, with one stream of randomness.

    stop_after:    after so many stages, somebody presses Ctrl-C
    block_entities: entities are counted in blocks of this many
    """
    purse = RecordingPurse(algorithm.plan(price))
    splits = splits_of(schema)
    counts = LocalCounts(Sealed(bin_table(table, schema)), splits, block_entities)
    data = PreparedData.asking(counts, schema, splits)
    reports: list[int] = []

    def progress() -> None:
        reports.append(len(purse.paid))
        data.stop[0] = len(reports) == stop_after

    required = algorithm.steering.required
    early = Trial(1, data, attribute_target, purse, randomness, lambda: None, required)
    scouted = algorithm.run_scout(early)

    def trial(number: int) -> Trial:
        return replace(early, number=number, progress=progress, scouted=scouted)

    tables = [one for piece in algorithm.work(trial) for one in piece()]
    return Trials(tables, purse, len(reports))
