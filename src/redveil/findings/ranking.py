"""Ranking: a list in which every redescription says something new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum, auto
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redveil.errors import QueryError
from redveil.findings.candidates import disjunctions, knowns, mentioned, negated_groups
from redveil.findings.details import Details
from redveil.findings.estimate import Estimate
from redveil.findings.extraction import Candidate
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Query, literal_count
from redveil.query.text import to_text

Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# The least novelty that is worth a reader's time, and the least values relative to the first entry:
# of a story, of what adds detail to one, and of what is not confirmed.
LEAST_NOVELTY: Final = 0.1
LEAST_STORY: Final = 0.1
LEAST_DETAIL: Final = 0.05
LEAST_DOUBT: Final = 0.3
# The share of its value that the first entry of a story keeps with every literal, besides the usual
# discount: a simple rule before its refinements.
STORY_DISCOUNT: Final = 0.9
# The same for a condition that hardly leaves anybody out: it wins only because fewer noisy cells
# have smaller errors.
RIDER_KEEPS: Final = 0.5
# What is left of the value of a pair with every query that covers more than half of the entities,
# negated group, and question whether a value is known: mostly another pair says the same about
# fewer, or more plainly.
LARGER_HALF_KEEPS: Final = 0.75
NEGATED_GROUP_KEEPS: Final = 0.25
KNOWN_KEEPS: Final = 0.7
# The same for every "or": two facts joined are harder to read than one after the other.
DISJUNCTION_KEEPS: Final = 0.3


def ranked(found: Iterable[Redescription]) -> tuple[Redescription, ...]:
    """Rank by the lower bound of J, and list every wording once, as in the published profile."""
    kept: dict[tuple[str, str], Redescription] = {}
    for one in sorted(found, key=_rank):
        kept.setdefault((to_text(one.left), to_text(one.right)), one)
    return tuple(kept.values())


def _rank(one: Redescription) -> tuple[float, int, str, str]:
    return -one.statistics.jaccard.low, one.literals, to_text(one.left), to_text(one.right)


def ranked_by_novelty(
    candidates: Sequence[Candidate],
    estimates: Sequence[Estimate],
    tables: Sequence[ReleasedTable] = (),
    *,
    answers: bool = False,
) -> list[Candidate]:
    """Return candidates that each say something new, the best first.

    Greedy: the next entry has the largest value times novelty. Among the entries of one table,
    novelty is the share of what a pair's two coverages tell that earlier entries have not shown:
    their conditional entropy over the released cells. A complement, or a union of what is known
    already, tells nothing. An entry of another table counts as known where a table's own trees can
    decide its queries. Beyond that, coverages cannot be compared between tables for free, so
    attributes are: novelty is at most the share of pairs of attributes, one from each query, that
    no entry of another table has. The same attributes with other cut points are one fact. The list
    ends where the value falls too far below the first entry's.

    First come stories, one of each table that has something new to tell, in few words. Then come
    the details that the tables add to them. Both have to be confirmed; of what is not, only the
    most valuable is listed, at the end.

    tables:  those that the candidates are from, in words, if their trees are to decide
    answers: whether they answer a question. Then the most accurate comes first, however it is
             worded: the question is not chosen among others, and a simpler answer is a worse one

    Otherwise, a pair that covers more than half of the entities, or negates a group, counts for
    less, so that of a pair and its complement the one is listed that says more in plainer words.
    """
    groups = [
        _Group(
            [one for one in candidates if one.table == number],
            estimate,
            tables[number] if tables else None,
            answers=answers,
        )
        for number, estimate in enumerate(estimates)
    ]
    chosen: list[Candidate] = []
    first = 0.0
    for turn in _Turn:
        while True:
            offers = [(group.best(turn, turn.least * first), group) for group in groups]
            best, group = max(offers, key=lambda one: one[0].rank, default=(NO_OFFER, None))
            if group is None or best.rank <= 0:
                break
            first = first or best.value
            entry = group.take(best.place, chosen)
            chosen.append(entry)
            for other in groups:
                if other is not group:
                    other.learn_of(entry)
    return chosen


class _Offer(NamedTuple):
    """A candidate that a table offers: its value times novelty, and by what it is preferred."""

    rank: float
    value: float
    place: int


NO_OFFER: Final = _Offer(-1.0, 0.0, -1)


class _Turn(Enum):
    """The parts of a list, in their order: stories, what adds to them, and what is in doubt."""

    STORIES = auto()
    DETAILS = auto()
    DOUBTS = auto()

    @property
    def least(self) -> float:
        """The least value of an entry, relative to the first."""
        return {
            _Turn.STORIES: LEAST_STORY,
            _Turn.DETAILS: LEAST_DETAIL,
            _Turn.DOUBTS: LEAST_DOUBT,
        }[self]


def appeal(one: Candidate) -> float:
    """Return what a candidate is worth to a reader who has seen nothing yet."""
    value = one.value * LARGER_HALF_KEEPS ** ((one.half > 0.5) + (one.lesser > 0.5))
    groups, asked, joined = (
        how_many(one.left) + how_many(one.right)
        for how_many in (negated_groups, knowns, disjunctions)
    )
    return value * NEGATED_GROUP_KEEPS**groups * KNOWN_KEEPS**asked * DISJUNCTION_KEEPS**joined


class _Group:
    """The candidates of one table, and what the listed entries have told of it.

    codes: int64[candidates, cells], which of its queries hold in each cell, as 0 … 3
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        estimate: Estimate,
        table: ReleasedTable | None = None,
        *,
        answers: bool = False,
    ) -> None:
        self._table = table
        # A negative count is noise: no entity is there.
        cells = np.maximum(estimate.cells, 0.0)
        self._weights = cells.ravel() / max(float(cells.sum()), 1e-12)
        self._known: Codes = np.zeros(cells.size, dtype=np.int64)
        self._candidates = candidates
        self._codes = np.array(
            [_codes(one, cells.shape) for one in candidates], dtype=np.int64
        ).reshape(len(candidates), cells.size)
        self._confirmed = np.array([one.confirmed for one in candidates], np.bool_)
        self._appeal = np.array([one.value if answers else appeal(one) for one in candidates])
        literals = np.array(
            [literal_count(one.left) + literal_count(one.right) for one in candidates]
        )
        self._names = [(mentioned(one.left), mentioned(one.right)) for one in candidates]
        self._alone = self._entropies(self._codes)
        # The pairs of attributes that the entries of other tables have, and what these leave of
        # each candidate's novelty.
        self._told: set[tuple[str, str]] = set()
        self._elsewhere = np.ones(len(candidates))
        # The number of the story that this table's details add to; 0 while it has no entry.
        self._story = 0
        self._details = Details(candidates, cells, table)
        # How much of its value a candidate keeps when it is compared as the first of a story.
        self._simplicity = np.ones(len(candidates))
        if not answers:
            self._simplicity = STORY_DISCOUNT**literals * np.where(
                self._details.riders, RIDER_KEEPS, 1.0
            )
        self._novelty = self._within()

    def best(self, turn: _Turn, least: float) -> _Offer:
        """Return what the list should take next of this table, if it is worth at least so much."""
        if not self._candidates:
            return NO_OFFER
        novelty = np.minimum(self._novelty, self._elsewhere)
        values = self._appeal * novelty
        offered = (novelty >= LEAST_NOVELTY) & (self._confirmed == (turn is not _Turn.DOUBTS))
        offered &= values >= least
        if turn is _Turn.DETAILS:
            offered &= self._begins() | self._details.adds
        ranks = values
        if turn is _Turn.STORIES:
            offered &= self._begins()
            ranks = values * self._simplicity
        ranks = np.where(offered, ranks, -1.0)
        place = int(ranks.argmax())
        return _Offer(float(ranks[place]), float(values[place]), place)

    def _begins(self) -> Flags:
        """Return which candidates would begin a story, bool[candidates].

        It is the first entry of its table, and no other table's has told any of it.
        """
        return np.asarray((self._elsewhere >= 1.0) & (self._story == 0))

    def take(self, place: int, listed: Sequence[Candidate]) -> Candidate:
        """Add a candidate to what is known, and return it with the number of its story."""
        entry = self._candidates[place]
        if not self._begins()[place]:
            self._story = self._story or _story_of(entry, listed)
            entry = replace(entry, detail=self._story)
        self._story = self._story or len(listed) + 1
        joined = self._known * 4 + self._codes[place]
        self._known = np.unique(joined, return_inverse=True)[1].reshape(-1)
        self._novelty = self._within()
        self._details.mention(place)
        if entry.detail is None:
            self._details.tell(place)
        return entry

    def learn_of(self, entry: Candidate) -> None:
        """Take note of an entry of another table."""
        self._told |= set(product(mentioned(entry.left), mentioned(entry.right)))
        self._elsewhere = self._left_by_others()
        if self._candidates and self._table is not None:
            left = _decided(entry.left, self._table.left)
            right = _decided(entry.right, self._table.right)
            joined = self._known * 9 + np.add.outer(3 * left, right).ravel()
            self._known = np.unique(joined, return_inverse=True)[1].reshape(-1)
            self._novelty = self._within()

    def _left_by_others(self) -> Floats:
        """Return what the entries of other tables leave of each candidate's novelty."""
        shares = [
            sum(pair in self._told for pair in product(lefts, rights)) / (len(lefts) * len(rights))
            for lefts, rights in self._names
        ]
        return 1.0 - np.array(shares)

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


def _story_of(entry: Candidate, listed: Sequence[Candidate]) -> int:
    """Return the number of the story with which an entry shares most pairs of attributes."""
    pairs = set(product(mentioned(entry.left), mentioned(entry.right)))
    shared = [len(pairs & set(product(mentioned(o.left), mentioned(o.right)))) for o in listed]
    nearest = shared.index(max(shared))
    return listed[nearest].detail or nearest + 1


def _decided(query: Query, tree: ReleasedTree) -> Codes:
    """Return where a query is false, undecided and true, as 0, 1 and 2, int64[ends]."""
    try:
        found = coverage(query, tree)
    except QueryError:  # too complex to decide
        return np.ones(len(tree.tree.ends), np.int64)
    return np.where(found.undetermined, 1, 2 * found.covered)


def _codes(one: Candidate, shape: tuple[int, ...]) -> Codes:
    left, right = np.zeros(shape[0], np.int64), np.zeros(shape[1], np.int64)
    left[list(one.left_ends)] = 2
    right[list(one.right_ends)] = 1
    return np.add.outer(left, right).ravel()
