"""A run: from a sealed data set to released leaf tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.algorithm import Algorithm, Work, size_step
from redveil.algorithms.trial import Trial
from redveil.data.binning import BinnedTable, bin_table
from redveil.data.dataset import Dataset
from redveil.findings.leaf_table import LeafTable
from redveil.privacy.loss import Price
from redveil.privacy.mechanisms import count as noisy_count
from redveil.privacy.plan import Plan, Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Schema
from redveil.sealed import Released, Sealed, within
from redveil.trees.prepared import PreparedData
from redveil.waiting import awaited

Progress = Callable[[float], None]
Sources = Callable[[int], Randomness]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a run released, and how. Nothing in it is private.

    declared:  the schema as the owner declared it
    schema:    the schema whose splits the trees are made of: the declared one, except in the
               published profile, which takes its cut points from the data
    algorithm: the algorithm as it was tuned
    """

    declared: Schema
    schema: Schema
    algorithm: Algorithm
    plan: Plan
    tables: tuple[LeafTable, ...]


def run(
    dataset: Dataset,
    algorithm: Algorithm,
    price: Price,
    sources: Sources | None = None,
    progress: Progress = lambda _: None,
    workers: int | None = None,
) -> Run:
    """Pay for the size and tune, commit the plan, then grow trees and measure leaf tables.

    price:    ε, or ρ for a run with (ε, δ)
    sources:  makes each trial's own stream of randomness, given its number; 0 is the size's
    progress: called with the share of stages done, which follows the plan and not the data
    workers:  threads, 1 being the caller's own; results depend on the streams, not on threads
    """
    profile = algorithm.profile
    stream = sources or (lambda _: profile.randomness())
    observed = profile.observed(dataset)
    schema = observed.schema
    table = within(partial(bin_table, schema=schema), observed.table)
    purse = Purse(price)
    if algorithm.auto:
        size = private_size(table, purse, price, stream(0))
        algorithm = algorithm.tuned(schema, size, price)
    plan = algorithm.plan(price)
    purse.commit(plan)
    data = PreparedData.of(schema, table, algorithm.needs)
    targets, stage_done = profile.targets(observed), _in_turns(progress, algorithm.stages)

    def trial(number: int) -> Trial:
        return Trial(number, data, targets, purse, stream(number), stage_done)

    released = _together(algorithm.work(trial), data.stop, workers)
    purse.close()
    return Run(dataset.schema, schema, algorithm, plan, tuple(one.value for one in released))


def private_size(
    table: Sealed[BinnedTable], purse: Purse, price: Price, randomness: Randomness
) -> int:
    """Return the noisy number of entities for its share of a run's price; it can be negative."""
    receipt = purse.pay_ahead(size_step(price))
    true_count = within(lambda binned: np.array([binned.rows]), table)
    return int(noisy_count(true_count, receipt, randomness).value[0])


def _together(
    pieces: Sequence[Work], stop: NDArray[np.uint8], workers: int | None
) -> list[Released[LeafTable]]:
    """Do all pieces of work on threads, and return what they released, in their order."""
    if workers == 1:
        # A run on a handful of entities is over before a thread has started.
        return list(chain.from_iterable(piece() for piece in pieces))
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(piece) for piece in pieces]
        try:
            return [table for future in futures for table in awaited(future)]
        except BaseException:
            # Ctrl-C, or a failed trial: walks look at the flag before every step.
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_turns(progress: Progress, last: int) -> Callable[[], None]:
    """Return a function that reports one more stage. Threads take turns: the share only grows."""
    one_at_a_time, done = Lock(), count(1)

    def report() -> None:
        with one_at_a_time:
            progress(next(done) / last)

    return report
