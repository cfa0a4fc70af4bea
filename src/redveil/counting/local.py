"""Counting on this machine: blocks of a packed table, on as many threads as there are cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial, reduce
from itertools import count
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from redveil.counting.block import Block, blocks_of
from redveil.counting.columns import Classes
from redveil.counting.labels import GivenLabels, Labels
from redveil.counting.questions import Question
from redveil.counting.split_sets import all_entities, split_sets
from redveil.data.binning import BinnedTable
from redveil.kernels.subtree import SplitSets
from redveil.schema import Side
from redveil.sealed import Sealed, within
from redveil.trees.splits import Splits
from redveil.waiting import run_all

A = TypeVar("A")


class LocalCounts:
    """The entities of a packed table on this machine. Everything private in it is sealed.

    Besides counts it has what only walks need, which go from entity to entity: sets, entities and
    classes.
    """

    def __init__(
        self,
        table: Sealed[BinnedTable],
        splits: Mapping[Side, Splits],
        block_entities: int | None = None,
    ) -> None:
        self._table = table
        self._splits = splits
        self._given: Sealed[dict[int, Classes]] = Sealed({})
        self._numbers = count()
        self._blocks = within(
            lambda whole, given: blocks_of(whole, splits, given, block_entities), table, self._given
        )
        self._whole_sets: dict[Side, Sealed[SplitSets]] = {}
        self._one_at_a_time = Lock()

    def ask(self, question: Question[A]) -> Sealed[A]:
        """Return the answer for all entities, sealed."""
        return within(partial(answer, question), self._blocks)

    def give(self, classes: Sealed[Classes]) -> GivenLabels:
        """Remember the class of each entity, sealed int32[N], and return what stands for it."""
        number = next(self._numbers)
        within(lambda given, one: given.__setitem__(number, one), self._given, classes)
        return GivenLabels(number)

    def classes(self, labels: Labels) -> Sealed[Classes]:
        """Return the class of each entity, sealed int32[N]."""
        return within(
            lambda blocks: np.concatenate([labels.of(block) for block in blocks]), self._blocks
        )

    def sets(self, side: Side) -> Sealed[SplitSets]:
        """Return the splits of a view as sets of entities."""
        with self._one_at_a_time:
            if side not in self._whole_sets:
                self._whole_sets[side] = within(
                    partial(_sets, side, self._splits[side]), self._blocks, self._table
                )
            return self._whole_sets[side]

    @property
    def entities(self) -> Sealed[NDArray[np.uint64]]:
        """The set of all entities, uint64[words]."""
        return within(lambda table: all_entities(table.rows), self._table)

    @property
    def rows(self) -> Sealed[int]:
        """How many entities there are."""
        return within(lambda table: table.rows, self._table)


def answer(question: Question[A], blocks: tuple[Block, ...], lanes: int | None = None) -> A:
    """Answer a question for all blocks: each thread takes the next one and adds up its own.

    lanes: how many threads; as many as there are cores by default
    """
    if len(blocks) == 1:
        return question.of(blocks[0])
    left = deque(blocks)

    def lane() -> A | None:
        total: A | None = None
        while left:
            try:
                block = left.popleft()
            except IndexError:
                break
            one = question.of(block)
            total = one if total is None else question.add(total, one)
        return total

    work: list[Callable[[], A | None]] = [lane] * min(lanes or os.cpu_count() or 1, len(blocks))
    totals = run_all(work, left.clear) if len(work) > 1 else [lane()]
    return reduce(question.add, (one for one in totals if one is not None))


def _sets(side: Side, splits: Splits, blocks: tuple[Block, ...], table: BinnedTable) -> SplitSets:
    return (
        blocks[0].planes(side).sets() if len(blocks) == 1 else split_sets(table.view(side), splits)
    )
