"""Sampling the exponential mechanism's law over whole trees of two levels, exactly.

A tree is a root r, a split a where the root's split holds and a split b where it does not. The law
is P(r, a, b) ∝ base(r, a, b) · exp(rate · (units[r, 0, a] + units[r, 1, b])). Given the root, a and
b are independent and drawn by `draw`. The root's own law is P(r) ∝ base(r) · Z₀(r) · Z₁(r), where
Z is a sum over the choices below. As in `selection`, doubles decide if a proven slack allows it,
otherwise interval arithmetic with more digits of the same number (privacy/choose_tree.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.errors import PlanError
from redveil.privacy.randomness import Randomness
from redveil.privacy.selection import (
    EXPONENT_ERROR,
    Boundary,
    Exponentials,
    continue_until_certain,
    draw,
    must_be_measure,
    settle,
)

Integers = NDArray[np.int64]
SIDES: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class TwoLevelBase:
    """A public base measure of trees: base(r, a, b) = root[r] · below[a] · below[b], or 0.

    root:  int64[roots], not negative; 0 excludes a root.
    below: int64[choices], positive: the choices below a root, the same list for both sides.
    open:  bool[roots, 2, choices], which choices are allowed where the root's split holds, and
           where it does not. A root without an allowed choice on one of its sides is excluded.

    >>> one_root = np.array([[[True, False], [True, True]]])
    >>> base = TwoLevelBase(np.array([1]), np.array([3, 5]), one_root)
    >>> base.side(0, 0).tolist(), base.side(0, 1).tolist()
    ([3, 0], [3, 5])
    """

    root: Integers
    below: Integers
    open: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.open.shape != (self.root.size, SIDES, self.below.size):
            raise PlanError("the parts of a base measure of trees differ in shape")
        if self.below.min(initial=1) < 1:
            raise PlanError(
                "choices below a root need a positive measure; exclude them by `open` instead"
            )
        must_be_measure(self.below)
        must_be_measure(self.roots)

    def side(self, root: int, side: int) -> Integers:
        """Return the measure of the choices allowed on one side of a root, int64[choices]."""
        return np.where(self.open[root, side], self.below, 0)

    @property
    def roots(self) -> Integers:
        """The roots' own measure, 0 where a side has no allowed choice, int64[roots]."""
        held, not_held = self.open[:, 0].any(axis=1), self.open[:, 1].any(axis=1)
        return np.where(held & not_held, self.root, 0)


def draw_two_level(
    units: Integers, rate: Fraction, base: TwoLevelBase, randomness: Randomness
) -> tuple[int, int, int]:
    """Draw (root, choice where it holds, choice where not) with the law of the module's docstring.

    units: int64[roots, 2, choices], below 2^61 in absolute value.

    >>> from redveil.privacy.randomness import SystemRandomness
    >>> only = np.array([[[True, False], [False, True]]])
    >>> base = TwoLevelBase(np.array([1]), np.array([1, 1]), only)
    >>> draw_two_level(np.zeros((1, 2, 2), np.int64), Fraction(1), base, SystemRandomness())
    (0, 0, 1)
    """
    word = int(randomness.words(1)[0])
    root = settle(root_weights(units, rate, base), root_error(base.below.size), word)
    if root is None:
        root = decide_root_exactly(units, rate, base, word, randomness)
    held, not_held = (
        draw(units[root, side], rate, base.side(root, side), randomness) for side in range(SIDES)
    )
    return root, held, not_held


def root_weights(units: Integers, rate: Fraction, base: TwoLevelBase) -> NDArray[np.float64]:
    """Return base(r) · Z₀(r) · Z₁(r) divided by exp(rate · the best tree's units), as doubles.

    The best tree's units are subtracted before anything is exponentiated, so nothing overflows, and
    what underflows is far below the slack of `settle`.
    """
    measure, tops = base.roots, _tops(units, base)
    gaps = tops[measure > 0].sum(axis=1).max() - tops.sum(axis=1)
    weights = np.zeros(measure.size)
    step = float(rate)
    with np.errstate(under="ignore"):
        # One root at a time: all at once would need as much memory as the scores again.
        for root in np.flatnonzero(measure):
            below = np.where(base.open[root], tops[root][:, np.newaxis] - units[root], 0)
            share = np.where(base.open[root], base.below, 0) * np.exp(-step * below)
            ahead = measure[root] * share.sum(axis=1).prod()
            weights[root] = ahead * np.exp(-step * gaps[root])
    return weights


def root_error(choices: int) -> int:
    """Return a bound on the total error of `root_weights`, in units of 2^-52 of their sum.

    A weight is the product of one exponential and two sums of `choices` of them.

    >>> root_error(10)
    4514
    """
    return (1 + SIDES) * EXPONENT_ERROR + SIDES * choices


def decide_root_exactly(
    units: Integers, rate: Fraction, base: TwoLevelBase, word: int, randomness: Randomness
) -> int:
    """Extend the uniform number that starts with `word` until the root it selects is certain."""
    return continue_until_certain(partial(root_boundaries, units, rate, base), word, randomness)


def root_boundaries(
    units: Integers, rate: Fraction, base: TwoLevelBase, precision: int
) -> Iterator[Boundary]:
    """Yield (root, lower, upper bound on the cumulative weight) in units of 2^-precision.

    The weights are those of `root_weights`.

    >>> base = TwoLevelBase(np.array([1, 2]), np.array([3]), np.ones((2, 2, 1), np.bool_))
    >>> list(root_boundaries(np.zeros((2, 2, 1), np.int64), Fraction(1), base, 4))
    [(0, 144, 144), (1, 432, 432)]
    """
    exponential = Exponentials(rate, precision)
    measure, tops = base.roots, _tops(units, base)
    roots = np.flatnonzero(measure)
    best = int(tops[roots].sum(axis=1).max())
    low = high = 0
    for root in roots:
        least, most = exponential(best - int(tops[root].sum()))
        for side in range(SIDES):
            weights = base.side(int(root), side)
            gaps = tops[root, side] - units[root, side]
            fewest, largest = _sum(gaps, weights, exponential)
            least, most = least * fewest, most * largest
        low += int(measure[root]) * least >> SIDES * precision
        # Minus the floor of the negative: rounded up.
        high -= -int(measure[root]) * most >> SIDES * precision
        yield int(root), low, high


def _tops(units: Integers, base: TwoLevelBase) -> Integers:
    """Return the best allowed units on each side of each root, 0 if there are none."""
    best = np.max(units, axis=2, where=base.open, initial=np.iinfo(np.int64).min)
    return np.where(base.open.any(axis=2), best, 0)


def _sum(gaps: Integers, weights: Integers, exponential: Exponentials) -> tuple[int, int]:
    """Return a lower and an upper bound on Σ weights · exp(−rate · gaps)."""
    low = high = 0
    for index in np.flatnonzero(weights):
        least, most = exponential(int(gaps[index]))
        low += int(weights[index]) * least
        high += int(weights[index]) * most
    return low, high
