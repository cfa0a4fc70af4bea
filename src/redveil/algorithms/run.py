"""A run: from a sealed data set to released leaf tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from threading import Lock

from redveil.algorithms.algorithm import Algorithm, size_step
from redveil.algorithms.trial import Trial
from redveil.counting.prepared import PreparedData, splits_of
from redveil.data.binning import bin_table
from redveil.data.dataset import Dataset
from redveil.findings.leaf_table import LeafTable
from redveil.losses.loss import Price
from redveil.losses.plan import Plan
from redveil.privacy.mechanisms import count as noisy_count
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Schema
from redveil.sealed import within
from redveil.waiting import run_all

Progress = Callable[[float], None]
Sources = Callable[[int], Randomness]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a run released, and how. In the hardened profile, nothing in it is private.

    declared:  the schema as the owner declared it
    schema:    the schema whose splits the trees are made of: the declared one without the
               attributes that are left out; the published profile takes its cut points from the
               data
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
    # Each stream is made once: a scout and the trial after it share theirs.
    stream = cache(sources or (lambda _: profile.randomness()))
    # What is left out of the schema is left out of the binned table, and so of every choice.
    observed = profile.observed(dataset.under(algorithm.steering.applied(dataset.schema)))
    schema = observed.schema
    data = prepared(observed)
    purse = Purse(price)
    size = 0
    if algorithm.auto:
        size = private_size(data, purse, price, stream(0))
        algorithm = algorithm.tuned(schema, size, price)
    targets = profile.targets(observed)
    purse.plan_ahead(algorithm.scout_steps(algorithm.after_size(price)))
    required = algorithm.steering.required
    early = Trial(1, data, targets, purse, stream(1), lambda: None, required)
    scouted = algorithm.run_scout(early)
    if scouted is not None:
        algorithm = algorithm.informed(schema, size, price, scouted)
    plan = algorithm.plan(price)
    purse.commit(plan)
    stage_done = _in_turns(progress, algorithm.stages)

    def trial(number: int) -> Trial:
        return Trial(number, data, targets, purse, stream(number), stage_done, required, scouted)

    work = algorithm.work(trial)
    # A run on a handful of entities is over before a thread has started.
    done = [piece() for piece in work] if workers == 1 else run_all(work, data.halt, workers)
    purse.close()
    tables = tuple(table.value for released in done for table in released)
    return Run(dataset.origin.declared, schema, algorithm, plan, tables)


def prepared(dataset: Dataset) -> PreparedData:
    """Prepare a data set, wherever its rows are."""
    schema = dataset.schema
    if dataset.elsewhere is not None:
        splits = splits_of(schema)
        return PreparedData.asking(dataset.elsewhere.counts(schema, splits), schema, splits)
    return PreparedData.of(schema, within(partial(bin_table, schema=schema), dataset.table))


def private_size(data: PreparedData, purse: Purse, price: Price, randomness: Randomness) -> int:
    """Return the noisy number of entities for its share of a run's price; it can be negative."""
    step = size_step(price)
    purse.plan_ahead([step])
    receipt = purse.pay(step.key, step.mechanism)
    return int(noisy_count(data.size(), receipt, randomness).value[0])


def _in_turns(progress: Progress, last: int) -> Callable[[], None]:
    """Return a function that reports one more stage. Threads take turns: the share only grows."""
    one_at_a_time, done = Lock(), count(1)

    def report() -> None:
        with one_at_a_time:
            progress(next(done) / last)

    return report
