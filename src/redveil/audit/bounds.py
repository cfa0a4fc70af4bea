"""From counts of an event to a lower bound on ε, with confidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln, xlog1py, xlogy

from redveil.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Of the probability that a bound is wrong, the part for an unlikely event's own probability.
OUTSIDE: Final = 0.05
# Pieces into which what that probability may be is cut.
PIECES: Final = 64
# How many standard deviations from there the unlikely event's count is looked at one by one.
FAR: Final = 6.0
# How finely ε is searched; always downwards.
FINE: Final = 1e-3


def at_least(hits: int, runs: int, error: float) -> float:
    """Return the Clopper–Pearson lower bound of a probability, wrong with probability `error`.

    >>> round(at_least(10, 10, 0.05), 3)
    0.741
    """
    _must_be_counts(hits, runs, error)
    return float(_lowest(np.array([hits]), runs, error)[0])


def at_most(hits: int, runs: int, error: float) -> float:
    """Return the Clopper–Pearson upper bound of a probability, wrong with probability `error`.

    >>> round(at_most(0, 10, 0.05), 3)
    0.259
    """
    _must_be_counts(hits, runs, error)
    return float(_highest(np.array([hits]), runs, error)[0])


def epsilon_at_least(
    likely: tuple[int, int],
    unlikely: tuple[int, int],
    error: float = 0.05,
    delta: float = 0.0,
) -> float:
    """Return an ε below which an event's two probabilities cannot be explained.

    likely, unlikely: (hits, runs) of one event on two neighbouring data sets, with probabilities p
    and q. The larger p would be e^ε·q + δ at most. Whoever refutes all smaller ε by this is wrong
    with probability `error`. It is 0 where the counts are too much alike to say anything.

    An ε is refuted if counts as extreme as these are seldom for all p and q that it allows.
    Extreme is a large ratio (p₁ − δ) / q₁ of Clopper–Pearson bounds; each count is in doubt, but
    both are seldom off at once, and that is what makes this bound sharper than their ratio itself
    (docs/audit.md).

    >>> round(epsilon_at_least((731, 1000), (269, 1000)), 2)
    0.9
    >>> epsilon_at_least((5, 10), (5, 10))
    0.0
    """
    _must_be_counts(*likely, error)
    _must_be_counts(*unlikely, error)
    if at_least(*likely, error / 2) <= delta:
        return 0.0
    doubt = OUTSIDE * error / 2
    chances = np.linspace(at_least(*unlikely, doubt), at_most(*unlikely, doubt), PIECES + 1)
    seldom = _chance_of_extremes(likely, unlikely, chances, error, delta)

    def refuted(epsilon: float) -> bool:
        return seldom(math.exp(epsilon) * chances[1:] + delta) <= (1 - OUTSIDE) * error

    # At the upper end every p is allowed, so that nothing is refuted.
    low, high = 0.0, -math.log(chances[1])
    if not refuted(low):
        return 0.0
    while high - low > FINE:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _chance_of_extremes(
    likely: tuple[int, int],
    unlikely: tuple[int, int],
    chances: Floats,
    error: float,
    delta: float,
) -> Callable[[Floats], float]:
    """Return what bounds the probability of counts as extreme as these, given the largest p.

    chances: float64[pieces + 1]. The likely event's count is extreme from some number on, which
    grows with the unlikely event's. So the extremes' probability grows with p and falls with q: in
    every piece, the largest p with the smallest q bounds it. What lies too far off to be looked
    at counts as extreme.
    """
    (hits, runs), (others, other_runs) = likely, unlikely
    smallest, largest = chances[0] * other_runs, chances[-1] * other_runs
    reach = FAR * math.sqrt(largest * (1 - chances[0])) + FAR
    first, last = max(0, int(smallest - reach)), min(other_runs, int(largest + reach))
    counts = np.arange(first, last + 1)
    lowest = _lowest(np.arange(runs + 1), runs, error / 2) - delta
    highest = _highest(counts, other_runs, error / 2)
    seen = lowest[hits] / at_most(others, other_runs, error / 2)
    # A little less than was seen: rounding must not leave out the counts themselves.
    extreme_from = np.searchsorted(lowest, seen * highest * (1 - 1e-9))
    law = _binomial(counts, other_runs, chances[:-1, np.newaxis])
    unseen = np.maximum(1 - law.sum(axis=1), 0)

    def chance(most: Floats) -> float:
        tails = _reaches(extreme_from, runs, np.minimum(most, 1.0)[:, np.newaxis])
        return float(np.max((law * tails).sum(axis=1) + unseen))

    return chance


def _lowest(hits: Integers, runs: int, error: float) -> Floats:
    """Return Clopper–Pearson lower bounds, float64[hits]."""
    found = betaincinv(np.maximum(hits, 1), runs - hits + 1, error)
    return np.asarray(np.where(hits > 0, found, 0.0), dtype=np.float64)


def _highest(hits: Integers, runs: int, error: float) -> Floats:
    return 1.0 - _lowest(runs - hits, runs, error)


def _binomial(counts: Integers, runs: int, chances: Floats) -> Floats:
    """Return the binomial probabilities of counts, float64[chances, counts]."""
    ways = gammaln(runs + 1) - gammaln(counts + 1) - gammaln(runs - counts + 1)
    log = ways + xlogy(counts, chances) + xlog1py(runs - counts, -chances)
    return np.asarray(np.exp(log), dtype=np.float64)


def _reaches(least: Integers, runs: int, chances: Floats) -> Floats:
    """Return the probabilities that a binomial count reaches a number, float64[chances, least]."""
    inside = np.clip(least, 1, runs)
    tails = betainc(inside, runs - inside + 1, chances)
    return np.asarray(np.where(least <= 0, 1.0, np.where(least > runs, 0.0, tails)))


def _must_be_counts(hits: int, runs: int, error: float) -> None:
    if not 0 <= hits <= runs or runs == 0 or not 0 < error < 1:
        raise InputError("an audit needs 0 <= hits <= runs, at least one run, and 0 < error < 1")
