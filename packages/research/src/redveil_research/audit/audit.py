"""The audit: mine neighbouring data sets many times, choose an event, bound ε on fresh runs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from redveil import Dataset, InputError, RedveilError
from redveil.seam.neighbours import Algorithm, Constraints, Loss, Mined, awaited, mine
from redveil_research.audit.cases import Case, Pair, asked, pair, pairs
from redveil_research.audit.events import REFUSED, Observer, Outcome, best_event, promise

Runner = Callable[[Dataset, Algorithm, Loss], Mined]
Progress = Callable[[float], None]

# A bound may be too high with this probability.
ERROR: Final = 0.05
# Runs per piece of work: small enough to keep all cores busy and to show progress.
PIECE: Final = 50
# Shares of the runs: on all pairs, on the most promising one, on the case's own, and to measure.
ALL_PAIRS: Final = Fraction(1, 8)
MOST_PROMISING: Final = Fraction(1, 8)
OWN_PAIR: Final = Fraction(1, 4)
MEASUREMENT: Final = Fraction(1, 2)
# The fewest useful runs: at first, three on each data set of each pair.
FEWEST: Final = 400
# Inference comes after every release, so nothing is missed; a single term makes it fast.
FAST: Final = Constraints(max_disjuncts=1)
# Outcomes without and with the entity.
Halves = tuple[list[Outcome], list[Outcome]]
# By the name of the pair.
Observed = dict[str, Halves]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some runs on one data set of a pair, to be sent to another process.

    >>> from redveil.algorithms.twin import Twin
    >>> loss = Loss(Fraction(1))
    >>> Piece(run_unmodified, Twin(), loss, "nobody", with_entity=True, runs=3).runs
    3
    """

    runner: Runner
    algorithm: Algorithm
    loss: Loss
    pair: str
    with_entity: bool
    runs: int


# Runs pieces of work in order: the built-in `map`, or that of a pool.
Spread = Callable[[Callable[[Piece], list[Outcome]], Iterable[Piece]], Iterable[list[Outcome]]]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of auditing one case: with 95 % confidence, ε is at least `bound`.

    >>> from redveil_research.audit.cases import cases
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
        """Whether the claim of a hardened algorithm is refuted."""
        return self.violates and not self.case.published

    @property
    def verdict(self) -> str:
        """The finding in words."""
        if not self.violates:
            return "consistent with the claim"
        return "VIOLATION, as expected" if self.case.published else "VIOLATION"


def run_unmodified(dataset: Dataset, algorithm: Algorithm, loss: Loss) -> Mined:
    """Mine as `redveil mine` does, with the system's randomness.

    >>> from redveil.algorithms.twin import Twin
    >>> empty = pair("nobody").dataset(with_entity=False)
    >>> len(run_unmodified(empty, Twin(depth=1), Loss(Fraction(1))).run.tables)
    1
    """
    reporting = algorithm.profile.reporting(FAST, None)
    given = asked(algorithm, dataset)
    # What an empty list would have needed follows from released and public numbers.
    return mine(given, algorithm, reporting, loss, workers=1, explained=False)


def audit(
    case: Case,
    claimed: Loss,
    runs: int,
    runner: Runner = run_unmodified,
    spread: Spread = map,
    progress: Progress = lambda _: None,
) -> Finding:
    """Return a lower bound on a case's ε.

    Half of the runs choose a pair of data sets and the event that distinguishes it best. All pairs
    are tried, then the most promising one again. The case's own pair is chosen unless only the
    other one promises to refute the claim. The other half of the runs measure on the chosen pair.

    >>> from redveil_research.audit.cases import cases
    >>> audit(cases("alt-expm", "hardened")[0], Loss(Fraction(1)), runs=400).verdict
    'consistent with the claim'
    """
    if runs < FEWEST:
        raise InputError(f"runs must be at least {FEWEST} for an audit")
    begun = time.monotonic()
    done = 0

    def observe_pairs(among: Sequence[Pair], share: Fraction, before: Fraction) -> Observed:
        nonlocal done
        each = int(runs * share) // len(among) // 2
        done += 2 * each * len(among)
        part: Progress = lambda done: progress(float(before + share * Fraction(done)))  # noqa: E731
        return _observe(case, claimed, among, each, runner, spread, part)

    def refutable(halves: Halves) -> bool:
        return promise(*halves) > claimed.epsilon

    seen = observe_pairs(pairs(), ALL_PAIRS, Fraction(0))
    other, own = max(pairs(), key=lambda one: promise(*seen[one.name])), pair(case.own_pair)
    # On fresh runs: the best of many pairs has partly been lucky.
    seen = observe_pairs([other], MOST_PROMISING, ALL_PAIRS)
    seen |= observe_pairs([own], OWN_PAIR, ALL_PAIRS + MOST_PROMISING)
    # The case's own pair comes first: theory says it is the best, and promises are uncertain.
    target = next((one for one in (own, other) if refutable(seen[one.name])), own)
    event = best_event(*seen[target.name])
    measured = observe_pairs([target], MEASUREMENT, 1 - MEASUREMENT)[target.name]
    bound = event.epsilon(*measured, ERROR, float(claimed.delta))
    text = str(event) if bound > 0 else "no event distinguishes the two"
    return Finding(case, claimed, bound, target.name, text, done, time.monotonic() - begun)


def observe(piece: Piece) -> list[Outcome]:
    """Run on one data set, and return what an adversary observes.

    >>> from redveil.algorithms.twin import Twin
    >>> loss = Loss(Fraction(1))
    >>> piece = Piece(run_unmodified, Twin(depth=1), loss, "nobody", with_entity=True, runs=2)
    >>> len(observe(piece))
    2
    """
    known = pair(piece.pair)
    observer, dataset = Observer(known), known.dataset(with_entity=piece.with_entity)
    return [_outcome(observer, piece, dataset) for _ in range(piece.runs)]


def _outcome(observer: Observer, piece: Piece, dataset: Dataset) -> Outcome:
    try:
        return observer.outcome(piece.runner(dataset, piece.algorithm, piece.loss))
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
) -> Observed:
    """Return outcomes of every pair, `runs` without and `runs` with the entity."""
    sizes = [min(PIECE, runs - start) for start in range(0, runs, PIECE)]
    pieces = [
        Piece(runner, case.algorithm, loss, one.name, with_entity, size)
        for one in among
        for size in sizes
        for with_entity in (False, True)
    ]
    found: Observed = {one.name: ([], []) for one in among}
    for done, (piece, outcomes) in enumerate(
        zip(pieces, spread(observe, pieces), strict=True), start=1
    ):
        found[piece.pair][piece.with_entity].extend(outcomes)
        progress(done / len(pieces))
    return found


@contextmanager
def processes() -> Iterator[Spread]:
    """Yield a `map` that runs pieces of work in one process per core.

    >>> with processes() as spread:
    ...     list(spread(observe, ()))
    []
    """
    # Spawned, not forked: Numba's and Polars' threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(os.cpu_count(), context, initializer=_ignore_interrupts)
    try:
        yield partial(_spread, pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _spread(
    pool: Executor, work: Callable[[Piece], list[Outcome]], pieces: Iterable[Piece]
) -> Iterator[list[Outcome]]:
    """Yield the results of work done in other processes, in order."""
    for future in [pool.submit(work, piece) for piece in pieces]:
        yield awaited(future)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal; the parent stops its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
