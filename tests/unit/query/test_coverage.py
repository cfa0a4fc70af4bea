from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.query_rows import Row, evaluate_row
from redveil.errors import QueryError
from redveil.findings.critical_values import unions
from redveil.query import coverage as module
from redveil.query.coverage import (
    Flags,
    ReleasedTree,
    certain,
    check_literal,
    coverage,
    reachable,
)
from redveil.query.formula import (
    And,
    Literal,
    Not,
    Or,
    Query,
)
from redveil.query.leaves import leaf_query, term_ends
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, Side, View
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.queries import queries_of
from strategies.released_trees import (
    DOMAINS,
    ORDER,
    asked_literals,
    cases,
    given_cases,
    released,
    view_of,
)
from strategies.trees import trees


def all_entities(view: View) -> Iterator[Row]:
    """Yield an entity of every kind that there can be."""
    values = [(*DOMAINS[a.name], *(() if a.required else (None,))) for a in view.attributes]
    for one in itertools.product(*values):
        yield dict(zip((a.name for a in view.attributes), one, strict=True))


def end_of(row: Row, tree: ReleasedTree) -> int:
    node = 0
    while (split := tree.splits[node] if node < len(tree.splits) else None) is not None:
        answer = evaluate_row(split, row, ORDER)
        if answer is None:
            return node
        node = 2 * node + (1 if answer else 2)
    return node


@settings(max_examples=40, deadline=None)
@given(cases())
def test_every_end_is_decided_as_by_trying_every_entity(
    case: tuple[ReleasedTree, View, Query],
) -> None:
    tree, view, query = case
    seen: dict[int, set[bool]] = {}
    for row in all_entities(view):
        seen.setdefault(end_of(row, tree), set()).add(evaluate_row(query, row, ORDER) is True)
    found = coverage(query, tree)
    for place, end in enumerate(tree.tree.ends):
        if end in seen:
            assert found.undetermined[place] == (len(seen[end]) == 2)
            assert found.covered[place] == (seen[end] == {True})
        else:
            assert not found.undetermined[place]
    assert found.is_released == all(len(values) == 1 for values in seen.values())


@settings(max_examples=40, deadline=None)
@given(cases())
def test_what_is_released_is_among_the_unions_that_intervals_hold_for(
    case: tuple[ReleasedTree, View, Query],
) -> None:
    tree, _, query = case
    found = coverage(query, tree)
    if found.is_released:
        assert (unions(tree.tree) == found.covered).all(axis=1).any()


@settings(max_examples=60, deadline=None)
@given(given_cases())
def test_where_a_query_splits_a_tree_nothing_is_answered_wrongly(
    case: tuple[ReleasedTree, View, Query],
) -> None:
    tree, view, query = case
    found = coverage(query, tree)
    if not found.is_released:
        return
    for row in all_entities(view):
        place = tree.tree.ends.index(end_of(row, tree))
        assert found.covered[place] == (evaluate_row(query, row, ORDER) is True)


@settings(max_examples=40, deadline=None)
@given(given_cases())
def test_an_end_is_reachable_if_some_entity_ends_there(
    case: tuple[ReleasedTree, View, Query],
) -> None:
    tree, view, _ = case
    ends = {end_of(row, tree) for row in all_entities(view)}
    assert reachable(tree).tolist() == [end in ends for end in tree.tree.ends]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_certain_is_so_for_every_entity_that_there_can_be(data: st.DataObject) -> None:
    view = view_of(tuple(data.draw(st.booleans()) for _ in range(4)))
    asked = queries_of(asked_literals(), max_leaves=3)
    query, part = data.draw(asked), data.draw(st.none() | asked)
    rows = (
        row for row in all_entities(view) if part is None or evaluate_row(part, row, ORDER) is True
    )
    seen = {evaluate_row(query, row, ORDER) is True for row in rows}
    declared = {one.name: one for one in view.attributes}
    expected = None if len(seen) == 2 else seen == {True}
    assert certain(query, part, declared) is expected


def test_a_given_query_and_its_negation_can_be_asked() -> None:
    view = view_of()
    split = parse_text("[wet] & [depth > 1.5]")
    tree = Tree(Side.LEFT, (0,), stuck=(0,))
    words = ReleasedTree(tree, (split,), {one.name: one for one in view.attributes})
    assert coverage(split, words).covered.tolist() == [True, False, False]
    assert coverage(Not(split), words).covered.tolist() == [False, True, False]
    assert coverage(split, words).is_released
    assert coverage(Not(split), words).is_released
    assert not coverage(parse_text("[wet]"), words).is_released
    assert not coverage(parse_text("[depth > 1.5]"), words).is_released


def test_a_query_that_is_true_where_a_given_one_is_unknown_is_not_answered() -> None:
    # The lower split tells wet from dry only where the upper one, which is given, is true.
    view = view_of((True, False, False, False))
    split = parse_text('[wet] | [state = "CA"]')
    tree = Tree(Side.LEFT, (0, 1), stuck=(0,))
    words = ReleasedTree(
        tree, (split, Literal("wet", "=", value=True)), {one.name: one for one in view.attributes}
    )
    dry = coverage(parse_text("![wet]"), words)
    assert not dry.is_released
    assert not (unions(tree) == dry.covered).all(axis=1).any()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_leaves_and_their_negations_are_what_mining_takes_them_for(data: st.DataObject) -> None:
    view = view_of(tuple(data.draw(st.booleans()) for _ in range(4)))
    tree = data.draw(trees(view, most_levels=3).filter(lambda tree: tree.split(0) is not None))
    words = released(tree, view)
    reached = np.isin(tree.ends, [end_of(row, words) for row in all_entities(view)])
    terms = term_ends(tree)
    for number, leaf in enumerate(tree.leaves):
        query = leaf_query(tree, Splits.of(view), leaf)
        for asked, term in ((query, terms[number]), (Not(query), terms[number + len(tree.leaves)])):
            found = coverage(asked, words)
            assert found.is_released
            # Ends that no entity reaches may be either.
            np.testing.assert_array_equal(found.covered[reached], term[reached])


@st.composite
def deep_cases(draw: st.DrawFn, disjuncts: int) -> tuple[ReleasedTree, View, list[int], Query]:
    """A tree of four to six levels, and leaves of it, some negated, joined as mining does."""
    view = view_of(tuple(draw(st.booleans()) for _ in range(4)))
    levels = draw(st.integers(4, 6))
    tree = draw(trees(view, most_levels=levels).filter(lambda tree: len(tree.leaves) >= 6))
    number = st.integers(0, 2 * len(tree.leaves) - 1)
    chosen = draw(st.lists(number, min_size=disjuncts, max_size=disjuncts, unique=True))
    leaves = [leaf_query(tree, Splits.of(view), leaf) for leaf in tree.leaves]
    terms = [*leaves, *map(Not, leaves)]
    return released(tree, view), view, chosen, Or(tuple(terms[number] for number in chosen))


@pytest.mark.parametrize("disjuncts", [3, 10])
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_unions_of_a_deep_tree_s_leaves_are_decided_as_by_trying_every_entity(
    disjuncts: int, data: st.DataObject
) -> None:
    tree, view, chosen, query = data.draw(deep_cases(disjuncts))
    found = coverage(query, tree)
    assert found.is_released
    # Counted as mining counts: by the ends of every term.
    covered: Flags = np.asarray(term_ends(tree.tree)[chosen].any(axis=0))
    reached = np.zeros(len(tree.tree.ends), dtype=bool)
    for row in all_entities(view):
        place = tree.tree.ends.index(end_of(row, tree))
        reached[place] = True
        assert found.covered[place] == (evaluate_row(query, row, ORDER) is True)
    np.testing.assert_array_equal(found.covered[reached], covered[reached])


# Splits of the view: 0 wet; 1, 2, 3 one state each; 4, 5 grades; 6, 7, 8 depths 1, 2, 3.
WET, DEPTH_2 = 0, 7
REQUIRED = (True,) * 4


def covered(text: str, split: int, required: tuple[bool, ...] = REQUIRED) -> list[bool] | None:
    """Return what a query covers of a tree with one split, or None if that is not determined."""
    stuck = () if required[0 if split == WET else 3] else (0,)
    found = coverage(
        parse_text(text), released(Tree(Side.LEFT, (split,), stuck), view_of(required))
    )
    return found.covered.tolist() if found.is_released else None


@pytest.mark.parametrize(
    ("text", "split", "expected"),
    [
        ("[wet]", WET, [True, False]),
        ("![wet]", WET, [False, True]),
        ("[wet] | ![wet]", WET, [True, True]),
        ("[wet] & ![wet]", WET, [False, False]),
        ("[wet] & [state = CA] | [wet] & [state != CA]", WET, [True, False]),
        ("[wet] & ([state = CA] | [state = NV] | [state = NY])", WET, [True, False]),
        ("[wet] & [state = CA]", WET, None),
        ("[state = CA]", WET, None),
        ("[depth <= 2]", DEPTH_2, [True, False]),
        ("[0.5 < depth <= 2] | [depth <= 0.5]", DEPTH_2, [True, False]),
        ("[depth <= 2.2]", DEPTH_2, None),
        # Numbers outside the bounds, 0 and 4, are compared as they are.
        ("[depth <= 4]", DEPTH_2, None),
        ("[depth > 4]", DEPTH_2, None),
        ("[depth <= 2] & [depth > -1]", DEPTH_2, None),
        ("[depth = 2]", DEPTH_2, None),
        ("[depth = 9]", DEPTH_2, None),
        ('[grade <= "high"] & [depth > 2]', DEPTH_2, [False, True]),
        ('[grade > "low"] & [depth > 2]', DEPTH_2, None),
        # What is never missing is known, asked about or not.
        ("[wet is known]", WET, [True, True]),
        ("[wet] & [state is known]", WET, [True, False]),
        ("![state is known]", WET, [False, False]),
    ],
)
def test_what_follows_is_recognised(text: str, split: int, expected: list[bool] | None) -> None:
    assert covered(text, split) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[wet]", [True, False, False]),
        ("![wet]", [False, True, False]),
        ("[wet] | ![wet]", [True, True, False]),
        # An entity without a state satisfies neither part.
        ("[wet] & [state = CA] | [wet] & [state != CA]", None),
        ("[depth <= 4]", None),
        ("[wet is known]", [True, True, False]),
        ("![wet is known]", [False, False, True]),
        ("[wet] | ![wet is known]", [True, False, True]),
        ("[wet is known] & ![wet]", [False, True, False]),
        ("[wet] & [state is known]", None),
    ],
)
def test_missing_values_are_in_no_support(text: str, expected: list[bool] | None) -> None:
    assert covered(text, WET, (False,) * 4) == expected


def test_a_category_follows_when_no_other_is_left() -> None:
    view = View(
        "patients",
        "id",
        (Attribute("sex", Kind.CATEGORICAL, required=True, categories=("f", "m")),),
    )
    tree = released(Tree(Side.LEFT, (0,)), view)
    assert coverage(parse_text("[sex = m]"), tree).covered.tolist() == [False, True]
    assert coverage(parse_text("![sex = m]"), tree).covered.tolist() == [True, False]


def test_a_tree_without_splits_answers_only_all_entities_or_none() -> None:
    tree = released(Tree(Side.LEFT, (None,)), view_of(REQUIRED))
    assert coverage(parse_text("[wet] | ![wet]"), tree).covered.tolist() == [True]
    assert coverage(parse_text("[wet] & ![wet]"), tree).covered.tolist() == [False]
    assert not coverage(parse_text("[wet]"), tree).is_released


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[Wett]", "no attribute Wett; did you mean wet?"),
        ("[Wett is known]", "no attribute Wett; did you mean wet?"),
        ("[zzz]", "no attribute zzz; use one of wet, state, grade, depth"),
        ("[depth = deep]", "depth is numeric; compare it with a number"),
        ("[depth]", "depth is numeric; compare it with a number"),
        ("[wet = CA]", "wet is Boolean; write [wet] or ![wet]"),
        ('[state <= "CA"]', "state has no order; use = or !="),
        ("[state = NZ]", "state has no such category; use one of CA, NV, NY"),
        ('[grade > "med"]', "grade has no such category"),
        ("[grade]", "grade has no such category"),
    ],
)
def test_a_literal_that_does_not_fit_is_refused_with_a_remedy(text: str, hint: str) -> None:
    tree = released(Tree(Side.LEFT, (WET,)), view_of())
    with pytest.raises(QueryError) as caught:
        coverage(parse_text(text), tree)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_may_name_categories() -> None:
    ward = Attribute("ward", Kind.CATEGORICAL, required=True, categories=("7", "8"))
    check_literal(Literal("ward", "=", 7), {"ward": ward})
    with pytest.raises(QueryError, match="no such category"):
        check_literal(Literal("ward", "=", 9), {"ward": ward})


def flags(count: int) -> ReleasedTree:
    """Return a tree that asks about the first of many Booleans that are never missing."""
    names = [f"b{i}" for i in range(count)]
    view = View("v", "id", tuple(Attribute(n, Kind.BOOLEAN, required=True) for n in names))
    return released(Tree(Side.LEFT, (0,)), view)


def parity(names: list[str]) -> Query:
    """Return a query of which nothing is known until every attribute is."""
    first: Query = Literal(names[0], "=", value=True)
    for name in names[1:]:
        literal = Literal(name, "=", value=True)
        first = Or((And((first, Not(literal))), And((Not(first), literal))))
    return first


def test_many_attributes_are_no_trouble_where_few_matter() -> None:
    tree = flags(300)
    other = Or(tuple(Literal(f"b{i}", "=", value=True) for i in range(1, 300)))
    first = Literal("b0", "=", value=True)
    assert coverage(Or((first, And((first, other)))), tree).covered.tolist() == [True, False]
    assert not coverage(Or((first, other)), tree).is_released


def test_what_takes_too_long_to_decide_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORK", 10_000)
    odd = parity([f"b{i}" for i in range(1, 9)])
    first = Literal("b0", "=", value=True)
    with pytest.raises(QueryError, match="too complex to check; ask about parts of it"):
        coverage(And((first, Or((odd, Not(odd))))), flags(9))
