"""Lower confidence bounds on ε from counts of an event."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln, xlog1py, xlogy

from redveil import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# The share of the error probability that goes to bounding the unlikely event's probability.
OUTSIDE: Final = 0.05
# Pieces into which the interval of that probability is divided.
PIECES: Final = 64
# Counts of the unlikely event within this many standard deviations are treated one by one.
FAR: Final = 6.0
# Precision of the search for ε; the result is rounded down.
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
    """Return a lower confidence bound on ε from the counts of one event.

    likely, unlikely: (hits, runs) of the event on two neighbouring data sets, where it has
    probabilities p and q. Privacy requires p ≤ e^ε·q + δ. The bound exceeds the true ε with
    probability at most `error`. It is 0 if the counts are too similar.

    An ε is refuted if counts as extreme as these are rare for all p and q that it allows. Counts
    are extreme if the ratio (p₁ − δ) / q₁ of their Clopper–Pearson bounds is large. Both counts are
    rarely off at once, which makes this bound sharper than the ratio itself
    (docs/explanation/audit.md).

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
    probability = _probability_of_extremes(likely, unlikely, chances, error, delta)

    def refuted(epsilon: float) -> bool:
        return probability(math.exp(epsilon) * chances[1:] + delta) <= (1 - OUTSIDE) * error

    # The upper end allows every p, so it is not refuted.
    low, high = 0.0, -math.log(chances[1])
    if not refuted(low):
        return 0.0
    while high - low > FINE:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _probability_of_extremes(
    likely: tuple[int, int],
    unlikely: tuple[int, int],
    chances: Floats,
    error: float,
    delta: float,
) -> Callable[[Floats], float]:
    """Return a function that bounds the probability of counts as extreme as these.

    It takes the largest p for every piece of the interval of q, whose ends are `chances`,
    float64[pieces + 1]. The likely count is extreme from some number on, which grows with the
    unlikely count. So the probability grows with p and falls with q: in every piece the largest p
    with the smallest q bounds it. Unlikely counts outside the range treated count as extreme.
    """
    (hits, runs), (others, other_runs) = likely, unlikely
    smallest, largest = chances[0] * other_runs, chances[-1] * other_runs
    width = FAR * math.sqrt(largest * (1 - chances[0])) + FAR
    first, last = max(0, int(smallest - width)), min(other_runs, int(largest + width))
    counts = np.arange(first, last + 1)
    lowest = _lowest(np.arange(runs + 1), runs, error / 2) - delta
    highest = _highest(counts, other_runs, error / 2)
    observed = lowest[hits] / at_most(others, other_runs, error / 2)
    # A little less than observed: rounding must not exclude the counts themselves.
    extreme_from = np.searchsorted(lowest, observed * highest * (1 - 1e-9))
    law = _binomial(counts, other_runs, chances[:-1, np.newaxis])
    outside = np.maximum(1 - law.sum(axis=1), 0)

    def probability(most: Floats) -> float:
        tails = _upper_tails(extreme_from, runs, np.minimum(most, 1.0)[:, np.newaxis])
        return float(np.max((law * tails).sum(axis=1) + outside))

    return probability


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


def _upper_tails(least: Integers, runs: int, chances: Floats) -> Floats:
    """Return the probabilities of a binomial count of at least `least`, float64[chances, least]."""
    inside = np.clip(least, 1, runs)
    tails = betainc(inside, runs - inside + 1, chances)
    return np.asarray(np.where(least <= 0, 1.0, np.where(least > runs, 0.0, tails)))


def _must_be_counts(hits: int, runs: int, error: float) -> None:
    if not 0 <= hits <= runs or runs == 0 or not 0 < error < 1:
        raise InputError("an audit needs 0 <= hits <= runs, at least one run, and 0 < error < 1")
