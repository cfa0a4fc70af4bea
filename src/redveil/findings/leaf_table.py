"""The released leaf table: noisy counts of a pair of trees, by where entities end in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray

from redveil.losses.loss import Price, count_variance
from redveil.trees.tree import Tree

# Whole numbers, except for the published profile's noise.
Counted = NDArray[Any]


class Prices(NamedTuple):
    """What each part of a leaf table cost; None for a margin that was not measured.

    >>> from fractions import Fraction
    >>> Prices(Fraction(1)).left_margin is None
    True
    """

    cells: Price
    left_margin: Price | None = None
    right_margin: Price | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LeafTable:
    """What was measured for a pair of trees. Released.

    cells:        int64[left ends, right ends]
    left_margin:  int64[left ends], or None if it was not measured; right_margin likewise
    prices:       what the measurements cost
    """

    left: Tree
    right: Tree
    cells: Counted
    left_margin: Counted | None
    right_margin: Counted | None
    prices: Prices


def noise_variance(price: Price) -> float:
    """Return the variance of a count's noise, plus a quarter for being restricted to integers.

    Where the noise is rarely anything but 0 or ±1, intervals would be too narrow without it.

    >>> from fractions import Fraction
    >>> round(noise_variance(Fraction(1, 10)), 1)
    200.1
    """
    return count_variance(price) + 0.25
