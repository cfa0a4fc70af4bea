"""Split Gini: how pure the two sides of a split are, Σ over both sides of Σ_c n_c² / n.

It orders splits as −Σ n · Gini does. Proof of the width: trees/scores/split_gini.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from redveil.losses.score import Score
from redveil.trees.scores.grid import GRID_BITS, UNIT

# Each of the two sides is rounded down, so the computed value lies in (true − 2 units, true];
# `rounding` is half the length of that interval.
SPLIT_GINI: Final = Score(
    name="split Gini",
    change=Fraction(2),
    monotone=True,
    grid_bits=GRID_BITS,
    rounding=UNIT,
    proof="trees/scores/split_gini.md",
)
