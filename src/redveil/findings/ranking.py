"""Ranking: a list in which every redescription says something new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Estimate
from redveil.findings.redescription import Redescription
from redveil.query.formula import And, Known, Literal, Not, Or, Query, negate
from redveil.query.text import to_text

Codes = NDArray[np.int64]
Wordings = frozenset[tuple[str, str]]

# The share of its value that a redescription keeps with every literal that has to be read.
LITERAL_DISCOUNT: Final = 0.99
# The least novelty that is worth a reader's time, and the least value relative to the first entry.
LEAST_NOVELTY: Final = 0.25
LEAST_RELATIVE_VALUE: Final = 0.5


def ranked(found: Iterable[Redescription]) -> tuple[Redescription, ...]:
    """Rank by the lower bound of J, and list every wording once."""
    kept: dict[tuple[str, str], Redescription] = {}
    for one in sorted(found, key=_rank):
        kept.setdefault((to_text(one.left), to_text(one.right)), one)
    return tuple(kept.values())


def ranked_by_novelty(
    found: Iterable[Redescription], estimates: Sequence[Estimate]
) -> tuple[Redescription, ...]:
    """Return redescriptions that each say something new, the best first.

    Greedy: the next entry has the largest value, which is the lower bound of J times novelty, less
    a hundredth for every literal. Novelty is the share of what a redescription's two coverages tell
    that earlier entries of the same table have not shown: their conditional entropy over the
    released cells. A complement, or a union of what is known already, tells nothing. The list ends
    where the value falls below half of the first entry's. Between tables, coverages cannot be
    compared for free, so wordings are compared instead, and those of complements.
    """
    waiting = list(ranked(found))
    known = [_Known(estimate) for estimate in estimates]
    chosen = _greedy(
        [_sketch(one) for one in waiting],
        [known[one.table] for one in waiting],
        lambda i: _wordings(waiting[i]),
    )
    return tuple(waiting[i] for i in chosen)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What ranking looks at: the lower bound of J, the number of literals, the covered ends."""

    low: float
    literals: int
    left_ends: tuple[int, ...]
    right_ends: tuple[int, ...]

    @property
    def value(self) -> float:
        """The lower bound of J, discounted for the literals that have to be read."""
        return float(self.low * LITERAL_DISCOUNT**self.literals)


def novel(sketches: Sequence[Sketch], estimate: Estimate) -> list[int]:
    """Return which redescriptions of one table can appear in a list ranked by novelty.

    The order in which `ranked_by_novelty` takes those of a table does not depend on other tables
    (unless they share a wording), so nothing that it would keep is missing.
    """
    order = sorted(range(len(sketches)), key=lambda i: (-sketches[i].low, sketches[i].literals))
    known = _Known(estimate)
    chosen = _greedy([sketches[i] for i in order], [known] * len(order), lambda _: None)
    return [order[i] for i in chosen]


def _greedy(
    sketches: Sequence[Sketch],
    known: Sequence[_Known],
    wordings: Callable[[int], Wordings | None],
) -> list[int]:
    """Return the places of the entries that are chosen, best first.

    known:    for each sketch, what earlier entries of its table have shown
    wordings: of a sketch, by its place; two entries never share them, unless they are None
    """
    chosen: list[int] = []
    listed: set[Wordings | None] = set()
    waiting = list(range(len(sketches)))
    while waiting:
        novelty = np.array([known[i].novelty(sketches[i]) for i in waiting])
        values = np.array([sketches[i].value for i in waiting]) * novelty
        values[novelty < LEAST_NOVELTY] = -1.0
        place = int(values.argmax())
        best = waiting[place]
        first = sketches[chosen[0] if chosen else best]
        if values[place] < LEAST_RELATIVE_VALUE * first.value:
            break
        chosen.append(best)
        known[best].learn(sketches[best])
        if (words := wordings(best)) is not None:
            listed.add(words)
        # What is not novel now never will be.
        waiting = [
            i
            for i, new in zip(waiting, novelty, strict=True)
            if new >= LEAST_NOVELTY and i != best and wordings(i) not in listed
        ]
    return chosen


def _sketch(one: Redescription) -> Sketch:
    return Sketch(one.statistics.jaccard.low, one.literals, one.left_ends, one.right_ends)


def _rank(one: Redescription) -> tuple[float, int, str, str]:
    return -one.statistics.jaccard.low, one.literals, to_text(one.left), to_text(one.right)


def _wordings(one: Redescription) -> Wordings:
    """Return the wording of a pair of queries, and that of the pair of their complements."""
    return frozenset(
        (_wording(one.left, negated=negated), _wording(one.right, negated=negated))
        for negated in (False, True)
    )


def _wording(query: Query, *, negated: bool) -> str:
    """Return a query with its negations at the literals, and operands in alphabetical order."""
    match query:
        case Literal() | Known():
            return to_text(negate(query) if negated else query)
        case Not(operand):
            return _wording(operand, negated=not negated)
        case And(operands) | Or(operands):
            parts = sorted({_wording(operand, negated=negated) for operand in operands})
            joint = "&" if isinstance(query, And) is not negated else "|"
            return f"({f' {joint} '.join(parts)})"


class _Known:
    """What the listed redescriptions of one table have shown: which cells they tell apart."""

    def __init__(self, estimate: Estimate) -> None:
        # A negative count is noise: no entity is there.
        cells = np.maximum(estimate.cells, 0.0)
        self._weights = cells.ravel() / max(float(cells.sum()), 1e-12)
        self._shape = cells.shape
        self._known: Codes = np.zeros(cells.size, dtype=np.int64)

    def novelty(self, one: Sketch) -> float:
        """Return the share of a redescription's entropy that is not known yet."""
        codes = self._codes(one)
        alone = self._entropy(codes)
        if alone <= 0:
            return 0.0
        return (self._entropy(self._joined(codes)) - self._entropy(self._known)) / alone

    def learn(self, one: Sketch) -> None:
        """Add a redescription to what is known."""
        self._known = np.unique(self._joined(self._codes(one)), return_inverse=True)[1]

    def _codes(self, one: Sketch) -> Codes:
        """Return which of its queries hold in each cell, as 0 … 3."""
        left, right = np.zeros(self._shape[0], np.int64), np.zeros(self._shape[1], np.int64)
        left[list(one.left_ends)] = 2
        right[list(one.right_ends)] = 1
        return np.add.outer(left, right).ravel()

    def _joined(self, codes: Codes) -> Codes:
        return self._known * 4 + codes

    def _entropy(self, codes: Codes) -> float:
        shares = np.bincount(codes, weights=self._weights)
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())
