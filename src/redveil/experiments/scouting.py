"""What the tuning rule of twin trees saw and decided, read off a result file.

Computed anew from released values, so that the thresholds in the rule can be compared with it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

import redveil

REFERENCE_CHOICE: Final = 12.0
# How much of a cell's standard error the rule takes off the leverage of its scout.
CAUTION: Final = 0.35


def shape(result: redveil.Result) -> str:
    """Return the shape of a run's trees: the depth and number of its pairs, or of its trees.

    >>> shape(_example())
    '1×1'
    """
    used = result.certificate.parameters
    return f"{used['depth']}×{used.get('alternations', used.get('trials'))}"


def strength(result: redveil.Result) -> float | None:
    """Return s = N·ε·12 / ln(2·L·R), L and R being the numbers of splits; None without an N.

    >>> strength(_example()) > 100
    True
    """
    document = result.document
    if document.entities is None:
        return None
    sides = document.attributes.left, document.attributes.right
    pairs = math.prod(sum(one.splits for one in side) for side in sides)
    price = float(Fraction(result.certificate.epsilon))
    choice = max(math.log(2 * max(pairs, 1)), 1.0)
    return max(document.entities.estimate, 0.0) * price * REFERENCE_CHOICE / choice


def related(result: redveil.Result) -> float | None:
    """Return how strongly the views are related, judged by the first pair of trees of depth 1.

    It is the leverage of the two splits per entity, less some of the noise of a cell. None if the
    first pair is deeper, if there is none, or if the run has a δ, whose noise is of another kind.

    >>> -0.25 <= related(_example()) <= 0.25
    True
    """
    pairs = result.document.tree_pairs
    if result.certificate.rho or not pairs:
        return None
    if any(len(tree.splits) > 1 for tree in (pairs[0].left, pairs[0].right)):
        return None
    table = pairs[0].leaf_table
    cells = np.array(table.fitted, dtype=np.float64)
    size = max(float(cells.sum()), 1.0)
    leverage = abs(float(cells[0, 0]) - float(cells[0].sum()) * float(cells[:, 0].sum()) / size)
    price = float(Fraction(table.cells_price))
    # Of two-sided geometric noise.
    deviation = 1 / (math.sqrt(2) * math.sinh(price / 2))
    return (leverage - CAUTION * deviation) / size


def _example() -> redveil.Result:
    """Return a small result, for the examples."""
    from redveil.data.synthetic import wide_dataset

    return redveil.mine(wide_dataset(500), 1, depth=1, trials=1, ledger=None)
