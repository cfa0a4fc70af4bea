"""A purse that keeps a diary, and randomness without noise: for looking at whole trials."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from redveil.privacy.plan import Mechanism, Plan, Purse
from redveil.sealed import Receipt
from support.seeded import SeededRandomness


class Quiet(SeededRandomness):
    """Chooses at random, counts without noise."""

    def laplace(self, _epsilon: Fraction, count: int) -> NDArray[np.int64]:
        """Return no noise at all."""
        return np.zeros(count, dtype=np.int64)

    def gaussian(self, rho: Fraction, count: int) -> NDArray[np.int64]:
        """Return no noise at all."""
        return self.laplace(rho, count)


class Diary(Purse):
    """A purse that writes down what it paid for."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.steps)
        self.paid: list[str] = []

    def pay(self, name: str, mechanism: Mechanism) -> Receipt:
        """Pay, and take note."""
        self.paid.append(name)
        return super().pay(name, mechanism)
