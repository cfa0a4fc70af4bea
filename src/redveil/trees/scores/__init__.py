"""The scores that choose splits and trees; each module's proof stands beside it."""

from redveil.trees.scores.agreement import agreement
from redveil.trees.scores.association import ASSOCIATION
from redveil.trees.scores.correspondence import CORRESPONDENCE
from redveil.trees.scores.grid import GRID_BITS, UNIT
from redveil.trees.scores.leverage import LEVERAGE
from redveil.trees.scores.pair_purity import PAIR_PURITY
from redveil.trees.scores.split_gini import SPLIT_GINI
from redveil.trees.scores.tree_gini import TREE_GINI

__all__ = [
    "ASSOCIATION",
    "CORRESPONDENCE",
    "GRID_BITS",
    "LEVERAGE",
    "PAIR_PURITY",
    "SPLIT_GINI",
    "TREE_GINI",
    "UNIT",
    "agreement",
]
