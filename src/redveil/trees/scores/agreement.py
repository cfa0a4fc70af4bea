"""Agreement: the smaller matched side, less a penalty for every entity that is not matched.

Proof of the width: trees/scores/agreement.md.
"""

from __future__ import annotations

from fractions import Fraction

from redveil.losses.score import Score


def agreement(halves: int) -> Score:
    """Return the agreement score with a penalty of `halves` / 2 for each unmatched entity.

    >>> agreement(1).width
    Fraction(3, 2)
    """
    return Score(
        name=f"agreement {halves}/2",
        change=1 + Fraction(halves, 2),
        monotone=False,
        grid_bits=1,
        rounding=Fraction(0),
        proof="trees/scores/agreement.md",
    )
