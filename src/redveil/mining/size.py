"""The private size: a hundredth of ε buys the number of entities, by which a run is tuned."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from redveil.data.binning import BinnedTable
from redveil.privacy.mechanisms import count
from redveil.privacy.plan import Plan, Step
from redveil.privacy.randomness import Randomness
from redveil.sealed import Sealed, within

SHARE: Final = Fraction(1, 100)
STEP: Final = "size"


def size_step(epsilon: Fraction) -> Step:
    """Return the step that measures the size in a run of price ε.

    >>> size_step(Fraction(1))
    Step(name='size', mechanism='count', epsilon=Fraction(1, 100))
    """
    return Step(STEP, "count", epsilon * SHARE)


def private_size(data: Sealed[BinnedTable], epsilon: Fraction, randomness: Randomness) -> int:
    """Return the noisy number of entities; it can be negative."""
    step = size_step(epsilon)
    receipt = Plan(step.epsilon, (step,)).purse().pay(STEP, "count")
    exact = within(lambda table: np.array([table.rows]), data)
    return int(count(exact, receipt, randomness).value[0])
