"""Prepared data from views filled by hand, and steps to pay for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from redveil.counting.columns import Classes
from redveil.counting.joint import count_jointly
from redveil.counting.labels import GivenLabels
from redveil.counting.prepared import PreparedData
from redveil.data.binning import BinnedTable
from redveil.data.table import pack
from redveil.growing.whole_tree import by_class
from redveil.kernels.compress import compress, movers
from redveil.kernels.joint import JointCounts
from redveil.kernels.subtree import SplitSets
from redveil.losses.loss import Price, total
from redveil.losses.plan import Mechanism, Plan, Step, StepKey, StepKind
from redveil.privacy.purse import Purse
from redveil.schema import Schema
from redveil.sealed import Receipt, Sealed
from support.tiny import Tiny, table_of

SOME_STEP = StepKey(StepKind.TREE, trial=1)


def prepared(left: Tiny, right: Tiny) -> PreparedData:
    """Return two tiny views as prepared data."""
    return prepared_table(table_of(left, right), Schema("tiny", left.view, right.view))


def prepared_table(table: BinnedTable, schema: Schema) -> PreparedData:
    """Return a binned table as prepared data."""
    return PreparedData.of(schema, Sealed(table))


def given_target(data: PreparedData, target: Sequence[int]) -> GivenLabels:
    """Return classes given by hand as what to predict; -1 is none."""
    return data.here.give(Sealed(np.array(target, np.int32)))


def among(sets: SplitSets, members: NDArray[np.uint64]) -> SplitSets:
    """Return splits as sets of some entities only; members: uint64[words]."""
    moves = movers(members)
    holds, known = (compress(each, members, moves) for each in (sets.holds, sets.known))
    return sets._replace(holds=holds, known=known)


def counts_by_class(sets: SplitSets, target: Classes, classes: int) -> JointCounts:
    """Return how the splits of a view fall together among the entities of each class."""
    inside = [among(sets, pack(target == number)) for number in range(classes)]
    return by_class([count_jointly(those, those) for those in inside])


def receipt(mechanism: Mechanism, price: Price, key: StepKey = SOME_STEP) -> Receipt:
    """Return a receipt as a purse would issue it."""
    return Receipt(key, mechanism, price)


def level_keys(levels: int) -> list[StepKey]:
    """Return the steps of a tree that is paid for level by level."""
    return [StepKey(StepKind.TWIN_TREES, 1, level=level) for level in range(1, levels + 1)]


def purse_of(keys: Sequence[StepKey], price: Price | Sequence[Price]) -> Purse:
    """Return a purse with a plan in which each step is a choice, at one price or its own."""
    prices = [price] * len(keys) if isinstance(price, Price) else list(price)
    steps = tuple(Step(key, "choose", one) for key, one in zip(keys, prices, strict=True))
    whole = total(prices) if prices else Fraction(0)
    purse = Purse(whole)
    purse.commit(Plan(whole, steps))
    return purse
