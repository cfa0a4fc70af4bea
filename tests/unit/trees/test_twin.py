"""Twin trees: which nodes match, what may stand at them, who stands in them, what they cost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.binning import bins_of
from oracle.crosstab import count_pairs
from oracle.route import walk
from oracle.splits import informative, splits_of
from oracle.walk import Candidates, candidates
from redveil.counting.columns import cross_tabulate, route
from redveil.counting.prepared import PreparedData
from redveil.data.binning import bin_table
from redveil.data.table import Table
from redveil.errors import PlanError
from redveil.growing.pairing import NO_EARLIER, Earlier
from redveil.growing.twin import BY_AGREEMENT, BY_LEVERAGE, Matching, Twins, grow_twins
from redveil.losses.plan import StepKey
from redveil.privacy.purse import Purse
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Released
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.schemas import schemas, tables
from support.prepared import level_keys, prepared, prepared_table, purse_of
from support.seeded import SeededRandomness
from support.tiny import Tiny, tiny_entities, tiny_view

few = settings(max_examples=40, deadline=None)
CERTAIN = Fraction(10**6)
matchings = pytest.mark.parametrize(
    "root", [BY_LEVERAGE, BY_AGREEMENT], ids=("leverage", "agreement")
)


def purse_for(depth: int, price: Fraction) -> tuple[list[StepKey], Purse]:
    """Return a step for every level, and what pays for them."""
    keys = level_keys(depth)
    return keys, purse_of(keys, price / depth)


def grow(
    data: PreparedData,
    depth: int,
    price: Fraction = Fraction(1),
    *,
    root: Matching = BY_LEVERAGE,
    earlier: Earlier = NO_EARLIER,
    seed: int = 0,
) -> Released[Twins]:
    """Grow twins, and see that every level is paid for."""
    steps, purse = purse_for(depth, price)
    grown = grow_twins(data, root, earlier, steps, purse, SeededRandomness(seed))
    purse.close()
    return grown


def earlier_roots(left: set[int], right: set[int]) -> Earlier:
    return Earlier({Side.LEFT: frozenset(left), Side.RIGHT: frozenset(right)})


def level(node: int) -> int:
    return (node + 1).bit_length() - 1


def required_flags(columns: Sequence[Sequence[int]]) -> Tiny:
    names = (f"flag {i}" for i in range(len(columns)))
    view = View("v", "id", tuple(Attribute(n, Kind.BOOLEAN, required=True) for n in names))
    return Tiny(view, columns)


def sets_of(table: Table, schema: Schema, side: Side) -> Candidates:
    """Return a view's splits as sets of entities."""
    view, columns = schema.view(side), table.left if side is Side.LEFT else table.right
    values = [bins_of(columns[a.name], a) for a in view.attributes]
    runs = [(one.attribute, min(one.holds), max(one.holds)) for one in splits_of(view)]
    return candidates(values, runs)


def ends(tree: Tree, view: Candidates, rows: int) -> list[int]:
    """Return the node at which every entity ends, one entity at a time."""

    def end(entity: int) -> int:
        return walk(tree.splits, lambda split: view.answer(split, entity))

    return [end(entity) for entity in range(rows)]


grown_on = st.tuples(schemas(), st.integers(0, 70), st.integers(1, 4), st.integers(0, 99))


def grow_on(
    data: st.DataObject, case: tuple[Schema, int, int, int], root: Matching
) -> tuple[Twins, Table]:
    schema, rows, depth, seed = case
    table = data.draw(tables(schema, rows))
    packed = prepared_table(bin_table(table, schema), schema)
    return grow(packed, depth, root=root, seed=seed).value, table


@few
@given(st.data(), grown_on, st.sampled_from((BY_LEVERAGE, BY_AGREEMENT)))
def test_every_leaf_matches_exactly_one_leaf_on_the_same_level(
    data: st.DataObject, case: tuple[Schema, int, int, int], root: Matching
) -> None:
    twins, _ = grow_on(data, case, root)
    assert sorted(left for left, _ in twins.matches) == sorted(twins.left.leaves)
    assert sorted(right for _, right in twins.matches) == sorted(twins.right.leaves)
    assert all(level(left) == level(right) for left, right in twins.matches)
    assert len(twins.matches) == len(set(twins.matches))
    # The same matching holds one level up, at the parents.
    parents = {((left - 1) // 2, (right - 1) // 2) for left, right in twins.matches}
    for one, other in itertools.combinations(parents, 2):
        assert (one[0] == other[0]) == (one[1] == other[1])


@few
@given(st.data(), grown_on)
def test_only_splits_that_can_divide_are_chosen(
    data: st.DataObject, case: tuple[Schema, int, int, int]
) -> None:
    schema, _, depth, _ = case
    twins, _ = grow_on(data, case, BY_LEVERAGE)
    for side in Side:
        tree = twins.tree(side)
        assert tree.side is side
        for node in tree.inner:
            assert informative(schema.view(side), tree.path(node))[tree.splits[node] or 0]
    assert all(1 <= level(left) <= depth for left, _ in twins.matches)


@few
@given(st.data(), grown_on)
def test_the_schema_says_where_entities_can_be_stuck(
    data: st.DataObject, case: tuple[Schema, int, int, int]
) -> None:
    twins, _ = grow_on(data, case, BY_AGREEMENT)
    for side in Side:
        tree, view = twins.tree(side), case[0].view(side)
        asked = {node: splits_of(view)[tree.splits[node] or 0].attribute for node in tree.inner}
        # A value that was known above is known below.
        optional = [
            node
            for node, attribute in asked.items()
            if not view.attributes[attribute].required
            and attribute not in {asked[above] for above, _ in tree.ancestors(node)}
        ]
        assert list(tree.stuck) == sorted(optional)


@few
@given(st.data(), grown_on)
def test_routes_and_tables_agree_with_walking_everybody_through(
    data: st.DataObject, case: tuple[Schema, int, int, int]
) -> None:
    schema, rows, _, _ = case
    twins, table = grow_on(data, case, BY_LEVERAGE)
    packed, at, walked = bin_table(table, schema), {}, {}
    for side in Side:
        tree = twins.tree(side)
        at[side] = route(packed.view(side), Splits.of(schema.view(side)), tree)
        walked[side] = ends(tree, sets_of(table, schema, side), rows)
        assert at[side].tolist() == walked[side]
        assert set(walked[side]) <= set(tree.ends)
    cells = [{node: i for i, node in enumerate(twins.tree(side).ends)} for side in Side]
    expected = count_pairs(walked[Side.LEFT], walked[Side.RIGHT], cells[0], cells[1])
    counted = cross_tabulate(twins.left, twins.right, at[Side.LEFT], at[Side.RIGHT])
    assert counted.tolist() == expected
    assert counted.sum() == rows


# Whether a person's left flags hold; the right ones are made of them.
BITS = np.random.default_rng(8).integers(0, 2, (3, 200)).tolist()


def flipped(column: Sequence[int]) -> list[int]:
    return [1 - value for value in column]


@matchings
@pytest.mark.parametrize("crossed", [False, True])
def test_corresponding_sides_match(root: Matching, crossed: bool) -> None:  # noqa: FBT001
    right = flipped(BITS[1]) if crossed else BITS[1]
    data = prepared(required_flags(BITS), required_flags([BITS[2][::-1], right]))
    twins = grow(data, 1, CERTAIN, root=root).value
    assert (twins.left.splits, twins.right.splits) == ((1,), (1,))
    assert twins.matches == (((1, 2), (2, 1)) if crossed else ((1, 1), (2, 2)))


@matchings
def test_each_matched_pair_has_its_own_correspondence_below(root: Matching) -> None:
    first, second, third = BITS
    # Where the first flag holds, the second corresponds to right flag 1, crossed; elsewhere the
    # third does, straight. The first flag itself corresponds to right flag 0, crossed.
    inner = [1 - b if a else c for a, b, c in zip(first, second, third, strict=True)]
    clearly = [[0] * 60 + flipped(first), [i % 2 for i in range(60)] + inner]
    lefts = [[1] * 60 + first, [1 - i % 2 for i in range(60)] + second, [0] * 60 + third]
    data = prepared(required_flags(lefts), required_flags(clearly))
    twins = grow(data, 2, CERTAIN, root=root).value
    assert twins.left.splits == (0, 1, 2)
    assert twins.right.splits == (0, 1, 1)
    # Node 1 (first flag holds) matches node 2 on the right, and there children cross.
    assert twins.matches == ((3, 6), (4, 5), (5, 3), (6, 4))


def test_entities_that_disagree_take_no_part_below() -> None:
    # Flags 0 agree for five of nine. Among these, flags 1 go together and flags 2 do not; among
    # all, flags 2 would win, for they agree perfectly where flags 0 do not.
    anything = list(itertools.product((0, 1), repeat=2))
    often = [(1, 1), (0, 0)] * 7 + [(1, 0), (0, 1)] * 3
    rows = [(here, here, *one, *two) for here in (0, 1) for one in often for two in anything] + [
        (here, 1 - here, *one, two, two)
        for here in (0, 1)
        for one in anything
        for two in (0, 1)
        for _ in range(8)
    ]
    columns = list(zip(*rows, strict=True))
    data = prepared(required_flags(columns[::2]), required_flags(columns[1::2]))
    others = earlier_roots({1, 2}, {1, 2})
    twins = grow(data, 2, CERTAIN, root=BY_AGREEMENT, earlier=others).value
    assert twins.left.splits == twins.right.splits == (0, 1, 1)
    assert twins.matches == ((3, 3), (4, 4), (5, 5), (6, 6))


def test_a_missing_value_is_no_no() -> None:
    # If it were, flag 1 would correspond to the right flag for every entity.
    left = Tiny(tiny_view(2, 1), [[1] * 6 + [0] * 74, [1] * 10 + [None] * 70, [None] * 80])
    right = Tiny(tiny_view(1, 1), [[1] * 10 + [0] * 70, [None] * 80])
    twins = grow(prepared(left, right), 1, CERTAIN, root=BY_AGREEMENT).value
    assert (twins.left.splits, twins.right.splits, twins.left.stuck) == ((0,), (0,), (0,))


@matchings
def test_avoided_attributes_stand_at_no_root_but_may_stand_below(root: Matching) -> None:
    left, right = required_flags(BITS), required_flags([BITS[1], BITS[0]])
    twins = grow(
        prepared(left, right), 2, CERTAIN, root=root, earlier=earlier_roots({0}, {1})
    ).value
    assert (twins.left.splits, twins.right.splits) == ((1, 0, 0), (0, 1, 1))
    assert twins.roots({Side.LEFT: left.splits, Side.RIGHT: right.splits}) == {
        Side.LEFT: 1,
        Side.RIGHT: 0,
    }


@matchings
def test_pairs_that_were_matched_before_are_not_matched_again_below(root: Matching) -> None:
    left, right = required_flags(BITS), required_flags(BITS)
    data, splits = prepared(left, right), {Side.LEFT: left.splits, Side.RIGHT: right.splits}
    free = grow(data, 2, CERTAIN, root=root).value
    roots = {tuple(free.roots(splits).values())}
    told = frozenset(free.matched(splits) - roots)
    assert told
    again = grow(data, 2, CERTAIN, root=root, earlier=Earlier({}, told)).value
    assert again.roots(splits) == free.roots(splits)
    assert again.matched(splits) > roots
    assert again.matched(splits).isdisjoint(told)


@matchings
def test_what_was_matched_before_may_be_matched_if_nothing_else_is_left(root: Matching) -> None:
    data = prepared(required_flags(BITS), required_flags(BITS))
    every = frozenset((i, j) for i in range(3) for j in range(3))
    free, again = (
        grow(data, 2, CERTAIN, root=root, earlier=earlier).value
        for earlier in (NO_EARLIER, Earlier({}, every))
    )
    assert again == free


def test_avoiding_all_attributes_of_a_view_avoids_none_of_it() -> None:
    data = prepared(required_flags(BITS), required_flags([BITS[1], BITS[0]]))
    twins = grow(data, 1, CERTAIN, earlier=earlier_roots({0}, {0, 1})).value
    assert (twins.left.splits, twins.right.splits) == ((1,), (0,))


def test_avoiding_is_by_attribute_and_not_by_split() -> None:
    left, right = tiny_entities(60, 1, 4, 1), tiny_entities(60, 1, 4, 2)
    data = prepared(left, right)
    earlier = earlier_roots({1}, {1})
    roots = {
        grow(data, 1, Fraction(1, 10), earlier=earlier, seed=seed).value.left.splits
        for seed in range(30)
    }
    assert roots == {(0,)}
    assert {grow(data, 1, Fraction(1, 10), seed=seed).value.left.splits for seed in range(60)} == {
        (split,) for split in range(5)
    }


@matchings
def test_a_single_flag_stops_growing_and_its_steps_are_paid_all_the_same(root: Matching) -> None:
    data = prepared(required_flags(BITS[:1]), required_flags(BITS))
    grown = grow(data, 4, CERTAIN, root=root)
    assert grown.value.left == Tree(Side.LEFT, (0,))
    assert grown.value.right == Tree(Side.RIGHT, (0,))
    assert grown.value.matches == ((1, 1), (2, 2))
    assert [receipt.step for receipt in grown.receipts] == level_keys(1)


def test_a_pair_stays_as_it_is_every_second_time_if_there_is_nothing_to_find() -> None:
    # Without entities, all scores are 0.
    nobody = prepared(required_flags([[]] * 3), required_flags([[]] * 2))
    twins = [grow(nobody, 2, seed=seed).value for seed in range(100)]
    stay = sum(level(left) == 1 for one in twins for left, _ in one.matches)
    # Binomial of 200 and a half: outside with a probability of 2e-8.
    assert 61 <= stay <= 139
    assert all(one.left.splits[0] is not None for one in twins)


def test_what_stands_out_is_split_and_what_does_not_is_asked_again() -> None:
    bits = [[0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10]
    related = required_flags(bits)
    twins = grow(prepared(related, related), 2, CERTAIN).value
    assert all(level(left) == 2 for left, _ in twins.matches)
    # One more level asks the pairs again that stayed as they were.
    nobody = prepared(required_flags([[]] * 3), required_flags([[]] * 2))
    grown = [grow(nobody, 3, seed=seed).value for seed in range(60)]
    assert any(one.left.splits[1] is None and 2 in one.left.inner for one in grown)


def test_one_branch_may_end_before_the_other() -> None:
    # A number of three bins: below "at most the first" nothing is left to ask.
    left, right = (
        Tiny(tiny_view(0, 2), [[0, 1, 2, 2] * 10]),
        required_flags([[1, 0, 0, 0] * 10, [0, 1, 0, 0] * 10]),
    )
    twins = grow(prepared(left, right), 3, CERTAIN).value
    assert twins.left.splits[0] == 0
    assert twins.left == Tree(Side.LEFT, (0, None, 1), (0,))
    assert (1, 1) in twins.matches
    assert len(twins.matches) == 3


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_receipts_of_all_levels_stay_with_the_twins(depth: int) -> None:
    data = prepared(tiny_entities(80, 3, 3, 1), tiny_entities(80, 3, 3, 2))
    grown = grow(data, depth, Fraction(3, 7))
    assert {(one.step, one.mechanism, one.price) for one in grown.receipts} == {
        (key, "choose", Fraction(3, 7) / depth) for key in level_keys(depth)
    }
    assert len(grown.receipts) == depth
    assert max(level(left) for left, _ in grown.value.matches) == depth


def test_a_level_that_is_not_in_the_plan_does_not_grow() -> None:
    data = prepared(tiny_entities(20, 1, 1, 1), tiny_entities(20, 1, 1, 2))
    _, purse = purse_for(1, Fraction(1))
    with pytest.raises(PlanError, match="level 2"):
        grow_twins(data, BY_AGREEMENT, NO_EARLIER, level_keys(2), purse, SeededRandomness(1))


def test_growth_that_is_stopped_pays_for_no_further_level() -> None:
    data = prepared(tiny_entities(20, 2, 1, 1), tiny_entities(20, 2, 1, 2))
    steps, purse = purse_for(2, Fraction(1))
    data.stop[0] = 1
    with pytest.raises(KeyboardInterrupt):
        grow_twins(data, BY_AGREEMENT, NO_EARLIER, steps, purse, SeededRandomness(1))
    assert [purse.pay(step, "choose").step for step in steps] == steps


@matchings
def test_a_seed_settles_the_twins(root: Matching) -> None:
    def some(seed: int) -> list[Twins]:
        data = prepared(tiny_entities(50, 2, 3, 1), tiny_entities(50, 2, 3, 2))
        return [grow(data, 3, root=root, seed=seed + i).value for i in range(5)]

    assert some(1) == some(1)
    assert some(1) != some(100)


def test_no_entities_at_all_is_no_problem() -> None:
    no_entities = Tiny(tiny_view(1, 2), [[], []])
    grown = grow(prepared(no_entities, no_entities), 2)
    assert level(max(grown.value.left.leaves)) == 2


# A tenth matches perfectly, halves match in five of eight cases. The leverage prefers the tenth
# (21.6 to 15), agreement the halves (30 to 24).
TENTH = [int(i % 10 == 0) for i in range(240)]
HALF = [1] * 120 + [0] * 120
NEARLY = [1] * 75 + [0] * 45 + [1] * 45 + [0] * 75


@pytest.mark.parametrize(("root", "chosen"), [(BY_LEVERAGE, 0), (BY_AGREEMENT, 1)])
def test_the_root_is_scored_as_asked(root: Matching, chosen: int) -> None:
    data = prepared(required_flags([TENTH, HALF]), required_flags([TENTH, NEARLY]))
    twins = grow(data, 1, CERTAIN, root=root).value
    assert (twins.left.splits, twins.right.splits) == ((chosen,), (chosen,))


@matchings
def test_what_is_below_the_root_is_scored_by_agreement(root: Matching) -> None:
    plain = [1] * 240 + [0] * 240
    left, right = (required_flags([TENTH * 2, one * 2, plain]) for one in (HALF, NEARLY))
    twins = grow(prepared(left, right), 2, CERTAIN, root=root).value
    assert twins.left.splits == twins.right.splits == (2, 1, 1)
