"""The mechanisms: the only way from sealed data to released values.

`choose` and `choose_tree` select, `count` counts, and `walk` selects in the limit of many steps.

Each takes sealed input, a receipt and a source of randomness, and returns a released value. Each is
private for adding or removing one entity, at the receipt's price: ε, or ρ
(losses/concentrated.md). A whole run composes them (privacy/composition.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from redveil.errors import PlanError
from redveil.losses.loss import Rho, choice_epsilon, round_down
from redveil.losses.score import Score
from redveil.privacy.randomness import Randomness, Words
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
    """Release one candidate for each part: the exponential mechanism, sampled exactly.

    units: sealed int64[parts, candidates], scores in grid units of `score`.
    base:  public int64[parts, candidates], the base measure; 0 excludes a candidate.

    The parts must contain disjoint entities, so that one entity affects the scores of one part
    only. All parts together then cost the price once (privacy/parallel.md).
    Proof: privacy/choose.md.
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
    """Release a whole tree of two levels: the exponential mechanism over all trees.

    units: sealed int64[roots, 2, choices], what each choice adds to a tree's score, in grid units
           of `score`: [root, 0] where the root's split holds, [root, 1] where it does not.
    base:  the public base measure of trees, which also states which choices are allowed where.

    Returns the root and the two choices below it. A candidate is a whole tree, and `score` scores
    whole trees, so this is one release at one price. Proof: privacy/choose_tree.md.
    """
    _must_pay_for(receipt, "choose")
    rate = score.rate(choice_epsilon(receipt.price))

    def chosen(parts: Integers) -> tuple[int, int, int] | None:
        fits = parts.shape == base.open.shape
        return draw_two_level(parts, rate, base, randomness) if fits else None

    return Released(_fitting(open_paid(chosen, units, receipt)), (receipt,))


def count(counts: Sealed[Integers], receipt: Receipt, randomness: Randomness) -> Released[Integers]:
    """Release the sizes of disjoint groups of entities, each with integer noise.

    counts: sealed int64[groups]; an entity belongs to at most one group.

    A price in ε buys Laplace noise, P(k) ∝ exp(−ε·|k|); a price in ρ buys Gaussian noise,
    P(k) ∝ exp(−ρ·k²). Proof: privacy/count.md.
    """
    _must_pay_for(receipt, "count")

    def noised(true_counts: Integers) -> Integers:
        if isinstance(receipt.price, Rho):
            return true_counts + randomness.gaussian(receipt.price.amount, true_counts.size)
        return true_counts + randomness.laplace(receipt.price, true_counts.size)

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
    """Release the state of a Markov chain after a fixed number of steps.

    chain: runs the chain on sealed data, given the acceptance rate per grid unit of `score` and
           `words` uniform words; its length must not depend on the data.

    In the limit of many steps the state follows the exponential mechanism's law and costs the
    receipt's price. After finitely many steps no bound is claimed: certificates state the
    guarantee as `asymptotic`. Proof: privacy/walk.md.
    """
    _must_pay_for(receipt, "walk")
    rate = round_down(score.rate(choice_epsilon(receipt.price)))
    ended = chain(rate, randomness.words(words))
    return Released(open_paid(lambda state: state, ended, receipt), (receipt,))


def _fitting(chosen: T | None) -> T:
    """Return the choice; refuse a base measure whose shape is not that of the scores."""
    if chosen is None:
        raise PlanError("scores and base measure differ in shape")
    return chosen


def _must_pay_for(receipt: Receipt, mechanism: str) -> None:
    """Refuse a receipt that was issued for another mechanism."""
    if receipt.mechanism != mechanism:
        raise PlanError(f"the receipt for {str(receipt.step)!r} pays for {receipt.mechanism}")
