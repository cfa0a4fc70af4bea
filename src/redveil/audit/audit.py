"""The audit: run on neighbours many times, choose events, bound ε from below on fresh runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from redveil.audit.cases import Case
from redveil.audit.events import best_events
from redveil.audit.outcome import REFUSED, Observer, Outcome
from redveil.audit.pairs import Pair, pair, pairs
from redveil.data.dataset import Dataset
from redveil.errors import InputError, RedveilError
from redveil.mining.interpretation import Mined
from redveil.mining.mine import run
from redveil.mining.parameters import Parameters, Profile
from redveil.mining.published import PublishedRandomness
from redveil.privacy.randomness import SystemRandomness

Runner = Callable[[Dataset, Parameters, Fraction], Mined]
Progress = Callable[[float], None]

# A bound may be too high with this probability; events are paid for out of it.
ERROR: Final = 0.05
EVENTS: Final = 2
# Runs are handed out in pieces, so that two cores are busy and progress shows.
PIECE: Final = 25
# With fewer runs nothing can be seen: three on each data set of each pair, to begin with.
FEWEST: Final = 120
# Of how many pairs a second look is taken.
HOPEFUL: Final = 3
Halves = tuple[list[Outcome], list[Outcome]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some runs on one data set of a pair, ready to be sent to another process.

    >>> Piece(honest, Parameters(), Fraction(1), "nobody", with_entity=True, runs=3).runs
    3
    """

    runner: Runner
    parameters: Parameters
    epsilon: Fraction
    pair: str
    with_entity: bool
    runs: int


class Spread(Protocol):
    """Does pieces of work in order: the built-in `map`, or a pool's."""

    def __call__(
        self, work: Callable[[Piece], list[Outcome]], pieces: Iterable[Piece], /
    ) -> Iterable[list[Outcome]]:
        """Do all of them."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """What the audit of one case says: with confidence 95 %, ε is at least `bound`.

    >>> from redveil.audit.cases import cases
    >>> Finding(cases("twin")[0], Fraction(1), 0.7, "nobody", "…", 2000, 9.0).verdict
    'consistent with the claim'
    """

    case: Case
    claimed: Fraction
    bound: float
    pair: str
    event: str
    runs: int
    seconds: float

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted."""
        return self.bound > self.claimed

    @property
    def alarming(self) -> bool:
        """Whether the claim is refuted where it is meant to hold."""
        return self.violates and not self.case.published

    @property
    def verdict(self) -> str:
        """The finding in a few words."""
        if not self.violates:
            return "consistent with the claim"
        return "VIOLATION, as known limits say" if self.case.published else "VIOLATION"


def honest(dataset: Dataset, parameters: Parameters, epsilon: Fraction) -> Mined:
    """Mine as `redveil mine` does, with the real sources of randomness.

    >>> nobody = pair("nobody").dataset(with_entity=False)
    >>> len(honest(nobody, Parameters(depth=1), Fraction(1)).tables)
    1
    """
    published = parameters.profile is Profile.PUBLISHED
    source = PublishedRandomness if published else SystemRandomness
    return run(dataset, parameters, epsilon, lambda _: source(), workers=1)


def audit(
    case: Case,
    epsilon: Fraction,
    runs: int,
    runner: Runner = honest,
    spread: Spread = map,
    progress: Progress = lambda _: None,
) -> Finding:
    """Bound a case's ε from below.

    Half of the runs choose a pair of data sets and its most telling events: first on all pairs,
    then on the most promising ones. The other half go to the chosen pair alone, and measure.

    >>> from redveil.audit.cases import cases
    >>> audit(cases("alt-expm", "hardened")[0], Fraction(1), runs=120).verdict
    'consistent with the claim'
    """
    if runs < FEWEST:
        raise InputError(f"runs must be at least {FEWEST} for an audit to see anything")
    begun = time.monotonic()
    done = 0

    def look(among: Sequence[Pair], share: int, after: float) -> dict[str, Halves]:
        nonlocal done
        each = runs // share // len(among) // 2
        done += 2 * each * len(among)
        tell: Progress = lambda part: progress(after + part / share)  # noqa: E731
        return _observe(case, epsilon, among, each, runner, spread, tell)

    seen = look(pairs(), 4, 0.0)
    hopeful = _by_promise(pairs(), seen)[:HOPEFUL]
    for name, more in look(hopeful, 4, 0.25).items():
        seen[name] = seen[name][0] + more[0], seen[name][1] + more[1]
    target = _by_promise(hopeful, seen)[0]
    events = [event for _, event in best_events(*seen[target.name], most=EVENTS)]
    measured = look([target], 2, 0.5)[target.name]
    bounds = [event.epsilon(*measured, ERROR / len(events)) for event in events]
    best = max(bounds)
    said = str(events[bounds.index(best)]) if best > 0 else "none tells the two apart"
    seconds = time.monotonic() - begun
    return Finding(case, epsilon, max(best, 0.0), target.name, said, done, seconds)


def _by_promise(among: Sequence[Pair], seen: Mapping[str, Halves]) -> list[Pair]:
    """Return the pairs, the one that promises the largest bound first."""
    promise = {one.name: best_events(*seen[one.name], most=1)[0][0] for one in among}
    return sorted(among, key=lambda one: -promise[one.name])


def observe(piece: Piece) -> list[Outcome]:
    """Run on one data set, and return what an adversary sees.

    >>> piece = Piece(honest, Parameters(depth=1), Fraction(1), "nobody", with_entity=True, runs=2)
    >>> len(observe(piece))
    2
    """
    known = pair(piece.pair)
    observer, dataset = Observer(known), known.dataset(with_entity=piece.with_entity)
    return [
        _outcome(observer, piece.runner, dataset, piece.parameters, piece.epsilon)
        for _ in range(piece.runs)
    ]


def _outcome(
    observer: Observer, runner: Runner, dataset: Dataset, parameters: Parameters, epsilon: Fraction
) -> Outcome:
    try:
        return observer.outcome(runner(dataset, parameters, epsilon))
    except RedveilError:
        return REFUSED


def _observe(
    case: Case,
    epsilon: Fraction,
    among: Sequence[Pair],
    runs: int,
    runner: Runner,
    spread: Spread,
    progress: Progress,
) -> dict[str, Halves]:
    """Return outcomes by the pair's name: without and with the entity, `runs` of each."""
    sizes = [min(PIECE, runs - start) for start in range(0, runs, PIECE)]
    pieces = [
        Piece(runner, case.parameters, epsilon, one.name, with_entity, size)
        for one in among
        for size in sizes
        for with_entity in (False, True)
    ]
    found: dict[str, Halves] = {one.name: ([], []) for one in among}
    for done, (piece, outcomes) in enumerate(
        zip(pieces, spread(observe, pieces), strict=True), start=1
    ):
        found[piece.pair][piece.with_entity].extend(outcomes)
        progress(done / len(pieces))
    return found
