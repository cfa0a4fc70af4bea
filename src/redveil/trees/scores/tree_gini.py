"""Tree Gini: how pure the leaves of a tree are, Σ over leaves of Σ_c n_c² / n.

Proof of the width: trees/scores/tree_gini.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from redveil.losses.score import Score
from redveil.trees.scores.grid import GRID_BITS, UNIT

# One entity changes the count of one leaf, so it changes the rounding of one leaf.
TREE_GINI: Final = Score(
    name="tree Gini",
    change=Fraction(2),
    monotone=True,
    grid_bits=GRID_BITS,
    rounding=UNIT / 2,
    proof="trees/scores/tree_gini.md",
)
