"""Queries from trees: a leaf is the conjunction of its path, a union of leaves a disjunction."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from redveil.query.coverage import ReleasedTree
from redveil.query.formula import And, Literal, Not, Or, Query, negate
from redveil.schema import Kind
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree


def split_literal(splits: Splits, split: int, *, held: bool) -> Literal:
    """Return the literal that is true where a split held, or where it did not.

    >>> from redveil.schema import Attribute, View
    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 5.0))
    >>> split_literal(Splits.of(View("patients", "id", (age,))), 1, held=False)
    Literal(attribute='age', op='>', value=5.0)
    """
    attribute = splits.view.attributes[splits.attribute[split]]
    last = int(splits.high[split])
    if attribute.kind is Kind.BOOLEAN:
        return Literal(attribute.name, "=", held)
    if attribute.kind is Kind.CATEGORICAL:
        return Literal(attribute.name, "=" if held else "!=", attribute.categories[last])
    bound: float | str = (
        attribute.cuts[last] if attribute.kind is Kind.NUMERIC else attribute.categories[last]
    )
    return Literal(attribute.name, "<=" if held else ">", bound)


def released_tree(tree: Tree, splits: Splits) -> ReleasedTree:
    """Return a tree with its splits as literals.

    >>> from redveil.schema import Attribute, Side, View
    >>> splits = Splits.of(View("patients", "id", (Attribute("sick", Kind.BOOLEAN),)))
    >>> released_tree(Tree(Side.LEFT, (0,)), splits).splits
    (Literal(attribute='sick', op='=', value=True),)
    """
    words = tuple(
        None if split is None else split_literal(splits, split, held=True) for split in tree.splits
    )
    return ReleasedTree(tree, words, {one.name: one for one in splits.view.attributes})


def node_query(released: ReleasedTree, node: int) -> Query:
    """Return the conjunction of the splits on the path to a node, from the root.

    It is true where the path leads. If a tree takes what is unknown for false, paths along which
    each split held are the only ones that a query can name.
    """
    path = tuple(
        split if held else negate(split)
        for above, held in released.tree.ancestors(node)
        if (split := released.splits[above]) is not None
    )
    return path[0] if len(path) == 1 else And(path)


def leaf_query(tree: Tree, splits: Splits, leaf: int) -> Query:
    """Return the conjunction of the literals on the path to a leaf, from the root."""
    return node_query(released_tree(tree, splits), leaf)


def term_nodes(tree: Tree, *, inner: bool = False) -> tuple[int, ...]:
    """Return the nodes whose paths are terms: the leaves and, with `inner`, the inner nodes.

    >>> from redveil.schema import Side
    >>> term_nodes(Tree(Side.LEFT, (4, None, 7)), inner=True)
    (1, 5, 6, 2)
    """
    return (*tree.leaves, *(node for node in tree.inner if inner and node > 0))


def term_ends(tree: Tree, *, inner: bool = False) -> NDArray[np.bool_]:
    """Return the ends at which each term is true, bool[terms, ends].

    Terms 0 … nodes − 1 are the paths to the nodes; terms nodes … 2·nodes − 1 are their negations.
    A negation is true for entities known not to reach the node: their path ends elsewhere, and not
    at a node above it.
    """
    return _term_ends(tree.shape, inner=inner)


# The trees of a run mostly have few shapes.
@lru_cache(maxsize=64)
def _term_ends(tree: Tree, *, inner: bool) -> NDArray[np.bool_]:
    ends, nodes = tree.ends, term_nodes(tree, inner=inner)
    holds = np.zeros((2 * len(nodes), len(ends)), dtype=np.bool_)
    for number, node in enumerate(nodes):
        above = {ancestor for ancestor, _ in tree.ancestors(node)}
        inside = [_is_below(end, node) for end in ends]
        holds[number] = inside
        holds[number + len(nodes)] = [
            not held and end not in above for end, held in zip(ends, inside, strict=True)
        ]
    # All callers share it.
    holds.flags.writeable = False
    return holds


def union_query(tree: Tree, splits: Splits, terms: Sequence[int], *, inner: bool = False) -> Query:
    """Return the disjunction of some terms; all leaves below a node become that node."""
    return terms_query(released_tree(tree, splits), terms, inner=inner)


def terms_query(released: ReleasedTree, terms: Sequence[int], *, inner: bool = False) -> Query:
    """Return the disjunction of some terms; all leaves below a node become that node."""
    nodes = term_nodes(released.tree, inner=inner)
    plain = _merged(released.tree, [nodes[term] for term in terms if term < len(nodes)])
    queries: list[Query] = [node_query(released, node) for node in plain]
    negated = [nodes[term - len(nodes)] for term in terms if term >= len(nodes)]
    queries.extend(Not(node_query(released, node)) for node in negated)
    return queries[0] if len(queries) == 1 else Or(tuple(queries))


def _is_below(end: int, node: int) -> bool:
    """Return whether an end lies in the subtree of a node."""
    while end > node:
        end = (end - 1) // 2
    return end == node


def _merged(tree: Tree, nodes: Sequence[int]) -> list[int]:
    """Replace siblings by their parent where no entity can be stuck at the parent."""
    merged = list(dict.fromkeys(nodes))
    for node in sorted(merged, reverse=True):
        sibling, parent = node + 1 if node % 2 else node - 1, (node - 1) // 2
        if node > 2 and node in merged and sibling in merged and parent not in tree.stuck:
            merged[merged.index(node)] = parent
            merged.remove(sibling)
            return _merged(tree, merged)
    return merged
