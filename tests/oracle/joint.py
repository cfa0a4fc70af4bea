"""Joint scores of the splits of two views from the definitions: sets of entities, fractions.

A split has two sides: the entities for which it holds, and those for which it is known not to
hold. An entity with a missing value is on neither. A candidate is a left split, a right split, and
whether they cross: then the left split's first side corresponds to the right split's second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from fractions import Fraction

from oracle.walk import Candidates

Side = frozenset[int]
Sides = tuple[Side, Side]
ScoreOf = Callable[[Sides, Sides, int], int]


def sides_of(view: Candidates, split: int, members: Collection[int]) -> Sides:
    """Return the members for which a split holds, and those for which it is known not to."""
    answers = {member: view.answer(split, member) for member in members}
    return (
        frozenset(member for member, answer in answers.items() if answer is True),
        frozenset(member for member, answer in answers.items() if answer is False),
    )


def leverage(left: Sides, right: Sides, size: int) -> Fraction:
    """Return m − a·b / n of the two first sides, 0 without entities."""
    if size == 0:
        return Fraction(0)
    return len(left[0] & right[0]) - Fraction(len(left[0]) * len(right[0]), size)


def agreement(left: Sides, right: Sides, size: int, weight: Fraction) -> Fraction:
    """Return min(m₁, m₂) − λ·d: first and second sides correspond, d counts all others."""
    first, second = len(left[0] & right[0]), len(left[1] & right[1])
    return min(first, second) - weight * (size - first - second)


def leverage_units(grid_bits: int) -> ScoreOf:
    """Return the leverage in units of 2^-grid_bits, rounded down."""
    return lambda left, right, size: math.floor(leverage(left, right, size) * 2**grid_bits)


def agreement_units(halves: int) -> ScoreOf:
    """Return the agreement in halves of an entity, which are whole numbers."""

    def units(left: Sides, right: Sides, size: int) -> int:
        doubled = 2 * agreement(left, right, size, Fraction(halves, 2))
        assert doubled.denominator == 1
        return doubled.numerator

    return units


def candidate_units(
    left: Candidates, right: Candidates, members: Collection[int], score: ScoreOf
) -> list[list[list[int]]]:
    """Return the scores of all candidates: [uncrossed, crossed][left split][right split]."""
    size = len(set(members))
    lefts = [sides_of(left, split, members) for split in range(len(left.holds))]
    rights = [sides_of(right, split, members) for split in range(len(right.holds))]
    crossed = [(no, yes) for yes, no in rights]
    return [
        [[score(one, other, size) for other in others] for one in lefts]
        for others in (rights, crossed)
    ]
