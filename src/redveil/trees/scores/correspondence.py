"""Correspondence: how far two splits match beyond what unrelated splits of their sizes would.

Proof of the width: trees/scores/correspondence.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.losses.score import Score
from redveil.trees.scores.grid import GRID_BITS

# The score is a minimum over this many + 1 shares of the entities, from 0 to 1.
SHARES: Final = 20

CORRESPONDENCE: Final = Score(
    name="correspondence",
    change=Fraction(3),
    monotone=False,
    grid_bits=GRID_BITS,
    rounding=Fraction(0),
    proof="trees/scores/correspondence.md",
)


def piece(share: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return what an entity on the first, on the second and on no pair of sides adds at a share.

    >>> [str(one) for one in piece(Fraction(1, 2))]
    ['1', '1', '-1']
    >>> [str(one) for one in piece(Fraction(1, 4))]
    ['2', '2/9', '-2/3']
    """
    if share > Fraction(1, 2):
        first, second, unmatched = piece(1 - share)
        return second, first, unmatched
    odds = share / (1 - share)
    if odds <= Fraction(1, 2):
        return Fraction(2), 2 * odds**2, -2 * odds
    return 1 / odds, odds, Fraction(-1)


@cache
def pieces() -> NDArray[np.int64]:
    """Return all pieces in grid units, int64[shares, 3].

    They are rounded once and for all, towards 0: no score is rounded.

    >>> pieces()[0].tolist(), pieces()[10].tolist()
    ([8192, 0, 0], [4096, 4096, -4096])
    """
    shares = (Fraction(number, SHARES) for number in range(SHARES + 1))
    grid = 1 << GRID_BITS
    found = np.array([[int(x * grid) for x in piece(share)] for share in shares], np.int64)
    found.setflags(write=False)
    return found


def correspondence(first: float, second: float, unmatched: float) -> float:
    """Return the score of two splits, from the entities on their sides.

    >>> correspondence(30, 60, 0), correspondence(25, 25, 50)
    (60.0, 0.0)
    """
    sums = pieces() @ np.array([first, second, unmatched], dtype=np.float64)
    return float(sums.min()) / (1 << GRID_BITS)
