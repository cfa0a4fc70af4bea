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
Count = tuple[int, int]
# One entity moves a count by one: where the noise is Laplace, these thresholds tell most.
THRESHOLDS: Final = (0.0, 1.0, 2.0)
# Added to both counts of a comparison, so that what was seen once or twice does not count much.
CAUTION: Final = 4
# How many standard errors a promise stays below what was seen: with too many, only events with
# probabilities near a half are chosen; with too few, the best of many is a lucky one.
MODESTY: Final = 2.0
# Thresholds of the evidence: the shares of the runs that stay below.
SHARES: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether all signs in a result together speak for the entity.

    weights: what each sign counts, a log-likelihood ratio learned from earlier runs. Trees and
             noise are drawn independently, so the ratios add up. Were they known exactly, no other
             event of these signs would tell more (Neyman and Pearson).

    >>> sees = Outcome(frozenset(), {"its cell (table 1)": 3.0})
    >>> Evidence({"its cell (table 1) from 1": 0.5}, 0.2)(sees)
    True
    """

    weights: Mapping[str, float]
    threshold: float

    def __call__(self, outcome: Outcome) -> bool:
        """Answer it."""
        return strength(self.weights, outcome) >= self.threshold

    def said(self, *, holds: bool) -> str:
        """Return the answer in words."""
        return f"leaves and counts together speak {'for' if holds else 'against'} the entity"


Test: TypeAlias = Fact | Reaches | Evidence


@dataclass(frozen=True, slots=True)
class Event:
    """A test, the answer that counts, and the data set on which it is the likelier.

    >>> str(Event(Fact("depth is 1"), holds=False, with_entity=True))
    'not: depth is 1; likelier with the entity'
    """

    test: Test
    holds: bool
    with_entity: bool

    def __str__(self) -> str:
        where = "with" if self.with_entity else "without"
        return f"{self.test.said(holds=self.holds)}; likelier {where} the entity"

    def epsilon(
        self, absent: Outcomes, present: Outcomes, error: float, delta: float = 0.0
    ) -> float:
        """Return the lower bound on ε from runs without and with the entity.

        >>> sees = Event(Fact("seen"), holds=True, with_entity=True)
        >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
        >>> round(sees.epsilon([unseen] * 50, [seen] * 50, error=0.05), 2)
        2.8
        """
        return epsilon_at_least(*self._counts(absent, present), error, delta)

    def promise(self, absent: Outcomes, present: Outcomes) -> float:
        """Return what ε it would probably show, modestly; far quicker than a bound.

        >>> sees = Event(Fact("seen"), holds=True, with_entity=True)
        >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
        >>> round(sees.promise([unseen] * 50, [seen] * 50), 1)
        2.0
        """
        return _promise(*self._counts(absent, present))

    def _counts(self, absent: Outcomes, present: Outcomes) -> tuple[Count, Count]:
        """Return how often it happened where it is likelier, and where it is not."""
        without, having = (
            (sum(self.test(one) == self.holds for one in outcomes), len(outcomes))
            for outcomes in (absent, present)
        )
        return (having, without) if self.with_entity else (without, having)


def strength(weights: Mapping[str, float], outcome: Outcome) -> float:
    """Return how strongly a result speaks for the entity.

    >>> strength({"its cell (table 1) below 1": -1.0}, Outcome(frozenset(), {}))
    0.0
    """
    return math.fsum(weights.get(sign, 0.0) for sign in outcome.signs())


def best_event(absent: Outcomes, present: Outcomes) -> Event:
    """Return the event that seems to tell most.

    absent, present: runs without and with the entity.

    >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
    >>> str(best_event([unseen] * 40, [seen] * 40))
    'seen; likelier with the entity'
    """
    everything = (*absent, *present)
    pieces: list[Test] = [*_facts(everything), *_thresholds(everything)]
    promising = (*_plain_events(pieces, absent, present), *_weighed_events(absent, present))
    # Of several that are the same, one that is said without "not".
    return max(promising, key=lambda one: (one[0], one[1].holds))[1]


def promise(absent: Outcomes, present: Outcomes) -> float:
    """Return how much some runs promise that two data sets can be told apart.

    The best of many events is a lucky one in the runs that chose it. So half of the runs choose,
    the others judge, and the other way round.

    >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
    >>> promise([unseen] * 40, [seen] * 40) > 1 > promise([seen] * 40, [seen] * 40)
    True
    """
    halves = [(absent[half::2], present[half::2]) for half in (0, 1)]
    judged = (best_event(*halves[half]).promise(*halves[1 - half]) for half in (0, 1))
    return sum(judged) / len(halves)


def _facts(outcomes: Outcomes) -> Iterable[Fact]:
    """Return the facts that were seen more than once, in a fixed order."""
    seen = Counter(fact for one in outcomes for fact in one.facts)
    return [Fact(text) for text in sorted(seen) if seen[text] > 1]


def _thresholds(outcomes: Outcomes) -> Iterable[Reaches]:
    names = sorted({name for one in outcomes for name in one.numbers})
    return [Reaches(name, threshold) for name in names for threshold in THRESHOLDS]


def _plain_events(
    pieces: Sequence[Test], absent: Outcomes, present: Outcomes
) -> Iterator[tuple[float, Event]]:
    """Yield all events that are one fact or one count."""
    for piece in pieces:
        without, having = (sum(map(piece, outcomes)) for outcomes in (absent, present))
        yield from _both_ways(piece, (without, len(absent)), (having, len(present)))


def _weighed_events(absent: Outcomes, present: Outcomes) -> Iterator[tuple[float, Event]]:
    """Yield everything together, with thresholds that few or many of the runs reach."""
    weights = _weights(absent, present)
    without, having = (
        [strength(weights, one) for one in outcomes] for outcomes in (absent, present)
    )
    ranked = sorted((*without, *having))
    for threshold in sorted({ranked[int(share * len(ranked))] for share in SHARES}):
        counts = [(sum(one >= threshold for one in half), len(half)) for half in (without, having)]
        yield from _both_ways(Evidence(weights, threshold), *counts)


def _weights(absent: Outcomes, present: Outcomes) -> dict[str, float]:
    """Return the cautious log-likelihood ratio of every sign."""
    without, having = (
        Counter(sign for one in outcomes for sign in one.signs()) for outcomes in (absent, present)
    )
    return {
        sign: math.log((having[sign] + CAUTION) / (without[sign] + CAUTION))
        for sign in sorted(without.keys() | having.keys())
    }


def _both_ways(test: Test, without: Count, having: Count) -> Iterator[tuple[float, Event]]:
    """Yield both answers of a test, each on the data set where it is likelier."""
    for holds in (True, False):
        counts = [(hits if holds else runs - hits, runs) for hits, runs in (without, having)]
        with_entity = counts[1][0] * counts[0][1] > counts[0][0] * counts[1][1]
        unlikely, likely = counts if with_entity else reversed(counts)
        yield _promise(likely, unlikely), Event(test, holds, with_entity)


def _promise(likely: Count, unlikely: Count) -> float:
    """Return what ε an event would probably show, modestly."""
    # One hit more: nothing is impossible because it was not seen.
    (often, seldom), runs = (likely[0] + 1, unlikely[0] + 1), (likely[1] + 2, unlikely[1] + 2)
    doubt = 1 / often - 1 / runs[0] + 1 / seldom - 1 / runs[1]
    return math.log(often / runs[0] * runs[1] / seldom) - MODESTY * math.sqrt(doubt)
