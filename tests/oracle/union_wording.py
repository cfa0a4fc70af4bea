"""What the program itself prints for a union of ends: the highest nodes, simplified."""

from __future__ import annotations

from collections.abc import Collection

from redveil.findings.taste import said_plainly
from redveil.query.coverage import ReleasedTree, reachable
from redveil.query.formula import Literal, Or, Query
from redveil.query.leaves import node_query
from redveil.query.simplify import simplified


def worded_union(tree: ReleasedTree, ends: Collection[int]) -> Query | None:
    """Return the query of some ends, by their place.

    None if it asks for missing values, or for everything; if a split is a query that a person gave;
    or if there are ends that nobody can reach: then there are other ways to say the same.
    """
    shape = tree.tree
    if not all(isinstance(split, Literal | None) for split in tree.splits):
        return None
    if len(ends) == len(shape.ends) or not reachable(tree).all():
        return None
    covered = {shape.ends[end] for end in ends}

    def is_whole(node: int) -> bool:
        if shape.split(node) is None:
            return node in covered
        stuck = node in shape.stuck and node not in covered
        return not stuck and is_whole(2 * node + 1) and is_whole(2 * node + 2)

    def is_highest(node: int) -> bool:
        return is_whole(node) and not any(is_whole(above) for above, _ in shape.ancestors(node))

    highest = [node for node in (*shape.leaves, *shape.inner) if is_highest(node)]
    said = {node for node in covered if any(_is_below(node, one) for one in highest)}
    if said != covered:
        return None
    paths = [node_query(tree, node) for node in highest]
    union = paths[0] if len(paths) == 1 else Or(tuple(paths))
    short = simplified(union, tree.always_known, tree.orders)
    return said_plainly(short, tree.attributes.values())


def _is_below(node: int, top: int) -> bool:
    while node > top:
        node = (node - 1) // 2
    return node == top
