"""The private size: a hundredth of ε buys the number of entities, by which a run is tuned."""

from __future__ import annotations

import numpy as np

from redveil.algorithms.schedule import size_step
from redveil.data.binning import BinnedTable
from redveil.privacy.loss import Price
from redveil.privacy.mechanisms import count
from redveil.privacy.plan import Plan
from redveil.privacy.randomness import Randomness
from redveil.sealed import Sealed, within


def private_size(data: Sealed[BinnedTable], price: Price, randomness: Randomness) -> int:
    """Return the noisy number of entities for its share of the price; it can be negative."""
    step = size_step(price)
    receipt = Plan(step.price, (step,)).purse().pay(step.name, "count")
    exact = within(lambda table: np.array([table.rows]), data)
    return int(count(exact, receipt, randomness).value[0])
