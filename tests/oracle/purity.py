"""The purity of a split's two sides, by the textbook formula in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def purity(counts: Sequence[int]) -> Fraction:
    """Return Σ_c n_c² / n of one side, 0 if it is empty."""
    n = sum(counts)
    return sum((Fraction(c * c, n) for c in counts), Fraction(0)) if n else Fraction(0)


def gini(counts: Sequence[int]) -> Fraction:
    """Return the Gini index 1 − Σ_c (n_c / n)² of one side, 0 if it is empty."""
    n = sum(counts)
    return 1 - sum((Fraction(c, n) ** 2 for c in counts), Fraction(0)) if n else Fraction(0)


def sides(
    table: Sequence[Sequence[int]], low: int, high: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the class counts for which a split holds and does not hold.

    table: class counts of each bin of the split's attribute.
    """
    inside = [row for b, row in enumerate(table) if low <= b <= high]
    outside = [row for b, row in enumerate(table) if not low <= b <= high]
    classes = len(table[0])
    return (
        tuple(sum(row[c] for row in inside) for c in range(classes)),
        tuple(sum(row[c] for row in outside) for c in range(classes)),
    )


def units(table: Sequence[Sequence[int]], low: int, high: int, grid_bits: int) -> int:
    """Return the score in units of 2^-grid_bits, each side rounded down on its own."""
    return sum(math.floor(purity(side) * 2**grid_bits) for side in sides(table, low, high))
