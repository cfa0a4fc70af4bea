"""What a list of redescriptions is worth to its reader, judged on the true rows.

For every entry: J; the J that unrelated queries with the same supports would have; the corrected
index A, which is 0 for those and 1 for equal supports; Fisher's one-sided p-value; and its novelty,
the share of the entropy of its two supports that the entries above it have not told.

Worth of a list = Σ max(A, 0) · novelty · 0.99^literals over the entries with p ≤ 0.01, less 1 for
every other entry. So a list that repeats itself, says what everybody knows or guesses is worth
little, however large its J. NOT private.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

import redveil
from redveil_research.experiments.rows import Bools, Rows, literal_count

SIGNIFICANT: Final = 0.01
PER_LITERAL: Final = 0.99


@dataclass(frozen=True, slots=True)
class Judged:
    """One entry of a list, on the true rows.

    share: the share of all entities that satisfy the larger of its two queries

    >>> Judged(0.8, 0.5, 1e-9, 1.0, 2, 0.3).worth
    0.49005
    >>> Judged(0.8, 0.5, 0.2, 1.0, 2, 0.3).worth
    -1.0
    """

    jaccard: float
    corrected: float
    p_value: float
    novelty: float
    literals: int
    share: float

    @property
    def worth(self) -> float:
        """What the entry adds to the worth of its list."""
        if self.p_value > SIGNIFICANT:
            return -1.0
        return max(self.corrected, 0.0) * self.novelty * PER_LITERAL**self.literals


def worth(entries: Iterable[Judged]) -> float:
    """Return the worth of a list.

    >>> worth([])
    0.0
    """
    return float(sum(one.worth for one in entries))


def judge(result: redveil.Result, views: tuple[Rows, Rows]) -> tuple[Judged, ...]:
    """Judge the entries of a list in their order."""
    attributes = result.document.attributes
    declared = [{one.name: one for one in side} for side in (attributes.left, attributes.right)]
    pairs = [
        (
            views[0].answers(one.left.tree, declared[0]).yes,
            views[1].answers(one.right.tree, declared[1]).yes,
        )
        for one in result
    ]
    lengths = [literal_count(one.left.tree) + literal_count(one.right.tree) for one in result]
    return tuple(judge_supports(pairs, lengths))


def judge_supports(
    pairs: Iterable[tuple[Bools, Bools]], lengths: Iterable[int]
) -> Iterator[Judged]:
    """Judge pairs of supports in the order of their list, given how many literals each has.

    >>> half = np.array([True, True, False, False])
    >>> [round(one.novelty, 2) for one in judge_supports([(half, half)] * 2, [2, 2])]
    [1.0, 0.0]
    """
    told: NDArray[np.int64] | None = None
    for (left, right), literals in zip(pairs, lengths, strict=True):
        count = left.size
        lefts, rights = int(left.sum()), int(right.sum())
        both = int((left & right).sum())
        jaccard, chance = _indices(both, lefts, rights, count)
        says = 2 * left.astype(np.int64) + right
        told = np.zeros(count, np.int64) if told is None else told
        after = np.unique(4 * told + says, return_inverse=True)[1].astype(np.int64)
        own = entropy(says)
        yield Judged(
            jaccard,
            (jaccard - chance) / (1 - chance) if chance < 1 else 0.0,
            fisher(both, lefts, rights, count),
            (entropy(after) - entropy(told)) / own if own > 0 else 0.0,
            literals,
            max(lefts, rights) / count if count else 0.0,
        )
        told = after


def _indices(both: int, left: int, right: int, count: int) -> tuple[float, float]:
    """Return J, and the J of unrelated queries with the same supports."""
    either = left + right - both
    if either == 0:
        return 0.0, 0.0
    shares = left / count, right / count
    expected = shares[0] * shares[1]
    return both / either, expected / (sum(shares) - expected)


def entropy(codes: NDArray[np.int64]) -> float:
    """Return the entropy of a division of the entities into classes, in nats.

    >>> round(entropy(np.array([0, 0, 1, 1])), 4)
    0.6931
    """
    shares = np.bincount(codes) / max(codes.size, 1)
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def fisher(both: int, left: int, right: int, count: int) -> float:
    """Return Fisher's one-sided p-value: how often chance makes an overlap at least as large.

    >>> round(fisher(8, 10, 9, 20), 4)
    0.0027
    """
    from scipy.special import gammaln

    if both <= max(left + right - count, 0):
        return 1.0

    def log_ways(size: float, chosen: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(gammaln(size + 1) - gammaln(chosen + 1) - gammaln(size - chosen + 1))

    overlaps = np.arange(both, min(left, right) + 1, dtype=np.float64)
    terms = log_ways(left, overlaps) + log_ways(count - left, right - overlaps)
    terms -= log_ways(count, np.array([float(right)]))
    return float(min(np.exp(terms).sum(), 1.0))


Floats = NDArray[np.float64]


def binomial_tail(both: int, left: int, right: int, entities: int) -> float:
    """Return P[X ≥ both] for X ~ Binomial(entities, left·right / entities²).

    >>> round(binomial_tail(3, 5, 4, 10), 4)
    0.3222
    """
    from scipy.special import betainc

    if both <= 0:
        return 1.0
    return float(betainc(both, entities - both + 1, left / entities * (right / entities)))


def ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values get the mean of their ranks.

    >>> ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def spearman(first: Floats, second: Floats) -> tuple[float, float] | None:
    """Return the rank correlation and its two-sided p-value; None if there is none.

    >>> spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 4.0, 3.0]))
    (0.6, 0.4)
    >>> spearman(np.array([1.0, 2.0]), np.array([2.0, 1.0])) is None
    True
    """
    from scipy.special import stdtr

    count = first.size
    if count < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    rho = float(np.clip(np.corrcoef(ranks(first), ranks(second))[0, 1], -1.0, 1.0))
    if abs(rho) > 1 - 1e-12:
        return round(rho), 0.0
    t = rho * math.sqrt((count - 2) / (1 - rho * rho))
    return round(rho, 12), round(float(2 * stdtr(count - 2, -abs(t))), 300)


def mann_whitney(better: Floats, other: Floats, *, larger: bool) -> float:
    """Return the one-sided p-value that one sample is larger, or smaller, than another.

    The normal approximation with corrections for ties and continuity.

    >>> round(mann_whitney(np.arange(5.0, 15.0), np.arange(10.0), larger=True), 5)
    0.00254
    """
    from scipy.special import ndtr

    if not larger:
        return mann_whitney(-better, -other, larger=True)
    n, m = better.size, other.size
    together = np.concatenate([better, other])
    wins = float(ranks(together)[:n].sum()) - n * (n + 1) / 2
    counts = np.unique(together, return_counts=True)[1].astype(np.float64)
    ties = float((counts**3 - counts).sum()) / ((n + m) * (n + m - 1))
    deviation = math.sqrt(n * m / 12 * (n + m + 1 - ties))
    if deviation == 0:
        return 1.0
    return float(ndtr(-(wins - n * m / 2 - 0.5) / deviation))
