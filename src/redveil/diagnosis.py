"""For the data owner only: do walks converge on this data? NOT private; nothing is charged."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.names import (
    CountsName,
    PairScoreName,
    ProfileName,
    StartName,
    WalkingName,
)
from redveil.algorithms.targets import Target, random_attribute
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.counting.prepared import PreparedData
from redveil.data.binning import bin_table
from redveil.data.dataset import Dataset, must_be_here, must_be_loaded, must_have_values
from redveil.display import Block, Displayed, Listing, Note
from redveil.errors import InputError
from redveil.kernels.chain import WORDS_PER_STEP
from redveil.privacy.loss import Price, choice_epsilon, parse_epsilon
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.schema import Schema, Side
from redveil.sealed import open_for_owner, within
from redveil.trees.rules import NO_STOP, Rules
from redveil.trees.walks import Walked, random_splits, run_pair, run_tree
from redveil.waiting import run_all

Traces = NDArray[np.float64]

# Fewer independent scores than this say little about where a chain would go.
ENOUGH_SCORES: Final = 400
LARGEST_RHAT: Final = 1.01
FEWEST_WALK_STEPS: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Displayed):
    """How some parallel walks went. NOT private.

    `print` shows the verdict and all numbers.

    rhat:       split-R̂ over the second halves of the walks; below 1.01 is good
    effective:  how many independent scores all walks together amount to; 400 or more is good
    acceptance: the share of proposals that were accepted
    traces:     the scores, float64[walks, walk_steps]

    >>> Diagnosis(1.002, 900, 0.25, np.zeros((4, 1000)))
    <Diagnosis of 4 walks: converged>
    """

    rhat: float
    effective: float
    acceptance: float
    traces: Traces

    @property
    def converged(self) -> bool:
        """Whether the second halves of the walks look alike."""
        return self.rhat < LARGEST_RHAT and self.effective >= ENOUGH_SCORES

    @property
    def verdict(self) -> str:
        """Whether the walks converged, and what to do if not."""
        if self.converged:
            return "converged"
        return "NOT converged: use longer walks, or an exact algorithm"

    def __repr__(self) -> str:
        return f"<Diagnosis of {len(self.traces)} walks: {self.verdict}>"

    def _shown(self) -> Iterator[Block]:
        yield Note("NOT PRIVATE: computed from the data without noise. For the data owner only.")
        yield Listing((), self._facts())

    def lines(self) -> list[str]:
        """Return the diagnosis as lines of text for the owner."""
        (walks, verdict), *others = self._facts()
        return [f"{walks}: {verdict}", *(f"{name} {fact}" for name, fact in others)]

    def _facts(self) -> list[tuple[str, str]]:
        walks, walk_steps = self.traces.shape
        late = walks * (walk_steps - walk_steps // 2)
        last, first = (float(np.median(self.traces[:, place])) for place in (-1, 0))
        good = f"(below {LARGEST_RHAT} is good), over the second halves"
        return [
            (f"{walks} walks of {walk_steps:,} steps", self.verdict),
            ("split-R̂", f"{self.rhat:.4f} {good}"),
            ("effective sample size", f"{self.effective:,.0f} of {late:,}"),
            ("acceptance rate", f"{100 * self.acceptance:.1f} %"),
            ("score at the end", f"{last:,.2f} (median), at the start {first:,.2f}"),
        ]


def diagnose(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    algorithm: WalkingName = "tree-pair",
    profile: ProfileName | None = None,
    walks: int = 4,
    target: str | None = None,
    depth: int | None = None,
    trials: int | None = None,
    alternations: int | None = None,
    walk_steps: int | None = None,
    tree_share: str | float | Fraction | None = None,
    counts: CountsName | None = None,
    pair_score: PairScoreName | None = None,
    start: StartName | None = None,
) -> Diagnosis:
    """Run parallel walks from random starts, and compare their scores. NOT private.

    The walks are those of the first tree, or pair of trees, of a run with these parameters and a
    random start. Early stopping is left out, so that all walks have one length.

    dataset:   what `load` returned
    epsilon:   the privacy loss ε of the run; a diagnosis itself is not charged
    algorithm: tree-pair or alt-mcmc
    profile:   hardened or published
    walks:     how many walks to compare, at least 2
    target:    the attribute that is the initial target, if the algorithm has one; random by default

    All other parameters are those of `mine`.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(300), clinic_schema())
    >>> diagnose(dataset, 1, depth=1, walk_steps=400).traces.shape
    (4, 400)
    """
    wanted, price = walking(
        algorithm,
        epsilon,
        walks,
        profile=profile,
        depth=depth,
        trials=trials,
        alternations=alternations,
        walk_steps=walk_steps,
        tree_share=tree_share,
        counts=counts,
        pair_score=pair_score,
        start=start,
    )
    must_be_here(must_be_loaded(dataset, "diagnose"), "diagnose")
    if wanted.profile.needs_values:
        must_have_values(must_be_loaded(dataset, "diagnose"), f"the {wanted.profile.name} profile")
    observed = wanted.profile.observed(must_be_loaded(dataset, "diagnose"))
    schema = observed.schema
    table = within(partial(bin_table, schema=schema), observed.table)
    data = PreparedData.of(schema, table)
    paid = next(step.price for step in wanted.plan(price).steps if step.mechanism == "walk")
    side, number = _attribute(schema, target)
    predicted = wanted.profile.targets(observed)(data, side, number)
    one = partial(_walk, data, wanted, paid, side.other, predicted)
    done = run_all([partial(one, SystemRandomness()) for _ in range(walks)], data.halt)
    traces = np.array([walked.trace for walked in done])
    late = traces[:, wanted.walk_length // 2 :]
    return Diagnosis(
        split_rhat(late),
        effective_sample_size(late),
        float(np.mean([walked.accepted for walked in done])) / wanted.walk_length,
        traces,
    )


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


def split_rhat(traces: Traces) -> float:
    """Return split-R̂: near 1 when the halves of all walks look alike, above 1.01 when they do not.

    traces: float64[walks, walk_steps].

    >>> settled = np.random.default_rng(1).normal(size=(4, 1000))
    >>> split_rhat(settled) < 1.01
    True
    >>> split_rhat(settled + 3 * np.arange(4)[:, None]) > 2
    True
    """
    half = traces.shape[1] // 2
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = half * float(halves.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else math.inf
    return math.sqrt(((half - 1) / half * within + between / half) / within)


def effective_sample_size(traces: Traces) -> float:
    """Return how many independent scores the walks together amount to.

    Autocorrelations are averaged over walks and added up in pairs until a pair is not positive.

    >>> independent = np.random.default_rng(2).normal(size=(4, 1000))
    >>> 3000 < effective_sample_size(independent) < 5000
    True
    """
    walks, walk_steps = traces.shape
    centred = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * walk_steps, axis=1)
    covariance = (
        np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :walk_steps].mean(axis=0) / walk_steps
    )
    within = float(covariance[0]) * walk_steps / (walk_steps - 1)
    between = float(traces.mean(axis=1).var(ddof=1)) if walks > 1 else 0.0
    total = within * (walk_steps - 1) / walk_steps + between
    if total == 0:
        return float(walks)
    correlation = 1 - (within - covariance) / total
    pairs = correlation[1 : walk_steps - walk_steps % 2 - 1].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
    time = 1 + 2 * float(pairs[:stop].sum())
    draws = float(walks * walk_steps)
    return min(draws / max(time, 1e-12), draws * math.log10(draws))
