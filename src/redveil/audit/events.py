"""Events that may tell two data sets apart, and the choice of the best among them.

The runs that choose take no part in the measurement, so nothing done here can make a bound wrong,
only weak.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from redveil.audit.bounds import epsilon_at_least
from redveil.audit.outcome import Outcome

Outcomes = Sequence[Outcome]
# One entity moves a count by one: where the noise is Laplace, these thresholds tell most.
THRESHOLDS: Final = (0.0, 1.0, 2.0)
# Added to both counts of a comparison, so that what was seen once or twice does not count much.
CAUTION: Final = 4
# How often a bound may be wrong when choosing: too seldom, and only events with probabilities near
# a half are chosen; too often, and the best of many is a lucky one.
CHOICE_ERROR: Final = 0.13
# Thresholds of the evidence: the shares of the runs that stay below.
SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True)
class Fact:
    """Whether something holds of a result.

    >>> Fact("depth is 1")(Outcome(frozenset({"depth is 1"}), {}))
    True
    """

    text: str

    def __call__(self, outcome: Outcome) -> bool:
        """Answer it."""
        return self.text in outcome.facts

    def said(self, *, holds: bool) -> str:
        """Return the answer in words."""
        return self.text if holds else f"not: {self.text}"


@dataclass(frozen=True, slots=True)
class Reaches:
    """Whether a noisy count holds at least so many more than the others are.

    >>> Reaches("its cell (table 1)", 1.0).said(holds=True)
    'its cell (table 1) counts at least 1 beyond the others'
    """

    number: str
    threshold: float

    def __call__(self, outcome: Outcome) -> bool:
        """Answer it."""
        return outcome.numbers.get(self.number, -math.inf) >= self.threshold

    def said(self, *, holds: bool) -> str:
        """Return the answer in words."""
        amount = "at least" if holds else "less than"
        return f"{self.number} counts {amount} {self.threshold:g} beyond the others"


Piece: TypeAlias = Fact | Reaches


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether everything in a result together speaks for the entity.

    weights: what each piece counts, a log-likelihood ratio learned from earlier runs.

    >>> piece = Reaches("its cell (table 1)", 1.0)
    >>> Evidence({piece: 0.5}, 0.2)(Outcome(frozenset(), {"its cell (table 1)": 3.0}))
    True
    """

    weights: Mapping[Piece, float]
    threshold: float

    def __call__(self, outcome: Outcome) -> bool:
        """Answer it."""
        return self.strength(outcome) >= self.threshold

    def strength(self, outcome: Outcome) -> float:
        """Return how strongly a result speaks for the entity."""
        return sum(weight for test, weight in self.weights.items() if test(outcome))

    def said(self, *, holds: bool) -> str:
        """Return the answer in words."""
        return f"trees and counts together speak {'for' if holds else 'against'} the entity"


@dataclass(frozen=True, slots=True)
class Event:
    """A test, the answer that counts, and the data set on which it is the likelier.

    >>> str(Event(Fact("depth is 1"), holds=False, with_entity=True))
    'not: depth is 1; likelier with the entity'
    """

    test: Piece | Evidence
    holds: bool
    with_entity: bool

    def __str__(self) -> str:
        where = "with" if self.with_entity else "without"
        return f"{self.test.said(holds=self.holds)}; likelier {where} the entity"

    def epsilon(self, absent: Outcomes, present: Outcomes, error: float) -> float:
        """Return the lower bound on ε from runs without and with the entity.

        >>> sees = Event(Fact("seen"), holds=True, with_entity=True)
        >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
        >>> round(sees.epsilon([unseen] * 50, [seen] * 50, error=0.05), 2)
        2.57
        """
        without, having = self._count(absent), self._count(present)
        likely, unlikely = (having, without) if self.with_entity else (without, having)
        return epsilon_at_least(likely, unlikely, error)

    def _count(self, outcomes: Outcomes) -> tuple[int, int]:
        return sum(self.test(one) == self.holds for one in outcomes), len(outcomes)


def best_events(absent: Outcomes, present: Outcomes, most: int) -> list[tuple[float, Event]]:
    """Return the events that tell most, the best first, each with the ε that it promises.

    absent, present: runs without and with the entity. Plain events are chosen by all of them. Half
    of them teach what evidence weighs, so only the other half can say how much it tells.

    >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
    >>> str(best_events([unseen] * 40, [seen] * 40, most=1)[0][1])
    'seen; likelier with the entity'
    """
    everything = (*absent, *present)
    pieces = _different([*_facts(everything), *_thresholds(everything)], everything)
    wholes = list(_evidence(pieces, absent[::2], present[::2]))
    promising = [
        (event.epsilon(without, having, CHOICE_ERROR), event)
        for tests, without, having in (
            (pieces, absent, present),
            (wholes, absent[1::2], present[1::2]),
        )
        for event in _events(tests)
    ]
    return sorted(promising, key=lambda one: -one[0])[:most]


def _different(pieces: Sequence[Piece], outcomes: Outcomes) -> list[Piece]:
    """Leave out what always has the same answer, and what has the same answers as another."""
    answers = {tuple(map(piece, outcomes)): piece for piece in reversed(pieces)}
    return [piece for answer, piece in answers.items() if any(answer) and not all(answer)]


def _events(tests: Sequence[Piece | Evidence]) -> Iterator[Event]:
    """Yield both answers of every test, in both directions."""
    for test in tests:
        for holds in (True, False):
            yield Event(test, holds, with_entity=True)
            yield Event(test, holds, with_entity=False)


def _evidence(pieces: Sequence[Piece], absent: Outcomes, present: Outcomes) -> Iterator[Evidence]:
    """Yield everything together, with thresholds that few or many of the runs reach."""
    weights = {piece: weight for piece in pieces if (weight := _weight(piece, absent, present))}
    whole = Evidence(weights, 0.0)
    strengths = sorted(whole.strength(one) for one in (*absent, *present))
    for share in SHARES:
        yield Evidence(weights, strengths[int(share * len(strengths))])


def _facts(outcomes: Outcomes) -> Iterable[Fact]:
    """Return the facts that were seen more than once, in a fixed order."""
    seen = Counter(fact for one in outcomes for fact in one.facts)
    return [Fact(text) for text in sorted(seen) if seen[text] > 1]


def _thresholds(outcomes: Outcomes) -> Iterable[Reaches]:
    names = sorted({name for one in outcomes for name in one.numbers})
    return [Reaches(name, threshold) for name in names for threshold in THRESHOLDS]


def _weight(piece: Piece, absent: Outcomes, present: Outcomes) -> float:
    """Return the cautious log-likelihood ratio of a piece of evidence: 0 if it says nothing."""
    without, having = (sum(piece(one) for one in outcomes) for outcomes in (absent, present))
    return math.log((having + CAUTION) / (without + CAUTION))
