"""The doors through which private knowledge leaves.

`choose` and `choose_tree` select, `count` counts, and `walk` selects in the limit of many steps.

Each takes sealed input, a receipt and a source of randomness, and returns a released value. All
hold for adding or removing one entity, at the receipt's price: ε, or ρ (privacy/concentrated.md).
Nothing else in the package opens a seal for an analyst.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from redveil.errors import PlanError
from redveil.privacy.loss import Rho, choice_epsilon, round_down
from redveil.privacy.randomness import Randomness, Words
from redveil.privacy.score import Score
from redveil.privacy.selection import draw
from redveil.privacy.two_level_selection import TwoLevelBase, draw_two_level
from redveil.sealed import Receipt, Released, Sealed, open_paid

Integers = NDArray[np.int64]
T = TypeVar("T")


def choose(
    units: Sealed[Integers],
    score: Score,
    base: Integers,
    receipt: Receipt,
    randomness: Randomness,
) -> Released[tuple[int, ...]]:
    """Choose one candidate for each part by its score: the exponential mechanism, exactly.

    units: sealed int64[parts, candidates], scores in grid units of `score`.
    base:  public int64[parts, candidates], the base measure; 0 leaves a candidate out.

    The parts must hold disjoint entities, so that one entity moves the scores of one part only:
    all parts together then cost one ε (privacy/parallel.md). Proof: privacy/choose.md.
    """
    _must_pay_for(receipt, "choose")
    rate = score.rate(choice_epsilon(receipt.price))

    def chosen(rows: Integers) -> tuple[int, ...] | None:
        if rows.shape != base.shape:
            return None
        parts = zip(rows, base, strict=True)
        return tuple(draw(part, rate, weights, randomness) for part, weights in parts)

    return Released(_fitting(open_paid(chosen, units, receipt)), (receipt,))


def choose_tree(
    units: Sealed[Integers],
    score: Score,
    base: TwoLevelBase,
    receipt: Receipt,
    randomness: Randomness,
) -> Released[tuple[int, int, int]]:
    """Choose a whole tree of two levels by its score: the exponential mechanism over all trees.

    units: sealed int64[roots, 2, choices]: what each choice where a root's split holds, and where
           it does not, adds to a tree's score, in grid units of `score`.
    base:  the public base measure of trees, which also says what may stand where.

    Returns the root and the two choices below it. One candidate is a whole tree, and `score` is the
    score of whole trees, so this is one release at one ε. Proof: privacy/choose_tree.md.
    """
    _must_pay_for(receipt, "choose")
    rate = score.rate(choice_epsilon(receipt.price))

    def chosen(parts: Integers) -> tuple[int, int, int] | None:
        fits = parts.shape == base.open.shape
        return draw_two_level(parts, rate, base, randomness) if fits else None

    return Released(_fitting(open_paid(chosen, units, receipt)), (receipt,))


def count(counts: Sealed[Integers], receipt: Receipt, randomness: Randomness) -> Released[Integers]:
    """Count disjoint groups of entities, each with integer noise.

    For ε it is Laplace noise, P(k) ∝ exp(−ε·|k|), and for ρ Gaussian noise, P(k) ∝ exp(−ρ·k²).
    counts: sealed int64[groups]; an entity belongs to at most one group. Proof: privacy/count.md.
    """
    _must_pay_for(receipt, "count")

    def noised(exact: Integers) -> Integers:
        if isinstance(receipt.price, Rho):
            return exact + randomness.gaussian(receipt.price.amount, exact.size)
        return exact + randomness.laplace(receipt.price, exact.size)

    noisy = open_paid(noised, counts, receipt)
    noisy.flags.writeable = False
    return Released(noisy, (receipt,))


def walk(
    chain: Callable[[float, Words], Sealed[T]],
    score: Score,
    words: int,
    receipt: Receipt,
    randomness: Randomness,
) -> Released[T]:
    """Release where a Markov chain stands after a fixed number of steps.

    chain: runs the chain on sealed data, given the acceptance rate per grid unit of `score` and
    `words` uniform words; its length must not depend on the data. In the limit of many steps the
    outcome follows the exponential mechanism's law and costs the receipt's ε; after finitely many
    steps no bound is claimed: certificates say `asymptotic`. Proof: privacy/walk.md.
    """
    _must_pay_for(receipt, "walk")
    rate = round_down(score.rate(choice_epsilon(receipt.price)))
    ended = chain(rate, randomness.words(words))
    return Released(open_paid(lambda place: place, ended, receipt), (receipt,))


def _fitting(chosen: T | None) -> T:
    """Refuse a base measure for other candidates than were scored."""
    if chosen is None:
        raise PlanError("scores and base measure differ in shape")
    return chosen


def _must_pay_for(receipt: Receipt, mechanism: str) -> None:
    """Refuse a receipt that was issued for something else."""
    if receipt.mechanism != mechanism:
        raise PlanError(f"the receipt for {str(receipt.step)!r} pays for {receipt.mechanism}")
