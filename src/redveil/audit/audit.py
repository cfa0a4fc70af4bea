"""The audit: run on neighbours many times, choose events, bound ε from below on fresh runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from redveil.algorithms.parameters import Parameters, Profile
from redveil.algorithms.published import PublishedRandomness
from redveil.algorithms.run import run
from redveil.audit.cases import Case
from redveil.audit.events import best_event, promise
from redveil.audit.outcome import REFUSED, Observer, Outcome
from redveil.audit.pairs import Pair, pair, pairs
from redveil.data.dataset import Dataset
from redveil.errors import InputError, RedveilError
from redveil.findings.findings import Mined
from redveil.privacy.loss import Loss
from redveil.privacy.randomness import SystemRandomness

Runner = Callable[[Dataset, Parameters, Loss], Mined]
Progress = Callable[[float], None]

# A bound may be too high with this probability.
ERROR: Final = 0.05
# Runs are handed out in pieces, so that two cores are busy and progress shows.
PIECE: Final = 50
# The parts of all runs that look at every pair, that look again at the one that promises most, that
# look at the case's own, and that measure.
EVERYWHERE: Final = Fraction(1, 8)
ELSEWHERE: Final = Fraction(1, 8)
AT_HOME: Final = Fraction(1, 4)
MEASUREMENT: Final = Fraction(1, 2)
# With fewer runs nothing can be seen: three on each data set of each pair, to begin with.
FEWEST: Final = 400
Halves = tuple[list[Outcome], list[Outcome]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some runs on one data set of a pair, ready to be sent to another process.

    >>> Piece(honest, Parameters(), Loss(Fraction(1)), "nobody", with_entity=True, runs=3).runs
    3
    """

    runner: Runner
    parameters: Parameters
    loss: Loss
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
    >>> Finding(cases("twin")[0], Loss(Fraction(1)), 0.7, "nobody", "…", 2000, 9.0).verdict
    'consistent with the claim'
    """

    case: Case
    claimed: Loss
    bound: float
    pair: str
    event: str
    runs: int
    seconds: float

    @property
    def violates(self) -> bool:
        """Whether the claim is refuted."""
        return self.bound > self.claimed.epsilon

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


def honest(dataset: Dataset, parameters: Parameters, loss: Loss) -> Mined:
    """Mine as `redveil mine` does, with the real sources of randomness.

    >>> nobody = pair("nobody").dataset(with_entity=False)
    >>> len(honest(nobody, Parameters(depth=1), Loss(Fraction(1))).tables)
    1
    """
    published = parameters.profile is Profile.PUBLISHED
    source = PublishedRandomness if published else SystemRandomness
    return run(dataset, parameters, loss.price, lambda _: source(), workers=1)


def audit(
    case: Case,
    claimed: Loss,
    runs: int,
    runner: Runner = honest,
    spread: Spread = map,
    progress: Progress = lambda _: None,
) -> Finding:
    """Bound a case's ε from below.

    Half of the runs choose a pair of data sets and its most telling event. That is the case's own
    pair, unless another promises to refute the claim and the own does not: all are looked at, and
    the most promising again. The other half of the runs go to the chosen pair alone, and measure.

    >>> from redveil.audit.cases import cases
    >>> audit(cases("alt-expm", "hardened")[0], Loss(Fraction(1)), runs=400).verdict
    'consistent with the claim'
    """
    if runs < FEWEST:
        raise InputError(f"runs must be at least {FEWEST} for an audit to see anything")
    begun = time.monotonic()
    done = 0

    def look(among: Sequence[Pair], share: Fraction, before: Fraction) -> dict[str, Halves]:
        nonlocal done
        each = int(runs * share) // len(among) // 2
        done += 2 * each * len(among)
        tell: Progress = lambda part: progress(float(before + share * Fraction(part)))  # noqa: E731
        return _observe(case, claimed, among, each, runner, spread, tell)

    def refutable(halves: Halves) -> bool:
        return promise(*halves) > claimed.epsilon

    seen = look(pairs(), EVERYWHERE, Fraction(0))
    other, home = max(pairs(), key=lambda one: promise(*seen[one.name])), pair(case.home)
    # Seen anew: what promised most among many has been lucky.
    seen = look([other], ELSEWHERE, EVERYWHERE) | look([home], AT_HOME, EVERYWHERE + ELSEWHERE)
    # The case's own pair was chosen with care, and promises are uncertain.
    target = next((one for one in (home, other) if refutable(seen[one.name])), home)
    event = best_event(*seen[target.name])
    measured = look([target], MEASUREMENT, 1 - MEASUREMENT)[target.name]
    bound = event.epsilon(*measured, ERROR, float(claimed.delta))
    said = str(event) if bound > 0 else "none tells the two apart"
    return Finding(case, claimed, bound, target.name, said, done, time.monotonic() - begun)


def observe(piece: Piece) -> list[Outcome]:
    """Run on one data set, and return what an adversary sees.

    >>> loss = Loss(Fraction(1))
    >>> piece = Piece(honest, Parameters(depth=1), loss, "nobody", with_entity=True, runs=2)
    >>> len(observe(piece))
    2
    """
    known = pair(piece.pair)
    observer, dataset = Observer(known), known.dataset(with_entity=piece.with_entity)
    return [_outcome(observer, piece, dataset) for _ in range(piece.runs)]


def _outcome(observer: Observer, piece: Piece, dataset: Dataset) -> Outcome:
    try:
        return observer.outcome(piece.runner(dataset, piece.parameters, piece.loss))
    except RedveilError:
        return REFUSED


def _observe(
    case: Case,
    loss: Loss,
    among: Sequence[Pair],
    runs: int,
    runner: Runner,
    spread: Spread,
    progress: Progress,
) -> dict[str, Halves]:
    """Return outcomes by the pair's name: without and with the entity, `runs` of each."""
    sizes = [min(PIECE, runs - start) for start in range(0, runs, PIECE)]
    pieces = [
        Piece(runner, case.parameters, loss, one.name, with_entity, size)
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
