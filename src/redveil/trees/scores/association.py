"""Association: how well the leaves of two trees predict each other (Goodman and Kruskal).

Proof of the width: trees/scores/association.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from redveil.losses.score import Score
from redveil.trees.scores.grid import GRID_BITS, UNIT

# The kernel returns twice the association, hence the finer grid.
ASSOCIATION: Final = Score(
    name="association",
    change=Fraction(7, 2),
    monotone=False,
    grid_bits=GRID_BITS + 1,
    rounding=UNIT * 3 / 4,
    proof="trees/scores/association.md",
)
