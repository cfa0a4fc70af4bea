"""What an adversary who knows all entities but one can observe, and which event tells most.

It depends only on `Mined`, from which alone the result file is made. The runs used for choosing an
event are not used for measuring, so a poor choice can make a bound weak, but not wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from redveil.seam.neighbours import (
    Algorithm,
    LeafTable,
    Mined,
    Positions,
    Reporting,
    Splits,
    Tree,
    bin_view,
    cross_tabulate,
    derived_column,
    route,
    split_literal,
)
from redveil.seam.queries import Query, View, to_text
from redveil_research.audit.bounds import epsilon_at_least
from redveil_research.audit.cases import Pair

TOTAL: Final = "the total"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The adversary's observations in one result.

    facts:   true statements about the result.
    numbers: every noisy count that would include the entity, less the other entities, which the
             adversary knows: the entity's own 1 or 0 plus noise.
    company: for each table, the number of other entities in the entity's left leaf, right leaf and
             cell. An entity changes scores by how many others share its leaf, so this is most of
             what trees leak.

    >>> Outcome(frozenset({"depth is 1"}), {"its cell (table 1)": 1.0}).numbers
    {'its cell (table 1)': 1.0}
    """

    facts: frozenset[str]
    numbers: Mapping[str, float]
    company: tuple[tuple[int, int, int], ...] = ()

    def signs(self) -> Iterator[str]:
        """Yield the signs of the entity's presence or absence: one per table and one per number.

        The total is omitted: it is the sum of the cells, and says less than the entity's own.

        >>> list(Outcome(frozenset(), {"its cell (table 1)": -2.0}, ((0, 8, 0),)).signs())
        ['0, 8, 0 (table 1)', 'its cell (table 1) below 1']
        """
        for place, (left, right, cell) in enumerate(self.company, start=1):
            yield f"{left}, {right}, {cell} (table {place})"
        for name, number in self.numbers.items():
            if not name.startswith(TOTAL):
                yield f"{name} {'from' if number >= 1 else 'below'} 1"


# A run that fails on only one of the data sets distinguishes them, too.
REFUSED = Outcome(frozenset({"the run is refused"}), {})


@dataclass(frozen=True, slots=True)
class Observer:
    """Extracts outcomes from results mined on either data set of a pair.

    >>> from redveil_research.audit.cases import pair
    >>> Observer(pair("nobody")).pair.name
    'nobody'
    """

    pair: Pair
    # Caches: the same parameters and trees occur in thousands of results.
    _splits: dict[View, Splits] = field(default_factory=dict)
    _parameters: dict[tuple[Algorithm, Reporting], frozenset[str]] = field(default_factory=dict)
    _trees: dict[tuple[View, Tree], tuple[Positions, frozenset[str]]] = field(default_factory=dict)

    def outcome(self, mined: Mined) -> Outcome:
        """Return the adversary's observations."""
        facts = {
            f"{len(mined.findings.redescriptions)} redescriptions are reported",
            f"{len(mined.findings.pruned)} redescriptions are pruned",
            *self._parameter_facts(mined.run.algorithm, mined.reporting),
        }
        numbers: dict[str, float] = {}
        company: list[tuple[int, int, int]] = []
        for place, measured in enumerate(mined.run.tables, start=1):
            sides = (mined.run.schema.left, measured.left), (mined.run.schema.right, measured.right)
            meanings = mined.origin.meanings
            (at_left, left_facts), (at_right, right_facts) = (
                self._tree_facts(view, tree, meanings[tree.side]) for view, tree in sides
            )
            beside = at_left[:-1] == at_left[-1], at_right[:-1] == at_right[-1]
            left, right = (int(np.count_nonzero(same)) for same in beside)
            company.append((left, right, int(np.count_nonzero(beside[0] & beside[1]))))
            facts |= left_facts | right_facts
            facts.add(f"its left leaf has {left} others (table {place})")
            facts.add(f"its right leaf has {right} others (table {place})")
            for name, number in _numbers(measured, at_left, at_right):
                numbers[f"{name} (table {place})"] = number
        facts |= {
            f"{name} exceeds the others by at least {threshold:g}"
            for name, number in numbers.items()
            for threshold in THRESHOLDS
            if number >= threshold
        }
        return Outcome(frozenset(facts), numbers, tuple(company))

    def _parameter_facts(self, algorithm: Algorithm, reporting: Reporting) -> frozenset[str]:
        key = algorithm, reporting
        if key not in self._parameters:
            public = algorithm.public() | reporting.public()
            facts = frozenset(f"{name} is {value}" for name, value in public.items())
            self._parameters[key] = facts
        return self._parameters[key]

    def _tree_facts(
        self, view: View, tree: Tree, meanings: Mapping[str, Query]
    ) -> tuple[Positions, frozenset[str]]:
        """Return the end of every entity's path, the added entity last, and facts about splits."""
        if (view, tree) not in self._trees:
            splits = self._splits.setdefault(view, Splits.of(view))
            table = self.pair.table()
            declared = table.view(tree.side)
            columns = dict(declared)
            for one in view.attributes:
                if one.name in meanings:
                    columns[one.name] = derived_column(one, meanings[one.name], declared)
            packed = bin_view(columns, view, table.rows)
            facts = frozenset(_split_facts(splits, tree))
            self._trees[view, tree] = route(packed, splits, tree), facts
        return self._trees[view, tree]


def _split_facts(splits: Splits, tree: Tree) -> Iterator[str]:
    for node in tree.inner:
        split = tree.splits[node]
        assert split is not None
        text = to_text(split_literal(splits, split, held=True))
        yield f"the {tree.side} tree splits at {text}"
        if node == 0:
            yield f"the {tree.side} tree first splits at {text}"


def _numbers(
    measured: LeafTable, at_left: Positions, at_right: Positions
) -> Iterator[tuple[str, float]]:
    left, right = measured.left, measured.right
    others = cross_tabulate(left, right, at_left[:-1], at_right[:-1])
    row, column = left.ends.index(int(at_left[-1])), right.ends.index(int(at_right[-1]))
    yield "its cell", float(measured.cells[row, column] - others[row, column])
    yield TOTAL, float(np.sum(measured.cells) - others.sum())
    if measured.left_margin is not None:
        yield "its left leaf", float(measured.left_margin[row] - others[row].sum())
    if measured.right_margin is not None:
        yield "its right leaf", float(measured.right_margin[column] - others[:, column].sum())


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


Test: TypeAlias = Fact | Evidence


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
    promising = (
        *_plain_events(_facts(everything), absent, present),
        *_weighed_events(absent, present),
    )
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


def _plain_events(
    pieces: Iterable[Fact], absent: Outcomes, present: Outcomes
) -> Iterator[tuple[float, Event]]:
    """Yield all events of a single fact."""
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
