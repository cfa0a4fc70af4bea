"""How many of the reported redescriptions can be chance, given all that could have been."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from redveil.mining.leaf_table import LeafTable
from redveil.mining.redescription import Redescription
from redveil.mining.statistics import CONFIDENCE
from redveil.schema import Schema, Side
from redveil.trees.tree import Tree

# The chance that any pair of unrelated queries, of all that there are, passes the correction.
FAMILY: Final = 0.01


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of false discoveries.

    searched:  the decimal logarithm of the number of query pairs that could have been reported
    surviving: how many reported p-values stay below 1 % when multiplied by that number
    bound:     the largest expected share of false ones among the reported

    >>> Discovery(searched=18.5, surviving=3, bound=0.06).surviving
    3
    """

    searched: float
    surviving: int
    bound: float


def false_discoveries(
    found: Sequence[Redescription], tables: Sequence[LeafTable], schema: Schema
) -> Discovery | None:
    """Bound the share of reported redescriptions whose two queries have nothing to do with it.

    Two things can go wrong. The noise: all pessimistic p-values hold together with probability
    95 %. The search: among the M pairs of queries that trees of these shapes could have yielded,
    some look related by chance; none has a true p-value below 1 % / M, with probability 99 %.
    Whoever survives both is false with probability 6 % at most; the others are counted as false.
    """
    if not found:
        return None
    searched = max(
        sum(_queries(tree, schema) for tree in (table.left, table.right)) for table in tables
    ) + math.log10(len(tables))
    # Logarithms: M has more digits than a float has room for.
    least = math.log10(FAMILY) - searched
    surviving = sum(one.p_value == 0 or math.log10(one.p_value) <= least for one in found)
    luck = 1 - CONFIDENCE + FAMILY
    return Discovery(searched, surviving, min(1.0, 1 - surviving / len(found) * (1 - luck)))


def _queries(tree: Tree, schema: Schema) -> float:
    """Return the decimal logarithm of the number of queries that trees of one shape offer."""
    side = Side(tree.side)
    splits = max(sum(attribute.splits for attribute in schema.view(side).attributes), 1)
    return len(tree.inner) * math.log10(splits) + len(tree.leaves) * math.log10(2)
