"""The whole story on one screen: from a sealed data set to redescriptions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, count
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.alternation import alternate
from redveil.algorithms.parameters import Algorithm, Parameters, Profile
from redveil.algorithms.published import ObservedTargets, observed_dataset
from redveil.algorithms.schedule import SIZE_STEP, stages
from redveil.algorithms.size import private_size
from redveil.algorithms.targets import attribute_target
from redveil.algorithms.tree_pair import walk_pair_trial
from redveil.algorithms.trial import Targets, Trial
from redveil.algorithms.tuning import tune, tuned_plan
from redveil.algorithms.twin import grow_all_twins
from redveil.data.binning import bin_table
from redveil.data.dataset import Dataset
from redveil.findings.findings import Mined, interpret
from redveil.findings.leaf_table import LeafTable
from redveil.privacy.loss import Price
from redveil.privacy.plan import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released, within
from redveil.trees.rules import HARDENED, published
from redveil.trees.splits import Splits
from redveil.trees.twin import Soil
from redveil.trees.walks import Ground
from redveil.waiting import awaited

Progress = Callable[[float], None]
Sources = Callable[[int], Randomness]
Work = Callable[[], list[Released[LeafTable]]]


def run(
    dataset: Dataset,
    parameters: Parameters,
    price: Price,
    sources: Sources,
    progress: Progress = lambda _: None,
    workers: int | None = None,
) -> Mined:
    """Plan, pay, grow, count; then extract, prune and rank what was released.

    price:    ε, or ρ for a run with (ε, δ).
    sources:  makes each trial's own stream of randomness, given its number; 0 is the size's.
    progress: called with the share of stages done, which follows the plan and not the data.
    workers:  threads, 1 being the caller's own; results depend on the streams, not on them.
    """
    declared, rules = dataset.schema, HARDENED
    targets: Targets = attribute_target
    if parameters.profile is Profile.PUBLISHED:
        dataset, rules = observed_dataset(dataset), published(parameters.variance_threshold)
        targets = ObservedTargets(dataset.table)
    schema = dataset.schema
    packed = within(partial(bin_table, schema=schema), dataset.table)
    if parameters.auto:
        size = private_size(packed, price, sources(0))
        parameters = tune(parameters, schema, size, price)
    plan = tuned_plan(parameters, price)
    # The size, if it was asked for, is paid for already.
    purse = Purse(step for step in plan.steps if step.name != SIZE_STEP)
    stop = np.zeros(1, dtype=np.uint8)
    splits = {side: Splits.of(schema.view(side)) for side in Side}
    ground = Ground.of(packed, splits, stop, rules, sets=parameters.needs_sets)
    soil = Soil.of(packed, ground.sets, splits, stop) if parameters.needs_soil else None
    trial = partial(Trial, data=packed, schema=schema, ground=ground, soil=soil, targets=targets)
    told = _in_turns(progress, stages(parameters))
    ready = partial(trial, parameters=parameters, purse=purse, progress=told)
    released = _together(_work(parameters, ready, sources), stop, workers)
    assert purse.is_empty, "every step of the plan is paid for exactly once"
    return interpret(declared, schema, parameters, plan, released)


def _work(parameters: Parameters, ready: Callable[..., Trial], sources: Sources) -> list[Work]:
    """Return the trials as independent pieces of work; twins are one, for each knows the last."""
    if parameters.algorithm is Algorithm.TWIN:
        return [partial(grow_all_twins, ready(number=1, randomness=sources(1)))]
    work = walk_pair_trial if parameters.algorithm is Algorithm.TREE_PAIR else alternate
    return [
        partial(work, ready(number=number, randomness=sources(number)))
        for number in range(1, parameters.trials + 1)
    ]


def _together(
    pieces: Sequence[Work], stop: NDArray[np.uint8], workers: int | None
) -> list[Released[LeafTable]]:
    """Do all pieces of work on threads, and return what they released, in their order."""
    if workers == 1:
        # A run on a handful of entities is over before a thread has begun.
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
    """Return what tells of one more stage. Threads take turns, so that the share only grows."""
    one_at_a_time, done = Lock(), count(1)

    def report() -> None:
        with one_at_a_time:
            progress(next(done) / last)

    return report
