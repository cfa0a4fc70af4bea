"""Counting on the workers of a Dask cluster. The entities stay with them; counts come back.

Dask recomputes what a worker had when it died, so its answers do not depend on which workers live.
Functions that run on workers return a sign instead of raising an error: Dask writes errors to its
log, together with arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from redveil.counting.block import Block, blocks_of
from redveil.counting.local import answer
from redveil.counting.questions import Question
from redveil.data.binning import BinnedTable, bin_table
from redveil.data.table import Table
from redveil.errors import ClusterError, SealedError
from redveil.schema import Schema, Side
from redveil.sealed import Sealed, within
from redveil.trees.splits import Splits

if TYPE_CHECKING:
    from distributed import Client, Future

A = TypeVar("A")
Lacking = Mapping[Side, NDArray[np.bool_]]

# How often a wait looks whether the scheduler is still there, and how long it may be away.
_POLL_SECONDS: Final = 0.5
_LONGEST_ABSENCE: Final = 20.0
# How often an answer is asked for that a busy cluster lost on its way.
_ATTEMPTS: Final = 3
_GONE: Final = (
    "the cluster's scheduler or too many of its workers are gone; what was charged stays charged. "
    "Check the cluster, then run again"
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Partition:
    """The entities that one task of a worker holds. Private; it never leaves the workers."""

    table: Table

    def __repr__(self) -> str:
        return "<partition>"


class PreparedPartition:
    """A partition, packed for a run, and divided into blocks."""

    def __init__(self, table: BinnedTable, splits: Mapping[Side, Splits]) -> None:
        self._table = table
        self._splits = splits
        self._blocks: tuple[Block, ...] = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks, which are made again where a partition is sent to."""
        if not self._blocks:
            self._blocks = blocks_of(self._table, self._splits, {}, threads=False)
        return self._blocks

    def __getstate__(self) -> tuple[BinnedTable, Mapping[Side, Splits]]:
        return self._table, self._splits

    def __setstate__(self, state: tuple[BinnedTable, Mapping[Side, Splits]]) -> None:
        self._table, self._splits = state
        self._blocks = ()

    def __repr__(self) -> str:
        return "<partition>"


@dataclass(frozen=True, slots=True)
class Failed:
    """What a task returns that could not do its work; its reason stays on its worker."""


class ClusterTable:
    """The entities of a data set, in partitions on a cluster's workers."""

    def __init__(self, client: Client, partitions: Sequence[Future[Any]]) -> None:
        self._client = client
        self._partitions = tuple(partitions)

    def mapped(self, function: Callable[[Table], Table]) -> ClusterTable:
        """Return the table after a function that works on each entity alone."""
        made = [self._client.submit(_mapped, one, function) for one in self._partitions]
        return ClusterTable(self._client, made)

    def counts(self, schema: Schema, splits: Mapping[Side, Splits]) -> ClusterCounts:
        """Return the backend that counts these entities."""
        packed = [self._client.submit(_packed, one, schema) for one in self._partitions]
        lacks = [self._client.submit(_lacks, one) for one in packed]
        # Every partition must know what anybody anywhere lacks.
        lacking = self._client.submit(_any_lacks, lacks)
        prepared = [self._client.submit(_prepared, one, splits, lacking) for one in packed]
        return ClusterCounts(self._client, prepared)


class ClusterCounts:
    """A counting backend whose entities are on a cluster's workers.

    A question goes to every partition. Answers are added up two by two, on the workers, so that one
    answer comes back.
    """

    def __init__(self, client: Client, partitions: Sequence[Future[Any]]) -> None:
        self._client = client
        self._partitions = tuple(partitions)

    def ask(self, question: Question[A]) -> Sealed[A]:
        """Return the answer for all entities, sealed."""
        submit = partial(self._client.submit, pure=False)
        outcome = received(self._client, partial(_total, submit, question, self._partitions))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def received(client: Client, submit: Callable[[], Future[Any]]) -> Sealed[Any] | BaseException:
    """Return what a task returned, sealed, or what to raise: without a word of the task's own.

    What fails while the scheduler is there is asked for again: nothing of it has been released.
    """
    for _ in range(_ATTEMPTS):
        try:
            return _awaited(client, submit())
        except KeyboardInterrupt:
            return KeyboardInterrupt()
        except SealedError as error:
            return error.with_traceback(None)
        except SystemExit:
            raise
        except BaseException:
            # Not only Exception: Dask cancels what waits for a scheduler that is gone.
            if client.status != "running":
                break
    return ClusterError(_GONE)


def _awaited(client: Client, future: Future[Any]) -> Sealed[Any]:
    """Wait for a task, as long as there is a scheduler."""
    last_seen = monotonic()
    while True:
        with suppress(TimeoutError):
            found = Sealed(future.result(timeout=_POLL_SECONDS))
            break
        if client.status == "running":
            last_seen = monotonic()
        elif client.status == "closed" or monotonic() - last_seen > _LONGEST_ABSENCE:
            raise ClusterError(_GONE)
    within(_must_not_have_failed, found)
    return found


def _must_not_have_failed(found: object) -> None:
    if isinstance(found, Failed):
        raise SealedError("a computation on sealed data failed; its reason stays sealed")


def _total(
    submit: Callable[..., Future[Any]], question: Question[A], partitions: Sequence[Future[Any]]
) -> Future[Any]:
    """Submit a question to all partitions, and a tree of sums above them."""
    level = [submit(_answer, one, question) for one in partitions]
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [submit(_sum, question, *pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return level[0]


def quietly_on_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns; a sign that it failed, instead of its error.

    >>> quietly_on_worker(len, "four"), quietly_on_worker(len, Failed()), quietly_on_worker(len, 4)
    (4, Failed(), Failed())
    """
    if any(isinstance(one, Failed) for one in arguments):
        return Failed()
    try:
        return function(*arguments)
    except Exception:
        return Failed()


def _answer(partition: Any, question: Question[A]) -> Any:
    return quietly_on_worker(lambda one: answer(question, one.blocks, lanes=1), partition)


def _sum(question: Question[A], one: Any, other: Any) -> Any:
    return quietly_on_worker(question.add, one, other)


def _mapped(partition: Any, function: Callable[[Table], Table]) -> Any:
    return quietly_on_worker(lambda one: Partition(function(one.table)), partition)


def _packed(partition: Any, schema: Schema) -> Any:
    return quietly_on_worker(lambda one: _Packed(bin_table(one.table, schema)), partition)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Packed:
    table: BinnedTable

    def __repr__(self) -> str:
        return "<partition>"


def _lacks(packed: Any) -> Any:
    def lacks(one: _Packed) -> Lacking:
        return {side: one.table.view(side).lacking for side in Side}

    return quietly_on_worker(lacks, packed)


def _any_lacks(found: Sequence[Any]) -> Any:
    def together(*all_: Lacking) -> Lacking:
        return {side: np.logical_or.reduce([one[side] for one in all_]) for side in Side}

    return quietly_on_worker(together, *found)


def _prepared(packed: Any, splits: Mapping[Side, Splits], lacking: Any) -> Any:
    def prepare(one: _Packed, everywhere: Lacking) -> PreparedPartition:
        left, right = (
            one.table.view(side).where_lacking(everywhere[side], splits[side].view) for side in Side
        )
        return PreparedPartition(replace(one.table, left=left, right=right), splits)

    return quietly_on_worker(prepare, packed, lacking)
