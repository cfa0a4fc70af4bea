"""The rules by which trees are chosen: scores, and when walks stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redveil.losses.score import Score
from redveil.trees.scores import ASSOCIATION, PAIR_PURITY, SPLIT_GINI, TREE_GINI

# "Never": scores of a walk have no negative variance.
NO_STOP: Final = -1.0


@dataclass(frozen=True, slots=True)
class Rules:
    """How trees are chosen.

    `placed_cost` is what every entity in a leaf takes off a tree's score, in grid units: 0 counts
    entities that a missing value stops as wholly impure. `normalised` divides the pair score by the
    number of entities. A walk stops early when the variance of its last `window` scores falls below
    `threshold` times the length of the range of its scores: 1 for normalised pairs, the number of
    entities for trees. The data decides when, so hardened walks never do.
    """

    split: Score = SPLIT_GINI
    tree: Score = TREE_GINI
    pair: Score = PAIR_PURITY
    association: Score = ASSOCIATION
    placed_cost: int = 0
    normalised: bool = False
    window: int = 0
    threshold: float = NO_STOP


HARDENED_RULES: Final = Rules()
