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


def correspondence(left: Sides, right: Sides, size: int, odds: Fraction) -> Fraction:
    """Return what the matched and the unmatched sides are worth at some odds of the first side.

    Up to odds of one half, the first matched entities count 2, the second 2r² and all others −2r;
    between a half and 2, 1/r, r and −1; beyond, the two sides change places.
    """
    first, second = len(left[0] & right[0]), len(left[1] & right[1])
    rest = size - first - second
    if odds <= Fraction(1, 2):
        return 2 * (first + odds**2 * second - odds * rest)
    if odds <= 2:
        return first / odds + odds * second - rest
    return 2 * (first / odds**2 + second - rest / odds)


def correspondence_units(grid_bits: int, shares: int) -> ScoreOf:
    """Return the smallest over the odds of all shares between 0 and 1, in units of 2^-grid_bits.

    What each entity is worth is rounded towards 0; at the share 1 the odds are infinite, and only
    the second sides count.
    """

    def worth(odds: Fraction | None, left: Sides, right: Sides) -> int:
        """Return what one entity on these sides is worth."""
        if odds is None:
            return 2 * 2**grid_bits if left[1] & right[1] else 0
        return int(correspondence(left, right, 1, odds) * 2**grid_bits)

    one, none = frozenset({0}), frozenset[int]()
    each = [Fraction(k, shares) for k in range(shares + 1)]
    odds = [share / (1 - share) if share < 1 else None for share in each]
    worths = [
        (
            worth(r, (one, none), (one, none)),
            worth(r, (none, one), (none, one)),
            worth(r, (one, none), (none, one)),
        )
        for r in odds
    ]

    def units(left: Sides, right: Sides, size: int) -> int:
        first, second = len(left[0] & right[0]), len(left[1] & right[1])
        rest = size - first - second
        return min(x * first + y * second + z * rest for x, y, z in worths)

    return units


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
