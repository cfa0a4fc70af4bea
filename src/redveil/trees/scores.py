"""The scores that trees are chosen by, each with its width and a link to its proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from redveil.privacy.score import Score

# Scores are whole numbers of this fraction's power of two; sums of them are exact.
GRID_BITS: Final = 12
UNIT: Final = Fraction(1, 2**GRID_BITS)

# Σ over both sides of a split of Σ_c n_c² / n, which orders splits as −Σ n · Gini does.
# One more entity moves −n · Gini by a number in (−2, 0]. Each of the two sides is rounded down to
# the grid, so the computed value lies in (true − 2 units, true]: half of that range is `rounding`.
SPLIT_GINI: Final = Score(
    name="split Gini",
    change=Fraction(2),
    monotone=True,
    grid_bits=GRID_BITS,
    rounding=UNIT,
    proof="privacy/proofs/split_gini.md",
)

# The same sum over all leaves of a tree. One entity moves one leaf, so rounding moves one leaf.
TREE_GINI: Final = Score(
    name="tree Gini",
    change=Fraction(2),
    monotone=True,
    grid_bits=GRID_BITS,
    rounding=UNIT / 2,
    proof="privacy/proofs/tree_gini.md",
)

# N times the published score of a tree pair.
PAIR_PURITY: Final = Score(
    name="pair purity",
    change=Fraction(3),
    monotone=False,
    grid_bits=GRID_BITS,
    rounding=UNIT * 5 / 4,
    proof="privacy/proofs/pair_purity.md",
)

# Association of two trees' leaves. The kernel returns twice its value, hence the finer grid.
ASSOCIATION: Final = Score(
    name="association",
    change=Fraction(7, 2),
    monotone=False,
    grid_bits=GRID_BITS + 1,
    rounding=UNIT * 3 / 4,
    proof="privacy/proofs/association.md",
)

# What two splits share beyond independence. Whole units are rounded down once.
LEVERAGE: Final = Score(
    name="leverage",
    change=Fraction(2),
    monotone=False,
    grid_bits=GRID_BITS,
    rounding=UNIT / 2,
    proof="privacy/proofs/leverage.md",
)


def agreement(halves: int) -> Score:
    """Return the score of matched sides of which every unmatched entity costs some halves.

    >>> agreement(1).width
    Fraction(3, 2)
    """
    return Score(
        name=f"agreement {halves}/2",
        change=1 + Fraction(halves, 2),
        monotone=False,
        grid_bits=1,
        rounding=Fraction(0),
        proof="privacy/proofs/agreement.md",
    )
