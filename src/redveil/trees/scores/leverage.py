"""Leverage: how many more entities two splits share than independent splits would.

Proof of the width: trees/scores/leverage.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from redveil.losses.score import Score
from redveil.trees.scores.grid import GRID_BITS, UNIT

# The value is rounded down once.
LEVERAGE: Final = Score(
    name="leverage",
    change=Fraction(2),
    monotone=False,
    grid_bits=GRID_BITS,
    rounding=UNIT / 2,
    proof="trees/scores/leverage.md",
)
