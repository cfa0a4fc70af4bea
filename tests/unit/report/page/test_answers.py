"""Free questions in the page and by `redveil ask`: the same numbers, and the same queries."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import redveil
from oracle.union_wording import worded_union
from redveil.findings.questions import Answer, answers
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import Interval
from redveil.query.coverage import ReleasedTree, coverage, reachable
from redveil.query.formula import Literal, Query
from redveil.query.text import parse_text, to_text
from redveil.report.document import SupportPart
from redveil.report.page.bundle import script
from redveil.report.page.counts import Counts
from redveil.report.page.tables import page_tables, page_tree
from redveil.report.released import released_tables, significance_test
from redveil.report.result import Result
from redveil.schema import Side, View
from strategies.released_trees import given_cases
from support.browser import chromium
from support.clinic import clinic, mined_clinic
from support.results import document, redescription

# Other tests cover what these repeat.
pytestmark = pytest.mark.uncovered

Json = dict[str, Any]
Question = tuple[int, list[int], list[int]]
SIDES = (Side.LEFT, Side.RIGHT)

ASK = """([tables, questions]) => {
  const ready = tables.map(answersModule.prepare);
  return questions.map(([number, left, right]) => answersModule.answer(ready[number], left, right));
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A page that has the script and nothing else."""
    with chromium() as browser:
        empty = browser.new_page()
        empty.add_script_tag(content=script("answers"))
        yield empty


def asked(page: Any, result: Result, questions: list[Question]) -> list[Json]:
    """Return what the page answers, as a reader's browser would: from JSON alone."""
    tables = json.loads(json.dumps(page_tables(result.document), allow_nan=False))
    found: list[Json] = page.evaluate(ASK, [tables, questions])
    return found


def described(query: str) -> Result:
    return redveil.describe(clinic(), query, 2)


@cache
def confirmed(depth: int) -> Result:
    first = mined_clinic(seed=3, algorithm="twin", depth=depth, trials=3)
    return redveil.confirm(first.top(12), clinic(1500), 2)


def alternated(**parameters: Any) -> Result:
    return mined_clinic(algorithm="alt-expm", **parameters)


RESULTS: dict[str, Callable[[], Result]] = {
    "twin, depth 1": lambda: mined_clinic(algorithm="twin", depth=1, trials=2),
    "twin, depth 2": lambda: mined_clinic(algorithm="twin", depth=2, trials=2),
    "twin, depth 3": lambda: mined_clinic(algorithm="twin", depth=3, trials=1),
    "alternation, depth 4": lambda: alternated(depth=4, trials=1, alternations=1),
    "least squares": lambda: alternated(counts="least-squares"),
    "two passes": lambda: alternated(counts="two-pass"),
    "published": lambda: alternated(profile="published", depth=2),
    "walked": lambda: mined_clinic(algorithm="tree-pair", walk_steps=50),
    "with δ": lambda: redveil.mine(clinic(), 3, delta=1e-6),
    "describe, unknown": lambda: described("[HbA1c > 6.5] & [proteinuria] | [eGFR <= 60]"),
    "describe, known": lambda: described("[age > 60] & ![diabetes type 2]"),
    "confirm, depth 1": lambda: confirmed(1),
    "confirm, depth 2": lambda: confirmed(2),
}


def drawn(result: Result, count: int) -> list[Question]:
    """Draw unions of ends at random, few of them and many."""
    chance = random.Random(count)
    pairs = result.document.tree_pairs
    questions: list[Question] = []
    while len(questions) < count:
        number = chance.randrange(len(pairs))
        trees = pairs[number].left, pairs[number].right
        left, right = (
            [end for end in range(len(tree.ends)) if chance.random() < share]
            for tree, share in ((tree, chance.random()) for tree in trees)
        )
        if left and right:
            questions.append((number, left, right))
    return questions


def answer_of(result: Result, left: str, right: str, number: int) -> Answer:
    """Return what one table answers; `ask` chooses the one with the narrowest interval."""
    best = result.ask(left, right)
    if best.table == number:
        return best
    tables, test = released_tables(result.document), significance_test(result.document)
    found = answers(parse_text(left), parse_text(right), tables, test)
    return next(one for one in found if one.table == number)


def assert_same_numbers(found: Json, expected: Answer) -> None:
    known = expected.statistics

    def is_same(interval: Json, wanted: Interval) -> None:
        wanted_plainly = [wanted.estimate, wanted.low, wanted.high]
        plainly = [interval["estimate"], interval["low"], interval["high"]]
        assert plainly == pytest.approx(wanted_plainly, rel=1e-9, abs=1e-9)

    is_same(found["jaccard"], known.jaccard)
    is_same(found["corrected"], known.corrected)
    is_same(found["support"]["left"], known.support_left)
    is_same(found["support"]["right"], known.support_right)
    is_same(found["support"]["both"], known.support_both)
    assert found["expected"] == pytest.approx(known.expected_jaccard, rel=1e-9, abs=1e-9)
    for name, p_value in (
        ("p", known.p_value),
        ("p_confirming", known.p_value_confirming),
        ("p_estimate", known.p_value_estimate),
    ):
        if p_value < 1e-300:
            # Smaller than any that is printed; a double has few digits left.
            assert found[name] < 1e-300
        else:
            assert math.log(found[name]) == pytest.approx(math.log(p_value), rel=1e-9, abs=1e-9)


def assert_same_union(tables: Sequence[ReleasedTable], question: Question, found: Json) -> None:
    """Compare the ends that the two texts cover with those that were chosen."""
    table = tables[question[0]]
    for side, ends in zip(SIDES, question[1:], strict=True):
        tree = table.tree(side)
        known = coverage(parse_text(found[side]), tree)
        there = reachable(tree)
        assert known.is_released
        chosen = np.isin(np.arange(len(tree.tree.ends)), ends)
        assert known.covered[there].tolist() == chosen[there].tolist()


def must_be_refused(tree: ReleasedTree, ends: list[int]) -> bool:
    """Return whether nobody can be in a union, or it has the unknown part of a given query."""
    shape = tree.tree
    stuck = {shape.ends[end] for end in ends} & set(shape.stuck)
    below = {n for n in shape.stuck if stuck & {above for above, _ in shape.ancestors(n)}}
    given = [node for node in stuck | below if not isinstance(tree.splits[node], Literal)]
    return bool(given) or not reachable(tree)[ends].any()


def few_or(few: int, many: int) -> list[Any]:
    """Return how many questions to ask: a few, and many in the long suite."""
    return [few, pytest.param(many, marks=pytest.mark.slow)]


# More than a thousand over all results.
@pytest.mark.parametrize("count", few_or(80, 150))
@pytest.mark.parametrize("name", RESULTS)
def test_unions_of_ends_are_answered_as_by_ask(name: str, count: int, page: Any) -> None:
    result = RESULTS[name]()
    tables = released_tables(result.document)
    questions = drawn(result, count)
    found = asked(page, result, questions)
    answered = 0
    for question, one in zip(questions, found, strict=True):
        if "refused" in one:
            sides = zip(SIDES, question[1:], strict=True)
            trees = tables[question[0]]
            assert any(must_be_refused(trees.tree(side), ends) for side, ends in sides)
            continue
        assert_same_union(tables, question, one)
        expected = answer_of(result, one["left"], one["right"], question[0])
        assert (one["left"], one["right"]) == (expected.left, expected.right)
        assert_same_numbers(one, expected)
        answered += 1
    assert answered > count / 2


@pytest.mark.parametrize("name", [name for name in RESULTS if not name.startswith("confirm")])
def test_unions_are_worded_as_the_simplifier_words_them(name: str, page: Any) -> None:
    result = RESULTS[name]()
    tables = released_tables(result.document)
    questions = drawn(result, 60)
    compared = 0
    for question, one in zip(questions, asked(page, result, questions), strict=True):
        for side, ends in zip(SIDES, question[1:], strict=True):
            tree = tables[question[0]].tree(side)
            wanted = worded_union(tree, ends)
            if "refused" not in one and wanted is not None:
                assert one[side] == to_text(wanted)
                compared += 1
    assert compared >= 10


WORD = """([tree, unions]) => {
  const table = answersModule.prepare({left: tree, right: tree});
  return unions.map((ends) => answersModule.wording(table, "left", ends));
}"""


@settings(max_examples=75)
@given(
    case=given_cases(), counted=st.sampled_from(["stuck", "as false"]), seed=st.integers(0, 2**20)
)
def test_unions_of_any_tree_are_worded_right(
    case: tuple[ReleasedTree, View, Query], counted: str, seed: int, page: Any
) -> None:
    tree = case[0]
    if counted == "as false":
        # Nobody is stuck where what is unknown counts as false.
        tree = replace(tree, tree=replace(tree.tree, stuck=()), unknown_is_false=True)
    there, ends, chance = reachable(tree), range(len(tree.tree.ends)), random.Random(seed)
    unions = [[end for end in ends if chance.random() < 0.5] for _ in range(10)]
    plain = json.loads(json.dumps(page_tree(tree)))
    texts = page.evaluate(WORD, [plain, unions])
    for chosen, text in zip(unions, texts, strict=True):
        if text is None:
            assert must_be_refused(tree, chosen)
            continue
        known = coverage(parse_text(text), tree)
        assert known.is_released
        assert known.covered[there].tolist() == np.isin(ends, chosen)[there].tolist()


@pytest.mark.parametrize("name", ["twin, depth 2", "twin, depth 3", "least squares", "with δ"])
def test_listed_unions_are_worded_as_in_the_list(name: str, page: Any) -> None:
    result = RESULTS[name]()
    sources = [one.source for one in result]
    questions = [(one.tree_pair, list(one.left_ends), list(one.right_ends)) for one in sources]
    same = [
        one[side] == getattr(listed, side).text
        for listed, one in zip(result, asked(page, result, questions), strict=True)
        for side in SIDES
    ]
    assert len(same) > 5
    assert all(same)


def with_cells(kind: str, scale: float, seed: int) -> Result:
    """Return a result whose leaf tables have other counts, without any meaning."""
    chance = np.random.default_rng(seed)
    base = RESULTS[kind]().document

    def around(shape: tuple[int, ...]) -> Any:
        return np.rint(chance.normal(scale / 3, scale, shape)).astype(int)

    pairs = []
    for pair in base.tree_pairs:
        part = pair.leaf_table
        cells = around((len(pair.left.ends), len(pair.right.ends)))
        changes: Json = {"cells": cells.tolist()}
        if part.left_margin is not None:
            changes["left_margin"] = tuple((cells.sum(axis=1) + around((len(cells),))).tolist())
        if part.right_margin is not None:
            off = around((cells.shape[1],))
            changes["right_margin"] = tuple((cells.sum(axis=0) + off).tolist())
        table = part.model_copy(update=changes)
        pairs.append(pair.model_copy(update={"leaf_table": table}))
    return Result(base.model_copy(update={"tree_pairs": tuple(pairs)}))


@pytest.mark.parametrize("count", few_or(20, 60))
@pytest.mark.parametrize("scale", [0, 1, 50, 1e4, 1e7])
@pytest.mark.parametrize("kind", ["twin, depth 2", "least squares", "two passes", "published"])
def test_extreme_tables_are_answered_alike(kind: str, scale: float, count: int, page: Any) -> None:
    result = with_cells(kind, scale, seed=int(scale))
    questions = drawn(result, count)
    for question, one in zip(questions, asked(page, result, questions), strict=True):
        if "refused" not in one:
            expected = answer_of(result, one["left"], one["right"], question[0])
            assert_same_numbers(one, expected)


COUNT = "(supports) => supports.map(countsModule.printedCounts)"


def test_counts_are_rounded_as_in_the_cards(page: Any) -> None:
    page.add_script_tag(content=script("counts"))
    result = with_cells("twin, depth 2", 50, seed=5)
    found = asked(page, result, drawn(result, 200))
    parts = [SupportPart.model_validate(one["support"]) for one in found if "refused" not in one]
    assert len(parts) > 100
    printed = page.evaluate(COUNT, [part.model_dump() for part in parts])
    wanted = [Counts.of(part) for part in parts]
    assert any(one.adjusted for one in wanted)
    assert [
        (one["onlyLeft"], one["both"], one["onlyRight"], one["left"], one["right"], one["adjusted"])
        for one in printed
    ] == [
        (one.only_left, one.both, one.only_right, one.left, one.right, one.adjusted)
        for one in wanted
    ]


def test_nothing_chosen_is_refused_with_a_remedy(page: Any) -> None:
    result = Result(document(redescription()))
    found = asked(page, result, [(0, [], [0]), (0, [0], []), (0, [0], [0])])
    assert [one.get("refused") for one in found] == [
        "choose a leaf on the left that some values can reach",
        "choose a leaf on the right that some values can reach",
        None,
    ]
