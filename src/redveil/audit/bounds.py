"""From counts of an event to a lower bound on ε, with confidence."""

from __future__ import annotations

import math

from scipy.special import betaincinv

from redveil.errors import InputError


def at_least(hits: int, runs: int, error: float) -> float:
    """Return the Clopper–Pearson lower bound of a probability, wrong with probability `error`.

    >>> round(at_least(10, 10, 0.05), 3)
    0.741
    """
    _must_be_counts(hits, runs, error)
    return 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, error))


def at_most(hits: int, runs: int, error: float) -> float:
    """Return the Clopper–Pearson upper bound of a probability, wrong with probability `error`.

    >>> round(at_most(0, 10, 0.05), 3)
    0.259
    """
    return 1.0 - at_least(runs - hits, runs, error)


def epsilon_at_least(
    likely: tuple[int, int], unlikely: tuple[int, int], error: float = 0.05
) -> float:
    """Return an ε below which an event's two probabilities cannot be explained.

    likely, unlikely: (hits, runs) of one event on two neighbouring data sets. No mechanism with a
    smaller ε has these probabilities, unless one of two bounds is off: probability `error`.
    Where they are too much alike to say anything, it is negative.

    >>> round(epsilon_at_least((731, 1000), (269, 1000)), 2)
    0.86
    >>> epsilon_at_least((5, 10), (5, 10)) < 0
    True
    """
    low = at_least(*likely, error / 2)
    high = at_most(*unlikely, error / 2)
    return math.log(low / high) if low else -math.inf


def _must_be_counts(hits: int, runs: int, error: float) -> None:
    if not 0 <= hits <= runs or runs == 0 or not 0 < error < 1:
        raise InputError("an audit needs 0 <= hits <= runs, at least one run, and 0 < error < 1")
