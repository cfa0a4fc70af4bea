"""The public list of splits against spelling out every bin."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.route import walk
from oracle.splits import follows, informative, open_bins, splits_of
from redveil.schema import Attribute, Kind, View
from redveil.trees.splits import Splits
from strategies.schemas import KEY, views
from strategies.trees import trees

few = settings(max_examples=100, deadline=None)


def as_sets(splits: Splits) -> list[tuple[int, set[int]]]:
    """Return every listed split's attribute and bins."""
    runs = zip(splits.attribute.tolist(), splits.low.tolist(), splits.high.tolist(), strict=True)
    return [(attribute, set(range(low, high + 1))) for attribute, low, high in runs]


@few
@given(views())
def test_every_split_is_listed_once(view: View) -> None:
    splits = Splits.of(view)
    assert as_sets(splits) == [(s.attribute, set(s.holds)) for s in splits_of(view)]
    assert len(splits.attribute) == view.split_count
    assert splits.view == view
    bins = [a.bins for a in view.attributes]
    assert splits.first_bin.tolist() == [sum(bins[:i]) for i in range(len(bins) + 1)]


@few
@given(views())
def test_listed_arrays_have_the_promised_types(view: View) -> None:
    splits = Splits.of(view)
    arrays = (splits.attribute, splits.low, splits.high, splits.first_bin)
    assert [a.dtype.name for a in arrays] == ["int32", "int32", "int32", "int64"]


@few
@given(st.data(), views())
def test_a_split_is_informative_when_bins_on_the_path_differ(
    data: st.DataObject, view: View
) -> None:
    step = st.tuples(st.integers(0, view.split_count - 1), st.booleans())
    path: list[tuple[int, bool]] = []
    for taken in data.draw(st.lists(step, max_size=6)):
        # In a tree of informative splits, some entity can take every path.
        if all(open_bins(view, [*path, taken])):
            path.append(taken)
    splits = Splits.of(view)
    divides = informative(view, path)
    assert splits.informative(path).tolist() == divides
    assert [splits.answer(path, s) for s in range(view.split_count)] == [
        None if divides[s] else follows(view, path, s) for s in range(view.split_count)
    ]


@few
@given(st.data(), views())
def test_entities_stop_where_a_missing_value_is_asked_for_first(
    data: st.DataObject, view: View
) -> None:
    tree, listed = data.draw(trees(view)), splits_of(view)
    ends = set[int]()
    for missing, attribute in enumerate(view.attributes):
        for answers in () if attribute.required else product((True, False), repeat=4):
            known = iter(answers)

            def answer(split: int, gone: int = missing, rest: Any = known) -> bool | None:
                return None if listed[split].attribute == gone else bool(next(rest))

            ends.add(walk(tree.splits, answer))
    inner = {node: split for node, split in enumerate(tree.splits) if split is not None}
    assert Splits.of(view).stops(inner) == tuple(sorted(ends & set(inner)))


def test_who_has_answered_once_does_not_stop_at_the_next_question() -> None:
    number = Attribute("n", Kind.NUMERIC, cuts=(0.1, 0.2, 0.3))
    sure = Attribute("s", Kind.BOOLEAN, required=True)
    splits = Splits.of(View("v", KEY, (number, boolean("b"), sure)))
    # n? then on one side n again and b below it, on the other s, b, and n once more.
    inner = {0: 1, 1: 0, 4: 3, 2: 4, 5: 3, 12: 2}
    assert splits.stops(inner) == (0, 4, 5)
    assert splits.stops({0: 4, 1: 1, 2: 2}) == (1, 2)
    assert splits.stops({}) == ()


@few
@given(st.data(), views())
def test_no_split_divides_an_attribute_whose_bins_all_contradict_the_path(
    data: st.DataObject, view: View
) -> None:
    step = st.tuples(st.integers(0, view.split_count - 1), st.booleans())
    path = data.draw(st.lists(step, max_size=6))
    splits = Splits.of(view)
    result = splits.informative(path).tolist()
    for number, attribute in enumerate(splits.attribute.tolist()):
        if not open_bins(view, path)[attribute]:
            assert not result[number]


@few
@given(st.data(), views())
def test_trees_know_what_each_of_their_nodes_may_still_ask(data: st.DataObject, view: View) -> None:
    tree = data.draw(trees(view))
    splits = Splits.of(view)
    for node in (*tree.leaves, *tree.inner):
        path = tree.path(node)
        assert splits.informative(path).tolist() == informative(view, path)


def test_without_a_path_every_split_divides() -> None:
    view = View("v", KEY, (Attribute("n", Kind.NUMERIC, cuts=(0.1, 0.2)), boolean("b")))
    assert Splits.of(view).informative(()).tolist() == [True, True, True]


def test_a_boolean_is_asked_once() -> None:
    view = View("v", KEY, (boolean("a"), boolean("b")))
    for held in (True, False):
        assert Splits.of(view).informative([(0, held)]).tolist() == [False, True]


def test_two_of_three_categories_refused_leave_the_third_certain() -> None:
    colour = Attribute("c", Kind.CATEGORICAL, categories=("r", "g", "b"))
    splits = Splits.of(View("v", KEY, (colour,)))
    assert splits.informative([(0, False)]).tolist() == [False, True, True]
    assert splits.informative([(0, False), (2, False)]).tolist() == [False] * 3
    assert splits.informative([(1, True)]).tolist() == [False] * 3


def test_255_bins_are_all_listed() -> None:
    number = Attribute("n", Kind.NUMERIC, maximum=254, cuts=tuple(float(i) for i in range(254)))
    letter = Attribute("c", Kind.CATEGORICAL, categories=tuple(map(str, range(255))))
    view = View("v", KEY, (number, letter))
    splits = Splits.of(view)
    assert as_sets(splits) == [(s.attribute, set(s.holds)) for s in splits_of(view)]
    path = [(100, True), (50, False), (254 + 7, False)]
    assert splits.informative(path).tolist() == informative(view, path)


def boolean(name: str) -> Attribute:
    return Attribute(name, Kind.BOOLEAN)
