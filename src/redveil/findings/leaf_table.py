"""The released leaf table: noisy counts of the cells of two trees, and of their margins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from redveil.privacy.loss import Price, count_variance
from redveil.trees.tree import Tree

# Whole numbers, but for the published profile's noise.
Counted = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class LeafTable:
    """What was measured for a pair of trees. Released.

    cells: int64[left cells, right cells]; left_margin: int64[left cells]; right_margin alike. What
    was not measured is None. The prices are those of the measurements.
    """

    left: Tree
    right: Tree
    cells: Counted
    left_margin: Counted | None
    right_margin: Counted | None
    cells_price: Price
    left_price: Price | None
    right_price: Price | None

    @classmethod
    def of(
        cls,
        left: Tree,
        right: Tree,
        shape: tuple[int, int],
        parts: Mapping[str, Counted],
        prices: Mapping[str, Price],
    ) -> LeafTable:
        """Return the table made of named parts."""
        return cls(
            left,
            right,
            parts["cells"].reshape(shape),
            parts.get("left margin"),
            parts.get("right margin"),
            prices["cells"],
            prices.get("left margin"),
            prices.get("right margin"),
        )


def noise_variance(price: Price) -> float:
    """Return the variance of a count's noise, plus a quarter for living on whole numbers.

    The quarter keeps intervals honest where the noise is seldom anything but 0 or ±1.

    >>> from fractions import Fraction
    >>> round(noise_variance(Fraction(1, 10)), 1)
    200.1
    """
    return count_variance(price) + 0.25
