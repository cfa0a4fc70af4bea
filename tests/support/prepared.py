"""Prepared data from views filled by hand, and steps to pay for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from redveil.data.binning import BinnedTable
from redveil.privacy.loss import Price, total
from redveil.privacy.plan import Mechanism, Plan, Purse, Step, StepKey, StepKind
from redveil.schema import Schema
from redveil.sealed import Receipt, Sealed
from redveil.trees.prepared import Needs, PreparedData
from support.tiny import Tiny, table_of

SOME_STEP = StepKey(StepKind.TREE, trial=1)


def prepared(left: Tiny, right: Tiny, needs: Needs | None = None) -> PreparedData:
    """Return two tiny views as prepared data, with everything that can be prepared."""
    return prepared_table(table_of(left, right), Schema("tiny", left.view, right.view), needs)


def prepared_table(table: BinnedTable, schema: Schema, needs: Needs | None = None) -> PreparedData:
    """Return a binned table as prepared data."""
    return PreparedData.of(schema, Sealed(table), needs or Needs(sets=True, joint=True))


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
