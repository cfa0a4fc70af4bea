"""A repeatable source of randomness. It lives in the tests; the package has no way to reach it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


class SeededRandomness:
    """Implements `redveil.privacy.randomness.Randomness` from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self._generator = np.random.default_rng(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        chance = -math.expm1(-float(epsilon))
        return self._generator.geometric(chance, count) - self._generator.geometric(chance, count)

    def gaussian(self, rho: Fraction, count: int) -> NDArray[np.int64]:
        deviation = math.sqrt(1 / (2 * float(rho)))
        support = np.arange(-math.ceil(12 * deviation) - 1, math.ceil(12 * deviation) + 2)
        weights = np.exp(-float(rho) * support.astype(np.float64) ** 2)
        return self._generator.choice(support, count, p=weights / weights.sum())


class FixedNoise(SeededRandomness):
    """Adds the same noise every time, and writes down what it was asked for."""

    def __init__(self, noise: int) -> None:
        super().__init__()
        self._noise = noise
        self.asked: list[tuple[Fraction, int]] = []

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        self.asked.append((epsilon, count))
        return np.full(count, self._noise, dtype=np.int64)

    def gaussian(self, rho: Fraction, count: int) -> NDArray[np.int64]:
        return self.laplace(rho, count)


class ScriptedRandomness:
    """Hands out words that a test has written down, and no noise."""

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int) -> NDArray[np.uint64]:
        taken, self._words = self._words[:count], self._words[count:]
        return np.array(taken, dtype=np.uint64)

    def laplace(self, _epsilon: Fraction, count: int) -> NDArray[np.int64]:
        return np.zeros(count, dtype=np.int64)

    def gaussian(self, rho: Fraction, count: int) -> NDArray[np.int64]:
        return self.laplace(rho, count)
