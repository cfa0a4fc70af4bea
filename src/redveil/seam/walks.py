"""Walks that are watched by who owns the data. NOT private; nothing is charged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.targets import Target, random_attribute
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.counting.prepared import PreparedData
from redveil.data.binning import bin_table
from redveil.data.dataset import Dataset, must_be_here, must_be_loaded, must_have_values
from redveil.errors import InputError
from redveil.growing.rules import NO_STOP, Rules
from redveil.growing.walks import Walked, random_splits, run_pair, run_tree
from redveil.kernels.chain import WORDS_PER_STEP
from redveil.losses.loss import Price, choice_epsilon, parse_epsilon
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.schema import Schema, Side
from redveil.sealed import open_for_owner, within
from redveil.waiting import run_all

__all__ = ["FEWEST_WALK_STEPS", "walked", "walking"]

FEWEST_WALK_STEPS: Final = 100


def walking(
    algorithm: str, epsilon: str | float | Fraction, walks: int, **parameters: Any
) -> tuple[Algorithm, Price]:
    """Return an algorithm that walks, and its price; refuse what cannot be diagnosed.

    >>> walking("tree-pair", 1, walks=1)
    Traceback (most recent call last):
    redveil.errors.InputError: walks must be at least 2, so that they can be compared
    """
    # At small depths alt-mcmc would draw exactly, and there would be nothing to diagnose.
    if algorithm == "alt-mcmc":
        parameters["sampler"] = "walk"
    wanted = make_algorithm(algorithm, **parameters)
    if not wanted.walks:
        raise InputError("this algorithm runs no Markov chain; diagnose tree-pair or alt-mcmc")
    if wanted.walk_length < FEWEST_WALK_STEPS:
        raise InputError(f"walk_steps must be at least {FEWEST_WALK_STEPS} for a diagnosis")
    if walks < 2:
        raise InputError("walks must be at least 2, so that they can be compared")
    return wanted, parse_epsilon(epsilon)


def walked(
    dataset: Dataset, algorithm: Algorithm, price: Price, walks: int, target: str | None = None
) -> list[Walked]:
    """Return how parallel walks from random starts went: those of a run's first tree or pair.

    Early stopping is left out, so that all walks have one length.

    target: the attribute that is the initial target, if the algorithm has one; random by default
    """
    must_be_here(must_be_loaded(dataset, "diagnose"), "diagnose")
    if algorithm.profile.needs_values:
        must_have_values(dataset, f"the {algorithm.profile.name} profile")
    observed = algorithm.profile.observed(dataset)
    schema = observed.schema
    data = PreparedData.of(schema, within(partial(bin_table, schema=schema), observed.table))
    paid = next(step.price for step in algorithm.plan(price).steps if step.mechanism == "walk")
    side, number = _attribute(schema, target)
    predicted = algorithm.profile.targets(observed)(data, side, number)
    one = partial(_walk, data, algorithm, paid, side.other, predicted)
    return run_all([partial(one, SystemRandomness()) for _ in range(walks)], data.halt)


def _attribute(schema: Schema, name: str | None) -> tuple[Side, int]:
    """Return the side and number of an attribute, or of a random one."""
    if name is None:
        return random_attribute(schema, SystemRandomness())
    for side in Side:
        names = schema.view(side).names
        if name in names:
            return side, names.index(name)
    raise InputError(f"target {name}: no attribute of that name in either view")


def _walk(
    data: PreparedData,
    algorithm: Algorithm,
    price: Price,
    side: Side,
    target: Target,
    randomness: Randomness,
) -> Walked:
    """Run one walk on the opened data."""
    walk_steps, depth, rules = algorithm.walk_length, algorithm.depth, _never_stopping(algorithm)
    words = randomness.words(walk_steps * WORDS_PER_STEP).reshape(walk_steps, WORDS_PER_STEP)
    entities = open_for_owner(data.here.entities)
    sets = {one: open_for_owner(data.sets(one)) for one in Side}
    start = {one: random_splits(data.splits[one], depth, randomness) for one in Side}
    epsilon = choice_epsilon(price)
    if not isinstance(algorithm, TreePair):
        return run_tree(
            start[side],
            target.number,
            words,
            float(rules.tree.rate(epsilon)),
            rules,
            data.stop,
            sets[side],
            entities,
            open_for_owner(data.classes(target.labels)),
        )
    free = algorithm.pair_score is PairScore.ASSOCIATION
    rows = open_for_owner(data.here.rows)
    return run_pair(
        [start[side], start[side.other]],
        0 if free else target.number,
        words,
        float((rules.association if free else rules.pair).rate(epsilon)),
        rules,
        data.stop,
        sets[side],
        sets[side.other],
        entities,
        np.full(rows, -1, np.int32) if free else open_for_owner(data.classes(target.labels)),
    )


def _never_stopping(algorithm: Algorithm) -> Rules:
    return replace(algorithm.profile.rules, window=0, threshold=NO_STOP)
