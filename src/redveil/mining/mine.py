"""The whole story on one screen: from a sealed data set to redescriptions."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import chain, count
from threading import Lock

import numpy as np

from redveil.data.binning import bin_table
from redveil.data.dataset import Dataset
from redveil.mining.alternation import alternate
from redveil.mining.interpretation import Mined, interpret
from redveil.mining.parameters import Algorithm, Parameters, Profile
from redveil.mining.published import ObservedTargets, observed_dataset
from redveil.mining.schedule import make_plan, stages
from redveil.mining.targets import attribute_target
from redveil.mining.tree_pair import walk_pair_trial
from redveil.mining.trial import Targets, Trial
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import within
from redveil.trees.rules import HARDENED, published
from redveil.trees.splits import Splits
from redveil.trees.walks import Ground

Progress = Callable[[float], None]
Sources = Callable[[int], Randomness]


def run(
    dataset: Dataset,
    parameters: Parameters,
    epsilon: Fraction,
    sources: Sources,
    progress: Progress = lambda _: None,
    workers: int | None = None,
) -> Mined:
    """Plan, pay, grow, count; then extract, prune and rank what was released.

    sources:  makes each trial's own stream of randomness, given its number.
    progress: called with the share of stages done, which follows the plan and not the data.
    workers:  threads; the result depends on the streams, not on their number.
    """
    declared, plan, rules = dataset.schema, make_plan(parameters, epsilon), HARDENED
    targets: Targets = attribute_target
    if parameters.profile is Profile.PUBLISHED:
        dataset, rules = observed_dataset(dataset), published(parameters.variance_threshold)
        targets = ObservedTargets(dataset.table)
    schema = dataset.schema
    purse, last, done = plan.purse(), stages(parameters), count(1)
    one_at_a_time = Lock()

    def report() -> None:
        """Tell of one more stage. Threads take turns, so that the share only grows."""
        with one_at_a_time:
            progress(next(done) / last)

    packed = within(partial(bin_table, schema=schema), dataset.table)
    stop = np.zeros(1, dtype=np.uint8)
    splits = {side: Splits.of(schema.view(side)) for side in Side}
    ground = Ground.of(packed, splits, stop, rules, walks=parameters.algorithm.uses_walks)
    work = walk_pair_trial if parameters.algorithm is Algorithm.TREE_PAIR else alternate
    trials = [
        Trial(
            number,
            packed,
            schema,
            ground,
            parameters,
            purse,
            sources(number),
            report,
            targets,
        )
        for number in range(1, parameters.trials + 1)
    ]
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(work, trial) for trial in trials]
        try:
            released = list(chain.from_iterable(future.result() for future in futures))
        except BaseException:
            # Ctrl-C, or a failed trial: walks look at the flag before every step.
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    assert purse.is_empty, "every step of the plan is paid for exactly once"
    return interpret(declared, schema, parameters, plan, released)
