"""For the data's owner only: does the walk settle on this data? NOT private; nothing is charged."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.alternation import random_attribute
from redveil.algorithms.convergence import effective_sample_size, split_rhat
from redveil.algorithms.parameters import Algorithm, PairScore, Parameters, Profile
from redveil.algorithms.published import observed_dataset
from redveil.algorithms.schedule import make_plan
from redveil.algorithms.targets import Target, attribute_target
from redveil.data.binning import bin_table
from redveil.data.dataset import Dataset
from redveil.errors import InputError
from redveil.kernels.chain import WORDS_PER_STEP
from redveil.privacy.loss import Price, choice_epsilon
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.schema import Side
from redveil.sealed import open_for_owner, within
from redveil.trees.rules import HARDENED, NO_STOP, published
from redveil.trees.splits import Splits
from redveil.trees.walks import Ground, Walked, random_splits, run_pair, run_tree
from redveil.waiting import awaited

# Fewer independent scores than this say little about where a chain would go.
ENOUGH = 400
FEWEST_STEPS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """How some parallel walks went. NOT private.

    rhat should be below 1.01, and effective, the number of independent scores that all walks are
    worth together, at least 400; traces: float64[walks, steps] are the scores.
    """

    rhat: float
    effective: float
    acceptance: float
    traces: NDArray[np.float64]

    @property
    def settled(self) -> bool:
        """Whether the second halves of the walks look alike."""
        return self.rhat < 1.01 and self.effective >= ENOUGH

    def lines(self) -> list[str]:
        """Return the diagnosis as lines for the owner."""
        walks, steps = self.traces.shape
        verdict = (
            "settled" if self.settled else "NOT settled: walk longer, or use an exact algorithm"
        )
        return [
            f"{walks} walks of {steps} steps: {verdict}",
            f"split-R̂ {self.rhat:.4f} (below 1.01 is good), over the second halves",
            f"effective sample size {self.effective:,.0f} of {walks * (steps - steps // 2):,}",
            f"acceptance rate {self.acceptance:.1%}",
            f"score at the end {np.median(self.traces[:, -1]):,.2f} (median), "
            f"at the start {np.median(self.traces[:, 0]):,.2f}",
        ]


def diagnose(
    dataset: Dataset,
    parameters: Parameters,
    price: Price,
    walks: int = 4,
    attribute: tuple[Side, int] | None = None,
) -> Diagnosis:
    """Run parallel walks from random starts at a run's rate, and compare their scores. NOT private.

    The walks are those of the first tree or pair of a run with these parameters. `attribute` is
    the initial target, if there is one to be: its view and number, random if not given.

    >>> from fractions import Fraction
    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(300), clinic_schema())
    >>> parameters = Parameters(algorithm=Algorithm.TREE_PAIR, depth=1, steps=400)
    >>> diagnose(dataset, parameters, Fraction(1)).traces.shape
    (4, 400)
    """
    if not parameters.walks:
        raise InputError("nothing walks here; diagnose tree-pair, or alt-mcmc with sampler = walk")
    if parameters.steps < FEWEST_STEPS:
        raise InputError(f"steps must be at least {FEWEST_STEPS} for a diagnosis")
    if walks < 2:
        raise InputError("walks must be at least 2, to be compared")
    rules = HARDENED
    if parameters.profile is Profile.PUBLISHED:
        # The published rules without their early stop, so that all walks have one length.
        dataset, rules = observed_dataset(dataset), published(NO_STOP)
    schema = dataset.schema
    packed = within(partial(bin_table, schema=schema), dataset.table)
    splits = {side: Splits.of(schema.view(side)) for side in Side}
    stop = np.zeros(1, dtype=np.uint8)
    ground = Ground.of(packed, splits, stop, rules)
    steps = make_plan(parameters, price).steps
    paid = next(step.price for step in steps if step.mechanism == "walk")
    side, number = attribute or random_attribute(schema, SystemRandomness())
    target = attribute_target(packed, schema, side, number)
    one = partial(_walk, ground, parameters, paid, side.other, target)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(one, SystemRandomness()) for _ in range(walks)]
        try:
            done = [awaited(future) for future in futures]
        except BaseException:
            # Ctrl-C: walks look at the flag before every step.
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    traces = np.array([walked.trace for walked in done])
    late = traces[:, parameters.steps // 2 :]
    return Diagnosis(
        split_rhat(late),
        effective_sample_size(late),
        float(np.mean([walked.accepted for walked in done])) / parameters.steps,
        traces,
    )


def _walk(
    ground: Ground,
    parameters: Parameters,
    price: Price,
    side: Side,
    target: Target,
    randomness: Randomness,
) -> Walked:
    """Run one walk on the opened data."""
    steps, depth = parameters.steps, parameters.depth
    words = randomness.words(steps * WORDS_PER_STEP).reshape(steps, WORDS_PER_STEP)
    people = open_for_owner(ground.everybody)
    sets = {one: open_for_owner(ground.sets[one]) for one in Side}
    start = {one: random_splits(ground.splits[one], depth, randomness) for one in Side}
    if parameters.algorithm is Algorithm.ALT_MCMC:
        rate = float(ground.rules.tree.rate(choice_epsilon(price)))
        classes = open_for_owner(target.classes)
        return run_tree(
            start[side], target.number, words, rate, ground, sets[side], people, classes
        )
    rows = open_for_owner(ground.rows)
    free = parameters.pair_score is PairScore.ASSOCIATION
    score = ground.rules.association if free else ground.rules.pair
    classes = np.full(rows, -1, np.int32) if free else open_for_owner(target.classes)
    return run_pair(
        [start[side], start[side.other]],
        0 if free else target.number,
        words,
        float(score.rate(choice_epsilon(price))),
        ground,
        sets[side],
        sets[side.other],
        people,
        rows,
        classes,
    )
