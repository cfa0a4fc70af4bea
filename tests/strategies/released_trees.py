"""Trees with their splits in words, some of them given by a person, and queries to ask of them."""

from __future__ import annotations

from hypothesis import strategies as st

from redveil.query.coverage import ReleasedTree
from redveil.query.formula import AnyLiteral, Known, Literal, Not, Op, Query, Value, attributes
from redveil.query.leaves import leaf_query, split_literal
from redveil.schema import Attribute, Kind, Side, View
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.queries import queries_of
from strategies.trees import trees

ORDER = {"grade": ("low", "mid", "high")}
# Fine enough that something lies between any two numbers that a tree or a query can mention.
DEPTHS = tuple(x / 4 for x in range(17))
MENTIONED: dict[str, tuple[Value, ...]] = {
    "wet": (False, True),
    "state": ("CA", "NV", "NY"),
    "grade": ORDER["grade"],
    "depth": (-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0),
}
DOMAINS: dict[str, tuple[Value, ...]] = {**MENTIONED, "depth": DEPTHS}


def view_of(required: tuple[bool, ...] = (False,) * 4) -> View:
    wet, state, grade, depth = required
    return View(
        "lakes",
        "id",
        (
            Attribute("wet", Kind.BOOLEAN, wet),
            Attribute("state", Kind.CATEGORICAL, state, ("CA", "NV", "NY")),
            Attribute("grade", Kind.ORDINAL, grade, ORDER["grade"]),
            Attribute("depth", Kind.NUMERIC, depth, minimum=0, maximum=4, cuts=(1.0, 2.0, 3.0)),
        ),
    )


def released(tree: Tree, view: View) -> ReleasedTree:
    splits = Splits.of(view)
    words = tuple(None if s is None else split_literal(splits, s, held=True) for s in tree.splits)
    return ReleasedTree(tree, words, {one.name: one for one in view.attributes})


@st.composite
def asked_literals(draw: st.DrawFn) -> AnyLiteral:
    name = draw(st.sampled_from(sorted(MENTIONED)))
    if draw(st.integers(0, 3)) == 0:
        return Known(name)
    ops: list[Op] = ["=", "!="] if name in ("wet", "state") else ["=", "!=", "<=", ">"]
    return Literal(name, draw(st.sampled_from(ops)), draw(st.sampled_from(MENTIONED[name])))


@st.composite
def cases(draw: st.DrawFn) -> tuple[ReleasedTree, View, Query]:
    """A tree, and a query: of any shape, or made of the tree's own leaves."""
    view = view_of(tuple(draw(st.booleans()) for _ in range(4)))
    tree = draw(trees(view, most_levels=3))
    options = [queries_of(asked_literals(), max_leaves=5)]
    if tree.split(0) is not None:
        leaves = [leaf_query(tree, Splits.of(view), leaf) for leaf in tree.leaves]
        own = st.sampled_from(leaves)
        options += [queries_of(own, max_leaves=4), queries_of(own | asked_literals(), max_leaves=3)]  # type: ignore[arg-type]
    return released(tree, view), view, draw(st.one_of(options))


@st.composite
def given_cases(draw: st.DrawFn) -> tuple[ReleasedTree, View, Query]:
    """A tree one of whose splits a person gave, and a query: of any shape, or that very split."""
    tree, view, query = draw(cases().filter(lambda case: case[0].tree.split(0) is not None))
    node = draw(st.sampled_from(tree.tree.inner))
    split = draw(queries_of(asked_literals(), max_leaves=3))
    required = {one.name for one in view.attributes if one.required}
    places = set(tree.tree.stuck) - {node}
    if not required.issuperset(attributes(split)):
        places.add(node)
    shape = Tree(Side.LEFT, tree.tree.splits, tuple(sorted(places)))
    words = (*tree.splits[:node], split, *tree.splits[node + 1 :])
    asked = draw(st.sampled_from([query, split, Not(split)]))
    return ReleasedTree(shape, words, tree.attributes), view, asked
