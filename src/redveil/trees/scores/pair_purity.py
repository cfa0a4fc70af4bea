"""Pair purity: N times the published score of a pair of trees, g₁ · (1 + g₂) / 2.

Proof of the width: trees/scores/pair_purity.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from redveil.losses.score import Score
from redveil.trees.scores.grid import GRID_BITS, UNIT

# One entity changes the rounding of one leaf in each tree, and the result is rounded once more: 5/4
# units. The rest covers the error of double precision.
PAIR_PURITY: Final = Score(
    name="pair purity",
    change=Fraction(3),
    monotone=False,
    grid_bits=GRID_BITS,
    rounding=UNIT * 3 / 2,
    proof="trees/scores/pair_purity.md",
)
