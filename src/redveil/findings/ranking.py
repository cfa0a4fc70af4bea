"""A ranked list in which every redescription says something new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Estimate
from redveil.findings.redescription import Redescription
from redveil.query.formula import And, Literal, Not, Or, Query, complement
from redveil.query.text import to_text

Codes = NDArray[np.int64]

# What is left of a Jaccard index's worth with every literal that has to be read.
LITERAL: Final = 0.99
# The least share of news that is worth a reader's time, and the least worth beside the first's.
NEWS: Final = 0.25
WORTH: Final = 0.5


def ranked(found: Iterable[Redescription]) -> tuple[Redescription, ...]:
    """Rank by the lower bound of J, and print every wording once."""
    kept: dict[tuple[str, str], Redescription] = {}
    for one in sorted(found, key=_rank):
        kept.setdefault((to_text(one.left), to_text(one.right)), one)
    return tuple(kept.values())


def ranked_by_news(
    found: Iterable[Redescription], estimates: Sequence[Estimate]
) -> tuple[Redescription, ...]:
    """Return redescriptions that each say something new, the best first.

    Greedy: next comes the largest lower bound of J times news, less a hundredth of it for every
    literal that has to be read. News is the share of what a redescription's two extents tell that
    those before it, of the same table, have not told: their conditional entropy over the released
    cells. A complement, or a union of what is known already, tells nothing. The list ends where the
    worth falls below half of the first's. Between tables, where extents cannot be compared for
    free, wordings are, and those of the complements.
    """
    told = [_Told(estimate) for estimate in estimates]
    waiting = list(ranked(found))
    kept: list[Redescription] = []
    said: set[frozenset[tuple[str, str]]] = set()
    while waiting:
        news = np.array([told[one.table].news(one) for one in waiting])
        worth = np.array([_value(one.jaccard.low, one.literals) for one in waiting]) * news
        worth[news < NEWS] = -1.0
        best = int(worth.argmax())
        first = kept[0] if kept else waiting[best]
        least = WORTH * _value(first.jaccard.low, first.literals)
        if worth[best] < least:
            break
        kept.append(waiting[best])
        said.add(_wordings(waiting[best]))
        told[waiting[best].table].tell(waiting[best])
        # What is no news now never will be.
        waiting = [one for i, one in enumerate(waiting) if news[i] >= NEWS and i != best]
        waiting = [one for one in waiting if _wordings(one) not in said]
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What ranking looks at of a redescription: its bound, how long it is to read, its cells."""

    low: float
    literals: int
    left_ends: tuple[int, ...]
    right_ends: tuple[int, ...]


def newsworthy(sketches: Sequence[Sketch], estimate: Estimate) -> list[int]:
    """Return which redescriptions of one table can come into a list of news.

    The order in which `ranked_by_news` takes those of a table does not depend on other tables
    (unless they have a wording in common), so nothing that it would keep is missing.
    """
    told = _Told(estimate)
    waiting = sorted(range(len(sketches)), key=lambda i: (-sketches[i].low, sketches[i].literals))
    kept: list[int] = []
    while waiting:
        news = np.array([told.news(sketches[i]) for i in waiting])
        worth = np.array([_value(sketches[i].low, sketches[i].literals) for i in waiting]) * news
        worth[news < NEWS] = -1.0
        best = int(worth.argmax())
        first = sketches[kept[0] if kept else waiting[best]]
        if worth[best] < WORTH * _value(first.low, first.literals):
            break
        kept.append(waiting[best])
        told.tell(sketches[waiting[best]])
        waiting = [i for k, i in enumerate(waiting) if news[k] >= NEWS and k != best]
    return kept


def _value(low: float, literals: int) -> float:
    """Return what a redescription is worth to somebody who has to read it."""
    return float(low * LITERAL**literals)


def _rank(one: Redescription) -> tuple[float, int, str, str]:
    return -one.jaccard.low, one.literals, to_text(one.left), to_text(one.right)


def _wordings(one: Redescription) -> frozenset[tuple[str, str]]:
    """Return a pair of queries and the pair of their complements, however they are put."""
    return frozenset(
        (_wording(one.left, negated=negated), _wording(one.right, negated=negated))
        for negated in (False, True)
    )


def _wording(query: Query, *, negated: bool) -> str:
    """Return a query with its negations at the literals, and operands in alphabetical order."""
    match query:
        case Literal():
            return to_text(complement(query) if negated else query)
        case Not(operand):
            return _wording(operand, negated=not negated)
        case And(operands) | Or(operands):
            parts = sorted({_wording(operand, negated=negated) for operand in operands})
            joint = "&" if isinstance(query, And) is not negated else "|"
            return f"({f' {joint} '.join(parts)})"


class _Told:
    """What the redescriptions of one table have told so far: which cells they tell apart."""

    def __init__(self, estimate: Estimate) -> None:
        # A negative count is noise: nobody is there.
        cells = np.maximum(estimate.cells, 0.0)
        self._weights = cells.ravel() / max(float(cells.sum()), 1e-12)
        self._shape = cells.shape
        self._known: Codes = np.zeros(cells.size, dtype=np.int64)

    def news(self, one: Redescription | Sketch) -> float:
        """Return the share of a redescription's entropy that is not known yet."""
        says = self._says(one)
        alone = self._entropy(says)
        if alone <= 0:
            return 0.0
        return (self._entropy(self._joined(says)) - self._entropy(self._known)) / alone

    def tell(self, one: Redescription | Sketch) -> None:
        """Take note of a redescription."""
        self._known = np.unique(self._joined(self._says(one)), return_inverse=True)[1]

    def _says(self, one: Redescription | Sketch) -> Codes:
        """Return which of its queries hold in each cell, as 0 … 3."""
        left, right = np.zeros(self._shape[0], np.int64), np.zeros(self._shape[1], np.int64)
        left[list(one.left_ends)] = 2
        right[list(one.right_ends)] = 1
        return np.add.outer(left, right).ravel()

    def _joined(self, says: Codes) -> Codes:
        return self._known * 4 + says

    def _entropy(self, codes: Codes) -> float:
        shares = np.bincount(codes, weights=self._weights)
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())
