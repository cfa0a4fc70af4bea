"""What the two profiles do differently: scores, allowed splits, and when walks stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from redveil.privacy.score import Score
from redveil.trees.scores import ASSOCIATION, GRID_BITS, PAIR_PURITY, SPLIT_GINI, TREE_GINI

# "Never": scores of a walk have no negative variance.
NO_STOP: Final = -1.0
# The published widths are taken on trust; what is wrong with the profile is written here.
LIMITS: Final = "../../docs/known-limits.md"


@dataclass(frozen=True, slots=True)
class Rules:
    """How trees are chosen.

    `informative_only` leaves out splits whose answer follows from the path. `normalised` divides
    the pair score by the number of entities. A walk stops early when the variance of its last
    `window` scores falls below `threshold`; the data decides when, so only the published rules do.
    """

    split: Score = SPLIT_GINI
    tree: Score = TREE_GINI
    pair: Score = PAIR_PURITY
    association: Score = ASSOCIATION
    informative_only: bool = True
    normalised: bool = False
    window: int = 0
    threshold: float = NO_STOP

    @property
    def placed_cost(self) -> int:
        """Grid units taken off a tree's score for every entity in a leaf.

        The hardened score counts entities that a missing value stops as wholly impure; the
        published one leaves them out.
        """
        return 0 if self.informative_only else 1 << GRID_BITS


HARDENED: Final = Rules()


def published(variance_threshold: float) -> Rules:
    """Return the paper's rules: exponents ε·q/4 and ε·s/2, all splits, early stopping.

    >>> published(0.005).split.width
    Fraction(4, 1)
    """
    gini, pair = (
        replace(
            SPLIT_GINI,
            name=f"published {name}",
            change=width,
            monotone=False,
            rounding=Fraction(0),
            proof=LIMITS,
        )
        for name, width in (("Gini", Fraction(4)), ("pair", Fraction(2)))
    )
    return Rules(
        split=gini,
        tree=gini,
        pair=pair,
        association=replace(pair, grid_bits=GRID_BITS + 1),
        informative_only=False,
        normalised=True,
        window=500,
        threshold=variance_threshold,
    )
