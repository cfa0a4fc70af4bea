"""Events that may distinguish two data sets, and the choice of the best one.

The runs used for choosing are not used for measuring, so a poor choice can make a bound weak, but
not wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from redveil_research.audit.bounds import epsilon_at_least
from redveil_research.audit.outcome import Outcome

Outcomes = Sequence[Outcome]
Count = tuple[int, int]
# One entity changes a count by one; with Laplace noise, these thresholds distinguish best.
THRESHOLDS: Final = (0.0, 1.0, 2.0)
# Added to both counts of a comparison, so that rare observations weigh little.
SMOOTHING: Final = 4
# A promise is this many standard errors below the estimate. With more, only events with
# probabilities near one half are chosen; with fewer, the best of many is just lucky.
DEDUCTION: Final = 2.0
# Thresholds of the evidence, as quantiles of the runs.
SHARES: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Fact:
    """Whether a fact is true of a result.

    >>> Fact("depth is 1")(Outcome(frozenset({"depth is 1"}), {}))
    True
    """

    text: str

    def __call__(self, outcome: Outcome) -> bool:
        """Return whether the test holds for an outcome."""
        return self.text in outcome.facts

    def text_of(self, *, holds: bool) -> str:
        """Return the test as text, negated unless it holds."""
        return self.text if holds else f"not: {self.text}"


@dataclass(frozen=True, slots=True)
class Exceeds:
    """Whether a noisy count exceeds the number of the other entities by at least a threshold.

    >>> Exceeds("its cell (table 1)", 1.0).text_of(holds=True)
    'its cell (table 1) exceeds the others by at least 1'
    """

    number: str
    threshold: float

    def __call__(self, outcome: Outcome) -> bool:
        """Return whether the test holds for an outcome."""
        return outcome.numbers.get(self.number, -math.inf) >= self.threshold

    def text_of(self, *, holds: bool) -> str:
        """Return the test as text, negated unless it holds."""
        amount = "at least" if holds else "less than"
        return f"{self.number} exceeds the others by {amount} {self.threshold:g}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether all signs in a result together suggest that the entity is in the data.

    weights: a log-likelihood ratio for each sign, learned from earlier runs. Trees and noise are
             drawn independently, so the ratios add up. If they were known exactly, no event based
             on these signs would distinguish better (Neyman and Pearson).

    >>> outcome = Outcome(frozenset(), {"its cell (table 1)": 3.0})
    >>> Evidence({"its cell (table 1) from 1": 0.5}, 0.2)(outcome)
    True
    """

    weights: Mapping[str, float]
    threshold: float

    def __call__(self, outcome: Outcome) -> bool:
        """Return whether the test holds for an outcome."""
        return strength(self.weights, outcome) >= self.threshold

    def text_of(self, *, holds: bool) -> str:
        """Return the test as text, negated unless it holds."""
        where = "in the data" if holds else "not in the data"
        return f"leaves and counts together suggest that the entity is {where}"


Test: TypeAlias = Fact | Exceeds | Evidence


@dataclass(frozen=True, slots=True)
class Event:
    """A test, its outcome, and the data set on which that outcome is more likely.

    >>> str(Event(Fact("depth is 1"), holds=False, with_entity=True))
    'not: depth is 1; more likely with the entity'
    """

    test: Test
    holds: bool
    with_entity: bool

    def __str__(self) -> str:
        where = "with" if self.with_entity else "without"
        return f"{self.test.text_of(holds=self.holds)}; more likely {where} the entity"

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
        """Return a conservative estimate of the ε that this event shows; much faster than a bound.

        >>> sees = Event(Fact("seen"), holds=True, with_entity=True)
        >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
        >>> round(sees.promise([unseen] * 50, [seen] * 50), 1)
        2.0
        """
        return _promise(*self._counts(absent, present))

    def _counts(self, absent: Outcomes, present: Outcomes) -> tuple[Count, Count]:
        """Return (hits, runs) where the event is more likely, and where it is less likely."""
        without, having = (
            (sum(self.test(one) == self.holds for one in outcomes), len(outcomes))
            for outcomes in (absent, present)
        )
        return (having, without) if self.with_entity else (without, having)


def strength(weights: Mapping[str, float], outcome: Outcome) -> float:
    """Return the total weight of the signs in a result.

    >>> strength({"its cell (table 1) below 1": -1.0}, Outcome(frozenset(), {}))
    0.0
    """
    return math.fsum(weights.get(sign, 0.0) for sign in outcome.signs())


def best_event(absent: Outcomes, present: Outcomes) -> Event:
    """Return the event that seems to distinguish the two data sets best.

    absent, present: outcomes of runs without and with the entity.

    >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
    >>> str(best_event([unseen] * 40, [seen] * 40))
    'seen; more likely with the entity'
    """
    everything = (*absent, *present)
    pieces: list[Test] = [*_facts(everything), *_thresholds(everything)]
    promising = (*_plain_events(pieces, absent, present), *_weighed_events(absent, present))
    # Of equally good events, prefer one whose text has no "not".
    return max(promising, key=lambda one: (one[0], one[1].holds))[1]


def promise(absent: Outcomes, present: Outcomes) -> float:
    """Return a conservative estimate of the ε that the best event would show.

    In the runs that chose it, the best of many events is partly lucky. So one half of the runs
    chooses and the other judges, and vice versa.

    >>> seen, unseen = Outcome(frozenset({"seen"}), {}), Outcome(frozenset(), {})
    >>> promise([unseen] * 40, [seen] * 40) > 1 > promise([seen] * 40, [seen] * 40)
    True
    """
    halves = [(absent[half::2], present[half::2]) for half in (0, 1)]
    judged = (best_event(*halves[half]).promise(*halves[1 - half]) for half in (0, 1))
    return sum(judged) / len(halves)


def _facts(outcomes: Outcomes) -> Iterable[Fact]:
    """Return the facts observed more than once, in a fixed order."""
    seen = Counter(fact for one in outcomes for fact in one.facts)
    return [Fact(text) for text in sorted(seen) if seen[text] > 1]


def _thresholds(outcomes: Outcomes) -> Iterable[Exceeds]:
    names = sorted({name for one in outcomes for name in one.numbers})
    return [Exceeds(name, threshold) for name in names for threshold in THRESHOLDS]


def _plain_events(
    pieces: Sequence[Test], absent: Outcomes, present: Outcomes
) -> Iterator[tuple[float, Event]]:
    """Yield all events of a single fact or count."""
    for piece in pieces:
        without, having = (sum(map(piece, outcomes)) for outcomes in (absent, present))
        yield from _both_ways(piece, (without, len(absent)), (having, len(present)))


def _weighed_events(absent: Outcomes, present: Outcomes) -> Iterator[tuple[float, Event]]:
    """Yield events of all signs together, with thresholds that few or many runs reach."""
    weights = _weights(absent, present)
    without, having = (
        [strength(weights, one) for one in outcomes] for outcomes in (absent, present)
    )
    ranked = sorted((*without, *having))
    for threshold in sorted({ranked[int(share * len(ranked))] for share in SHARES}):
        counts = [(sum(one >= threshold for one in half), len(half)) for half in (without, having)]
        yield from _both_ways(Evidence(weights, threshold), *counts)


def _weights(absent: Outcomes, present: Outcomes) -> dict[str, float]:
    """Return the smoothed log-likelihood ratio of every sign."""
    without, having = (
        Counter(sign for one in outcomes for sign in one.signs()) for outcomes in (absent, present)
    )
    return {
        sign: math.log((having[sign] + SMOOTHING) / (without[sign] + SMOOTHING))
        for sign in sorted(without.keys() | having.keys())
    }


def _both_ways(test: Test, without: Count, having: Count) -> Iterator[tuple[float, Event]]:
    """Yield both outcomes of a test, each with the data set on which it is more likely."""
    for holds in (True, False):
        counts = [(hits if holds else runs - hits, runs) for hits, runs in (without, having)]
        with_entity = counts[1][0] * counts[0][1] > counts[0][0] * counts[1][1]
        unlikely, likely = counts if with_entity else reversed(counts)
        yield _promise(likely, unlikely), Event(test, holds, with_entity)


def _promise(likely: Count, unlikely: Count) -> float:
    """Return a conservative estimate of the ε that an event shows."""
    # One more hit each: an event that was not observed is not impossible.
    (hits, others), runs = (likely[0] + 1, unlikely[0] + 1), (likely[1] + 2, unlikely[1] + 2)
    variance = 1 / hits - 1 / runs[0] + 1 / others - 1 / runs[1]
    return math.log(hits / runs[0] * runs[1] / others) - DEDUCTION * math.sqrt(variance)
