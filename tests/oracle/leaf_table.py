"""Least squares for a leaf table with a dense design matrix that is inverted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64] | Floats
Flags = Sequence[bool] | NDArray[np.bool_]


def laplace_variance(epsilon: Fraction) -> float:
    """Return the variance of integers with P(k) ∝ exp(−ε·|k|), by adding up the series."""
    rate = float(epsilon)
    last = math.ceil(60 / rate)  # the rest is below double precision
    weights = [math.exp(-rate * k) for k in range(last + 1)]
    squares = math.fsum(2 * k * k * weight for k, weight in enumerate(weights))
    return squares / math.fsum([weights[0], *(2 * weight for weight in weights[1:])])


@dataclass(frozen=True)
class DenseFit:
    """The estimated cells, and the covariance of every two of them (cells in reading order)."""

    cells: Floats
    covariance: Floats

    def mean_of(self, coefficients: Floats) -> float:
        """Return the estimate of a sum of cells; coefficients are shaped as the cells."""
        return float((coefficients * self.cells).sum())

    def covariance_of(self, first: Floats, second: Floats) -> float:
        """Return cᵀΣd for two sums of cells."""
        return float(first.ravel() @ self.covariance @ second.ravel())


def dense_fit(
    cells: Numbers, left: Numbers, right: Numbers, variances: tuple[float, float, float]
) -> DenseFit:
    """Solve (AᵀWA) x = AᵀWy. The variances are those of cells, left margin and right margin."""
    height, width = cells.shape
    places = [(i, j) for i in range(height) for j in range(width)]
    design = [[float(place == cell) for place in places] for cell in places]
    design += [[float(i == row) for i, _ in places] for row in range(height)]
    design += [[float(j == column) for _, j in places] for column in range(width)]
    noise = [variances[0]] * (height * width) + [variances[1]] * height + [variances[2]] * width
    measured = np.concatenate([cells.ravel(), left, right]).astype(np.float64)
    a, w = np.array(design), np.diag(1 / np.array(noise))
    covariance = np.linalg.inv(a.T @ w @ a)
    return DenseFit((covariance @ a.T @ w @ measured).reshape(height, width), covariance)


def rectangle(left: Flags, right: Flags) -> Floats:
    """Return 1 for every cell whose row and column are both flagged, 0 elsewhere."""
    return np.array([[float(a and b) for b in right] for a in left])


@dataclass(frozen=True)
class PlainSums:
    """Sums of unfitted measurements: cells and left counts, each with its own noise."""

    cells: Numbers
    left: Numbers
    cell_variance: float
    left_variance: float

    def mean_of(self, cells: Floats, left: Floats) -> float:
        """Return a sum of cells plus a sum of left counts."""
        return float((cells * self.cells).sum() + (left * self.left).sum())

    def covariance_of(self, one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> float:
        """Return the covariance of two such sums: the variance of the measurements they share."""
        shared = [float((a * b).sum()) for a, b in zip(one, other, strict=True)]
        return shared[0] * self.cell_variance + shared[1] * self.left_variance
