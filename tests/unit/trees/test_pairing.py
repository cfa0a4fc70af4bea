"""What twin trees may choose from, against the definition, pair by pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.splits import informative
from redveil.growing.pairing import NO_EARLIER, Earlier, Pairing
from redveil.growing.twin import BY_LEVERAGE, Twins, grow_twins
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.schema.unmatched import Group
from redveil.trees.splits import Splits
from support.prepared import level_keys, prepared_table, purse_of
from support.seeded import SeededRandomness
from support.tiny import Tiny, table_of

Required = Mapping[Side, Collection[str]]
Path = tuple[tuple[int, bool], ...]


def view(side: str) -> View:
    flags = tuple(Attribute(f"{side} flag {i}", Kind.BOOLEAN, required=True) for i in range(3))
    number = Attribute(f"{side} number", Kind.NUMERIC, minimum=0, maximum=3, cuts=(1.0, 2.0))
    return View(side, "id", (*flags, number))


SCHEMA = Schema("small", view("left"), view("right"))
SPLITS = {side: Splits.of(SCHEMA.view(side)) for side in Side}


def name(side: Side, split: int) -> str:
    return SCHEMA.view(side).names[int(SPLITS[side].attribute[split])]


def by_definition(
    schema: Schema, required: Required, paths: Mapping[Side, Path], earlier: Earlier
) -> set[tuple[int, int]]:
    """Return the pairs of splits that may be chosen, one pair at a time."""
    above = {side: [name(side, split) for split, _ in paths[side]] for side in Side}
    may = {
        side: [s for s, can in enumerate(informative(schema.view(side), paths[side])) if can]
        for side in Side
    }
    if not any(paths.values()):
        for side in Side:
            wanted = required.get(side) or schema.view(side).names
            may[side] = [s for s in may[side] if name(side, s) in wanted]

    def apart(left: int, right: int) -> bool:
        """Whether the new splits may stand beside each other, and beside what is above."""
        new_left, new_right = name(Side.LEFT, left), name(Side.RIGHT, right)
        return not any(
            group.is_matched([new_left], [*above[Side.RIGHT], new_right])
            or group.is_matched(above[Side.LEFT], [new_right])
            for group in schema.unmatched
        )

    def pairs(some: Mapping[Side, list[int]]) -> set[tuple[int, int]]:
        return {(i, j) for i in some[Side.LEFT] for j in some[Side.RIGHT] if apart(i, j)}

    def told(left: int, right: int) -> bool:
        """Whether the attributes of the new splits were matched before."""
        one, other = SPLITS[Side.LEFT].attribute[left], SPLITS[Side.RIGHT].attribute[right]
        return (int(one), int(other)) in earlier.matched

    if any(paths.values()):
        return {pair for pair in pairs(may) if not told(*pair)} or pairs(may)
    fresh = {
        side: [s for s in may[side] if SPLITS[side].attribute[s] not in earlier.roots[side]]
        or may[side]
        for side in Side
    }
    return pairs(fresh) or pairs(may)


def some_of(side: Side) -> st.SearchStrategy[set[str]]:
    return st.sets(st.sampled_from(SCHEMA.view(side).names))


groups = st.lists(
    st.builds(Group, *(some_of(side).map(lambda s: tuple(sorted(s))) for side in Side))
)
numbers = st.frozensets(st.integers(0, 3))
matched = st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 3)))
steps = st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=2).map(tuple)


@settings(max_examples=300, deadline=None)
@given(groups, some_of(Side.LEFT), some_of(Side.RIGHT), steps, steps, numbers, numbers, matched)
def test_what_may_be_chosen_follows_from_the_definition(
    unmatched: list[Group],
    left: set[str],
    right: set[str],
    left_path: Path,
    right_path: Path,
    left_used: frozenset[int],
    right_used: frozenset[int],
    told: frozenset[tuple[int, int]],
) -> None:
    # Both nodes are roots, or neither is.
    paths = {Side.LEFT: left_path, Side.RIGHT: right_path}
    if not all(paths.values()):
        paths = dict.fromkeys(Side, ())
    schema = replace(SCHEMA, unmatched=tuple(unmatched))
    required = {Side.LEFT: left, Side.RIGHT: right}
    earlier = Earlier({Side.LEFT: left_used, Side.RIGHT: right_used}, told)
    pairing = Pairing.of(schema, SPLITS, required)
    allowed = pairing.allowed(paths[Side.LEFT], paths[Side.RIGHT], earlier)
    found = {(int(i), int(j)) for i, j in np.argwhere(allowed)}
    assert found == by_definition(schema, required, paths, earlier)


def test_roots_leave_other_years_of_earlier_roots_alone_while_there_is_anything_else() -> None:
    names = "cost 2008", "cost 2009", "age"
    flags = tuple(Attribute(name, Kind.BOOLEAN, required=True) for name in names)
    schema = Schema("years", View("left", "id", flags), View("right", "id", flags))
    pairing = Pairing.of(schema, {side: Splits.of(schema.view(side)) for side in Side}, {})

    def lefts(*used: int) -> list[int]:
        allowed = pairing.allowed((), (), Earlier({Side.LEFT: frozenset(used)}))
        return np.flatnonzero(allowed.any(axis=1)).tolist()

    assert lefts() == [0, 1, 2]
    assert lefts(0) == lefts(1) == [2]
    assert lefts(2) == [0, 1]
    # Rather another year than the same attribute again.
    assert lefts(0, 2) == [1]


def grown(schema: Schema, required: Required, seed: int, depth: int = 3) -> Twins:
    generator = np.random.default_rng(seed)
    sides = [
        Tiny(
            schema.view(side),
            [generator.integers(0, a.bins, 60).tolist() for a in schema.view(side).attributes],
        )
        for side in Side
    ]
    keys = level_keys(depth)
    data = prepared_table(table_of(*sides), schema)
    purse = purse_of(keys, Fraction(1))
    return grow_twins(
        data, BY_LEVERAGE, NO_EARLIER, keys, purse, SeededRandomness(seed), required
    ).value


def on_path(twins: Twins, side: Side, node: int) -> set[str]:
    return {name(side, split) for split, _ in twins.tree(side).path(node)}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 999))
def test_matched_leaves_mention_no_group_on_both_sides(seed: int) -> None:
    flags = Group(("left flag 0", "left number"), ("right flag 0", "right number"))
    schema = replace(SCHEMA, unmatched=(flags,))
    twins = grown(schema, {}, seed)
    for left, right in twins.matches:
        names = on_path(twins, Side.LEFT, left), on_path(twins, Side.RIGHT, right)
        assert not flags.is_matched(*names)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 999))
def test_every_leaf_mentions_what_is_required_of_roots(seed: int) -> None:
    required = {Side.LEFT: ("left flag 1",), Side.RIGHT: ("right flag 2", "right number")}
    twins = grown(SCHEMA, required, seed)
    for left, right in twins.matches:
        assert not on_path(twins, Side.LEFT, left).isdisjoint(required[Side.LEFT])
        assert not on_path(twins, Side.RIGHT, right).isdisjoint(required[Side.RIGHT])


def test_any_root_will_do_if_what_is_required_has_no_split() -> None:
    pairing = Pairing.of(SCHEMA, SPLITS, {Side.LEFT: ("gone",)})
    assert pairing.roots[Side.LEFT].all()
    assert pairing.allowed((), ()).all()
