"""Ranking: a list in which every redescription says something new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.candidates import knowns, mentioned, negated_groups
from redveil.findings.estimate import Estimate
from redveil.findings.extraction import Candidate
from redveil.findings.redescription import Redescription
from redveil.query.text import to_text

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# The least novelty that is worth a reader's time, and the least value relative to the first entry.
LEAST_NOVELTY: Final = 0.25
LEAST_RELATIVE_VALUE: Final = 0.25
# What is left of the value of a pair that covers more than half of the entities, that negates a
# group, or that asks whether a value is known: mostly another pair says the same about fewer, or
# more plainly.
LARGER_HALF_KEEPS: Final = 0.75
NEGATED_GROUP_KEEPS: Final = 0.8
KNOWN_KEEPS: Final = 0.9


def ranked(found: Iterable[Redescription]) -> tuple[Redescription, ...]:
    """Rank by the lower bound of J, and list every wording once, as in the published profile."""
    kept: dict[tuple[str, str], Redescription] = {}
    for one in sorted(found, key=_rank):
        kept.setdefault((to_text(one.left), to_text(one.right)), one)
    return tuple(kept.values())


def _rank(one: Redescription) -> tuple[float, int, str, str]:
    return -one.statistics.jaccard.low, one.literals, to_text(one.left), to_text(one.right)


def ranked_by_novelty(
    candidates: Sequence[Candidate], estimates: Sequence[Estimate]
) -> list[Candidate]:
    """Return candidates that each say something new, the best first.

    Greedy: the next entry has the largest value times novelty. Among the entries of one table,
    novelty is the share of what a pair's two coverages tell that earlier entries have not shown:
    their conditional entropy over the released cells. A complement, or a union of what is known
    already, tells nothing. Between tables, coverages cannot be compared for free, so attributes
    are: novelty is the share of pairs of attributes, one from each query, that no single earlier
    entry has. The same attributes with other cut points are one fact. The list ends where the value
    falls below a quarter of the first entry's.

    A pair that covers more than half of the entities, or negates a group, counts for less, so that
    of a pair and its complement the one is listed that says more in plainer words.
    """
    groups = [
        _Group([one for one in candidates if one.table == number], estimate)
        for number, estimate in enumerate(estimates)
    ]
    chosen: list[Candidate] = []
    least = 0.0
    while True:
        offers = [(group.best(), group) for group in groups]
        (value, best), group = max(offers, key=lambda offer: offer[0][0], default=((0.0, -1), None))
        if group is None or value <= 0 or value < least:
            return chosen
        least = least or LEAST_RELATIVE_VALUE * value
        entry = group.take(best)
        chosen.append(entry)
        for other in groups:
            if other is not group:
                other.learn_of(entry)


def appeal(one: Candidate) -> float:
    """Return what a candidate is worth to a reader who has seen nothing yet."""
    value = one.value * (LARGER_HALF_KEEPS if one.half > 0.5 else 1.0)
    groups, asked = (
        how_many(one.left) + how_many(one.right) for how_many in (negated_groups, knowns)
    )
    return value * NEGATED_GROUP_KEEPS**groups * KNOWN_KEEPS**asked


class _Group:
    """The candidates of one table, and what the listed entries have told of it.

    codes: int64[candidates, cells], which of its queries hold in each cell, as 0 … 3
    """

    def __init__(self, candidates: Sequence[Candidate], estimate: Estimate) -> None:
        # A negative count is noise: no entity is there.
        cells = np.maximum(estimate.cells, 0.0)
        self._weights = cells.ravel() / max(float(cells.sum()), 1e-12)
        self._known: Codes = np.zeros(cells.size, dtype=np.int64)
        self._candidates = candidates
        self._codes = np.array(
            [_codes(one, cells.shape) for one in candidates], dtype=np.int64
        ).reshape(len(candidates), cells.size)
        self._appeal = np.array([appeal(one) for one in candidates])
        self._names = [(mentioned(one.left), mentioned(one.right)) for one in candidates]
        self._alone = self._entropies(self._codes)
        # What the entries of other tables leave of each candidate's novelty.
        self._elsewhere = np.ones(len(candidates))
        self._novelty = self._within()

    def best(self) -> tuple[float, int]:
        """Return the largest value times novelty, and whose it is."""
        if not self._candidates:
            return 0.0, -1
        novelty = np.minimum(self._novelty, self._elsewhere)
        values = np.where(novelty >= LEAST_NOVELTY, self._appeal * novelty, -1.0)
        place = int(values.argmax())
        return float(values[place]), place

    def take(self, place: int) -> Candidate:
        """Add a candidate to what is known, and return it."""
        joined = self._known * 4 + self._codes[place]
        self._known = np.unique(joined, return_inverse=True)[1].reshape(-1)
        self._novelty = self._within()
        return self._candidates[place]

    def learn_of(self, entry: Candidate) -> None:
        """Take note of an entry of another table."""
        left, right = mentioned(entry.left), mentioned(entry.right)
        for place, (lefts, rights) in enumerate(self._names):
            shared = len(lefts & left) * len(rights & right) / (len(lefts) * len(rights))
            self._elsewhere[place] = min(self._elsewhere[place], 1.0 - shared)

    def _within(self) -> Floats:
        """Return the share of each candidate's entropy that is not known yet."""
        new = self._entropies(self._known * 4 + self._codes) - self._entropies(self._known[None])
        return np.divide(new, self._alone, out=np.zeros_like(new), where=self._alone > 1e-12)

    def _entropies(self, codes: Codes) -> Floats:
        """Return the entropy of each row of codes over the cells, float64[rows]."""
        most = int(codes.max(initial=0)) + 1
        places = np.arange(len(codes))[:, None] * most + codes
        weights = np.broadcast_to(self._weights, codes.shape).ravel()
        shares = np.bincount(places.ravel(), weights, minlength=len(codes) * most)
        logs = np.log(np.where(shares > 0, shares, 1.0))
        return np.asarray(-(shares * logs).reshape(len(codes), most).sum(axis=1))


def _codes(one: Candidate, shape: tuple[int, ...]) -> Codes:
    left, right = np.zeros(shape[0], np.int64), np.zeros(shape[1], np.int64)
    left[list(one.left_ends)] = 2
    right[list(one.right_ends)] = 1
    return np.add.outer(left, right).ravel()
