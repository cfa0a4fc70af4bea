"""Questions that follow on one another: describe, refine and confirm."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.budget.ledger import Ledger
from redveil.data.synthetic import CLINIC_ID, clinic_frames, clinic_schema, wide_dataset
from redveil.errors import InputError, PlanError
from redveil.losses.loss import Loss, total
from redveil.query.formula import attributes, literal_count
from redveil.query.json_form import from_json
from redveil.query.text import parse_text
from redveil.report.document import QueryPart
from redveil.report.released import earlier_choices, released_splits
from redveil.schema import Side
from support.clinic import NOTHING, clinic, mined_clinic
from support.results import query_part


def nested(levels: int) -> str:
    """Return a query of some levels."""
    text = "[gout]"
    for level in range(levels - 1):
        text = f"([asthma] & {text})" if level % 2 else f"([obesity] | {text})"
    return text


def long(literals: int) -> str:
    """Return a query of some literals."""
    return " | ".join(["[gout]"] * literals)


@pytest.mark.parametrize(
    ("query", "given", "other"),
    [
        ("[gout]", "left", "right"),
        ("[gout] & [age > 50] | [asthma]", "left", "right"),
        ("[uric acid > 7.3]", "right", "left"),
        ("right: [eGFR <= 60] & [creatinine > 1.2]", "right", "left"),
    ],
)
def test_a_query_is_described_by_queries_of_the_other_view(
    query: str, given: str, other: str
) -> None:
    result = clinic().describe(query, 20)
    asked = query.removeprefix("right: ")
    assert len(result) > 0
    for one in result:
        mine, theirs = getattr(one, given), getattr(one, other)
        assert set(attributes(parse_text(mine.text))) == set(attributes(parse_text(asked)))
        assert set(attributes(parse_text(theirs.text))) <= set(
            getattr(clinic().schema, other).names
        )
        assert result.ask(one.left.text, one.right.text).cost == 0
    part = result.certificate.given
    assert part is not None
    assert [one.text for one in part.queries] == [asked]
    assert f"given       {asked}" in str(result)


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("[gout]", "left"),
        # Most have none, and the description of its negation has the higher index.
        ("![gout]", "left"),
        ("[uric acid <= 7.3]", "right"),
    ],
)
def test_a_query_is_described_as_it_was_given(query: str, given: str) -> None:
    result = clinic().describe(query, 50, max_support=1.0)
    assert {getattr(one, given).text for one in result} == {query}
    again = redveil.Result.from_json(result.to_json().encode()).filter(min_jaccard=0.2)
    assert {getattr(one, given).text for one in again} == {query}


def test_where_only_the_negation_fits_it_is_described() -> None:
    # Nearly everybody is without gout: too many for the largest support.
    result = clinic().describe("![gout]", 50, max_support=0.5)
    assert {one.left.text for one in result} == {"[gout]"}


def test_the_most_accurate_answer_comes_first() -> None:
    result = clinic().describe("[chronic kidney disease]", 100)
    indices = [one.corrected.estimate for one in result]
    assert indices[0] == max(indices)


@pytest.mark.parametrize("query", ["[gout]", "[gout] & [age > 50]", "[uric acid > 7.3]"])
def test_descriptions_are_true_of_the_data(query: str) -> None:
    result = clinic().describe(query, 100, within="[age > 30]")
    compared = redveil.truth(result, clinic())
    assert len(compared) > 0
    for one in compared:
        assert one.true is not None
        assert one.jaccard.estimate == pytest.approx(one.true.jaccard, abs=0.01)
        assert one.support.left.estimate == pytest.approx(one.true.support.left, abs=5)
        assert one.support.right.estimate == pytest.approx(one.true.support.right, abs=5)


def test_the_given_query_can_be_asked_about_from_the_file(tmp_path: Path) -> None:
    query = "[gout] & [age > 50]"
    clinic().describe(query, 50).save(tmp_path / "result.json")
    read = redveil.Result.read(tmp_path / "result.json")
    found = read.leaves()[0]["right"][0]
    asked, negated = read.ask(query, found), read.ask(f"!({query})", found)
    lefts = asked.statistics.support_left.estimate + negated.statistics.support_left.estimate
    # Age is missing for some, who are in neither.
    assert lefts <= 2000 + 20
    with pytest.raises(InputError, match=r"left query: .* outside what was released"):
        read.ask("[gout]", found)


def test_a_description_is_charged_as_planned(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    result = redveil.describe(
        clinic(), "[gout]", "1/3", ledger=ledger, result_name="gout.json", within="[age > 30]"
    )
    assert total(step.price for step in result.certificate.steps) == Fraction(1, 3)
    (charge,) = Ledger(ledger).charges("clinic")
    assert charge.loss == Loss(Fraction(1, 3))
    assert (charge.paid_for.purpose, charge.paid_for.result) == ("describe", "gout.json")
    known = {"query": "[gout]", "within": "[age > 30]", "given_side": "left"}
    assert known.items() <= charge.paid_for.parameters.items()
    assert "depth" not in charge.paid_for.parameters


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"query": "[goat]"}, r"^query: no attribute goat; did you mean gout\?$"),
        ({"query": "[gout] & [eGFR > 50]"}, "^query: gout is an attribute of the left view"),
        ({"within": "[sox = F]"}, "^within: no attribute sox"),
        ({"query": "[gout] & ![gout]"}, "^query: true for no patient that the question is about"),
        (
            {"query": "[gout] | ![gout]"},
            "^query: true for every patient that the question is about",
        ),
        ({"within": "[gout]"}, "^query: true for every patient that .* by the schema alone; ask"),
        ({"within": ["[sex = male]", "![gout]"]}, "^query: true for no patient that the question"),
        ({"within": ["[sex = male]", "[sex = female]"]}, "^within: true for no patient, by the"),
        ({"query": nested(51)}, r"^query: the query nests deeper than 50 levels; flatten it$"),
        ({"query": long(101)}, r"^query: the query has more than 100 literals; shorten it$"),
        ({"within": nested(97)}, r"^within: the query nests deeper than 50 levels; flatten it$"),
        ({"within": [long(100)] * 5}, r"^within: the query has more than 400 literals"),
        ({"within": 5}, r"^within: give a query as text, as in \[age > 65\], or a list of them$"),
        ({"depth": 3}, "exactly, up to depth 2"),
        ({"trials": 0}, "trials must lie between"),
        ({"epsilon": 0}, "epsilon"),
        ({"min_jaccard": 2}, "min_jaccard"),
        ({"progress": 5}, r"^progress: give a function"),
        ({"ledger": 5}, r"^ledger: give the name of a file"),
    ],
)
def test_what_cannot_be_described_is_refused_before_anything_is_charged(
    given: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    usual: dict[str, Any] = {"query": "[gout]", "epsilon": 1, "ledger": ledger}
    with pytest.raises(InputError, match=problem):
        redveil.describe(clinic(), **(usual | given))
    assert not ledger.exists()


@pytest.mark.parametrize("query", [nested(50), "!(" * 49 + "[gout]" + ")" * 49, long(100)])
def test_what_is_made_of_the_longest_queries_is_read_again(query: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    anything: dict[str, Any] = {"max_p_value": 1, "min_jaccard": 0, "max_support": 1}

    def kept(result: redveil.Result) -> redveil.Result:
        result.save(path)
        read = redveil.Result.read(path)
        assert read == result
        return read

    kept(redveil.mine(clinic(), 5, within=[query, "[age > 30]"]))
    first = kept(redveil.describe(clinic(), query, 50, **anything))
    kept(redveil.confirm(kept(first.complement()), clinic(), 5))
    kept(redveil.refine(first, clinic(), 50, of=len(first), **anything))


@pytest.mark.slow
def test_a_query_of_a_result_leaves_room_for_what_is_made_of_it(tmp_path: Path) -> None:
    path, ledger = tmp_path / "result.json", tmp_path / "ledger.sqlite"

    def first(levels: int) -> redveil.Result:
        document = mined_clinic().document
        one = document.redescriptions[0].model_copy(
            update={"left": query_part(parse_text(nested(levels)))}
        )
        return redveil.Result(document.model_copy(update={"redescriptions": (one,)}))

    for question in (redveil.refine, redveil.confirm):
        question(first(80), clinic(), 50).save(path)
        redveil.Result.read(path)
        with pytest.raises(InputError, match="nests deeper than 80 levels"):
            question(first(81), clinic(), 50, ledger=ledger)
    assert not ledger.exists()


def test_several_trees_begin_with_different_attributes() -> None:
    result = redveil.describe(clinic(), "[gout]", 40, trials=3, depth=2)
    pairs = result.document.tree_pairs
    roots = [pair.right.splits[0] for pair in pairs]
    assert len({root["attribute"] for root in roots if root is not None}) == len(pairs) == 3


@pytest.fixture(scope="module")
def first() -> redveil.Result:
    result = redveil.mine(clinic(), 20, depth=1, trials=2)
    assert len(result) >= 2
    return result


@pytest.mark.parametrize("of", [1, 2])
def test_the_two_queries_of_a_redescription_are_the_roots(first: redveil.Result, of: int) -> None:
    refined = first.refine(clinic(), 20, of=of)
    old = first.redescriptions[of - 1]
    (pair,) = refined.document.tree_pairs
    assert (pair.left.splits[0], pair.right.splits[0]) == (old.left.tree, old.right.tree)
    assert refined.ask(old.left.text, old.right.text).statistics.jaccard.estimate == pytest.approx(
        old.jaccard.estimate, abs=0.02
    )
    given = refined.certificate.given
    assert given is not None
    assert [one.text for one in given.queries] == [old.left.text, old.right.text]
    assert {step.mechanism for step in refined.certificate.steps} == {"choose", "count"}
    # The size is known from before, so it is not bought again.
    assert "size" not in [step.kind for step in refined.certificate.steps]


def test_refinements_are_true_of_the_data(first: redveil.Result) -> None:
    compared = redveil.truth(first.refine(clinic(), 100, depth=3), clinic())
    assert len(compared) > 0
    for one in compared:
        assert one.true is not None
        assert one.jaccard.estimate == pytest.approx(one.true.jaccard, abs=0.01)
        assert one.support.both.estimate == pytest.approx(one.true.support.both, abs=10)


def test_a_refinement_can_be_refined(first: redveil.Result) -> None:
    deeper = first.refine(clinic(), 30)
    longest = max(range(len(deeper)), key=lambda i: len(deeper.redescriptions[i].left.text))
    again = deeper.refine(clinic(), 30, of=longest + 1)
    assert again.certificate.algorithm == "refine"
    compared = redveil.truth(again, clinic())
    for one in compared:
        assert one.true is not None
        assert one.support.left.estimate == pytest.approx(one.true.support.left, abs=15)


def test_a_refinement_that_is_listed_again_counts_earlier_choices(first: redveil.Result) -> None:
    refined = first.refine(clinic(), 20, depth=3)
    again = refined.filter()
    assert again.redescriptions == refined.redescriptions
    assert again.document.false_discoveries == refined.document.false_discoveries
    assert refined.document.certificate.given is not None
    # Of all that trees of these shapes offer, one pair of roots was chosen from many.
    assert earlier_choices(refined.document) > 4
    assert earlier_choices(first.document) == 0
    assert earlier_choices(clinic().describe("[gout]", 20).document) == 0


def test_a_description_can_be_listed_again() -> None:
    result = clinic().describe("[gout] & [age > 50]", 20)
    assert released_splits(result.document)[Side.LEFT] == 1
    assert result.filter().redescriptions == result.redescriptions
    assert result.filter().document.false_discoveries == result.document.false_discoveries
    short = result.filter(max_literals=2)
    assert len(short) > 0
    assert all(literal_count(parse_text(one.right.text)) <= 2 for one in short)
    compared = redveil.truth(result.complement(), clinic())
    for one in compared:
        assert one.true is not None
        assert one.support.left.estimate == pytest.approx(one.true.support.left, abs=25)


def test_whether_a_value_is_known_can_be_described() -> None:
    result = clinic().describe("[HbA1c is known]", 50, max_support=1)
    pair = result.document.tree_pairs[0]
    # It is always true or false, so that nobody is stuck.
    assert pair.right.stuck_at == ()
    assert result.filter().redescriptions == result.redescriptions


def test_what_may_not_be_matched_does_not_describe_a_query() -> None:
    schema = clinic().schema.replace(unmatched=[["gout", "uric acid"]])
    dataset = redveil.load(*clinic_frames(2000), schema)
    result = dataset.describe("[gout] & [age > 50]", 50, max_p_value=1, min_jaccard=0)
    trees = [
        from_json(one) for pair in result.document.tree_pairs for one in pair.right.splits if one
    ]
    assert trees
    assert "uric acid" not in {name for one in trees for name in attributes(one)}
    assert result.certificate.parameters["ignore"] == ("right:uric acid",)
    others = dataset.describe("[hepatitis]", 50).certificate.parameters
    assert "ignore" not in others


def test_what_may_not_be_matched_is_not_refined_together(tmp_path: Path) -> None:
    frames, ledger = clinic_frames(2000), tmp_path / "ledger.sqlite"
    first = redveil.mine(clinic(), 20, depth=1, trials=1)
    names = (attributes(parse_text(getattr(first.redescriptions[0], s).text))[0] for s in Side)
    forbidden = redveil.load(*frames, clinic().schema.replace(unmatched=[list(names)]))
    with pytest.raises(InputError, match=r"^of: the schema forbids to match left:"):
        first.refine(forbidden, 1, ledger=ledger)
    assert not ledger.exists()
    apart = redveil.load(*frames, clinic().schema.replace(unmatched=[["age", "eGFR"]]))
    for one in first.refine(apart, 50, depth=3, max_p_value=1, min_jaccard=0):
        left, right = (
            attributes(parse_text(one.left.text)),
            attributes(parse_text(one.right.text)),
        )
        assert not ("age" in left and "eGFR" in right)


def test_what_may_not_be_matched_is_not_confirmed(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    first = redveil.mine(clinic(), 20, depth=1, trials=1)
    last = first.redescriptions[-1]
    names = [attributes(parse_text(getattr(last, side).text))[0] for side in Side]
    schema = clinic().schema.replace(unmatched=[names])
    forbidden = redveil.load(*clinic_frames(1500), schema)
    with pytest.raises(InputError, match=r"^the list: the schema forbids to match left:"):
        redveil.confirm(first, forbidden, 1, ledger=ledger)
    assert not ledger.exists()


def test_a_refinement_is_about_the_same_part_and_charged(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    first = redveil.mine(clinic(), 20, depth=1, trials=1, within="[age > 30]")
    refined = redveil.refine(first, clinic(), "1/2", ledger=ledger)
    assert refined.certificate.within == first.certificate.within
    (charge,) = Ledger(ledger).charges("clinic")
    assert charge.paid_for.purpose == "refine"
    known = {
        "left": first.redescriptions[0].left.text,
        "right": first.redescriptions[0].right.text,
        "within": "[age > 30]",
        "depth": 2,
    }
    assert known.items() <= charge.paid_for.parameters.items()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"of": 0}, r"^of: the result has no such redescription; use a number from 1 to "),
        ({"of": 99}, r"^of: the result has no such redescription"),
        ({"of": "first"}, r"^of: the result has no such redescription"),
        ({"depth": 1}, "depth must be 2 or more"),
        ({"result": "result.json"}, "give a result: read the file with redveil.Result.read"),
        ({"dataset": wide_dataset(50, 2, 2)}, r"^of: no attribute "),
        ({"progress": 5}, r"^progress: give a function"),
    ],
)
def test_what_cannot_be_refined_is_refused_before_anything_is_charged(
    given: dict[str, Any], problem: str, first: redveil.Result, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    usual: dict[str, Any] = {"result": first, "dataset": clinic(), "epsilon": 1, "ledger": ledger}
    with pytest.raises(InputError, match=problem):
        redveil.refine(**(usual | given))
    assert not ledger.exists()


def many(depth: int = 2) -> redveil.Result:
    """Return a list with queries of all shapes over attributes that may be missing."""
    document = mined_clinic(seed=3, algorithm="twin", depth=depth, trials=5).document
    # So few that at ε = 100 their tables have no noise.
    some = document.redescriptions[:: -(-len(document.redescriptions) // 24)]
    return redveil.Result(document.model_copy(update={"redescriptions": some}))


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_without_noise_a_confirmation_is_the_truth(depth: int) -> None:
    first = many(depth)
    cohort = clinic(1500)
    again = redveil.confirm(first, cohort, 100)
    compared = redveil.truth(again, cohort)
    assert len(compared) == len(first) >= (4 if depth > 1 else 1)
    for old, one in zip(first, compared, strict=True):
        assert one.true is not None
        assert (one.left, one.right) == (old.left, old.right)
        assert one.support.left.estimate == pytest.approx(one.true.support.left, abs=1e-6)
        assert one.support.right.estimate == pytest.approx(one.true.support.right, abs=1e-6)
        assert one.support.both.estimate == pytest.approx(one.true.support.both, abs=1e-6)
        assert one.jaccard.estimate == pytest.approx(one.true.jaccard, abs=1e-9)


def test_differences_are_those_of_the_two_results() -> None:
    first = many()
    again = redveil.confirm(first, clinic(1500), 5)
    for old, one in zip(first, again, strict=True):
        before = one.before
        assert before is not None
        assert before.jaccard.estimate == pytest.approx(old.jaccard.estimate)
        change = one.jaccard.estimate - old.jaccard.estimate
        assert before.difference.estimate == pytest.approx(change)
        # All intervals hold together, so they are wider than those of either result alone.
        assert before.jaccard.low <= old.jaccard.low + 1e-9
        assert before.jaccard.high >= old.jaccard.high - 1e-9
        low, high = one.jaccard.low - before.jaccard.high, one.jaccard.high - before.jaccard.low
        assert (before.difference.low, before.difference.high) == pytest.approx((low, high))


def test_intervals_of_differences_hold_on_the_data() -> None:
    missed = 0
    for seed in range(1, 9):
        first = redveil.truth(mined_clinic(seed=seed), clinic())
        again = redveil.truth(redveil.confirm(first, clinic(1500), 1), clinic(1500))
        inside = []
        for old, one in zip(first, again, strict=True):
            assert one.before is not None
            assert one.true is not None
            assert old.true is not None
            change = one.true.jaccard - old.true.jaccard
            inside.append(one.before.difference.low <= change <= one.before.difference.high)
        missed += not all(inside)
    # They are conservative: even one miss of eight would have a chance of 5 % each, at most.
    assert missed <= 2


def test_a_confirmation_takes_no_more_tables_than_the_list_was_read_from() -> None:
    first = many()
    again = redveil.confirm(first, clinic(1500), 1)
    used = {one.source.tree_pair for one in first}
    per_table = -(-len(first) // 8) + len(used)
    assert len(again.certificate.steps) == len(again.document.tree_pairs) <= per_table
    assert {step.mechanism for step in again.certificate.steps} == {"count"}
    assert total(step.price for step in again.certificate.steps) == 1


def test_what_is_listed_can_be_asked_again(tmp_path: Path) -> None:
    redveil.confirm(many(), clinic(1500), 5).save(tmp_path / "again.json")
    again = redveil.Result.read(tmp_path / "again.json")
    for one in again:
        answer = again.ask(one.left.text, one.right.text)
        if answer.table == one.source.tree_pair:
            assert answer.statistics.jaccard.estimate == pytest.approx(one.jaccard.estimate)
    assert all(pair.left.unknown_is_false for pair in again.document.tree_pairs)


def test_a_confirmation_can_be_confirmed_and_refined() -> None:
    again = redveil.confirm(many(), clinic(1500), 20)
    third = redveil.confirm(again, clinic(1000), 100)
    compared = redveil.truth(third, clinic(1000))
    for one in compared:
        assert one.true is not None
        assert one.jaccard.estimate == pytest.approx(one.true.jaccard, abs=1e-9)
    assert again.refine(clinic(), 5, of=2).certificate.algorithm == "refine"


def test_a_p_value_is_multiplied_by_the_length_of_the_list() -> None:
    again = redveil.confirm(many(), clinic(1500), 3)
    known = again.document.false_discoveries
    assert known is not None
    expected = [one.p_value_confirming * len(again) <= 0.01 for one in again]
    assert [one.confirmed for one in again] == expected
    assert known.confirmed == sum(expected)
    assert known.bound == pytest.approx(min(1 - sum(expected) / len(again) + 0.02, 1))


def cohort(identifier: str | None) -> redveil.Dataset:
    """Return a clinic whose schema has some id."""
    return redveil.load(*clinic_frames(500), replace(clinic_schema(), id=identifier))


VOUCHED = "the patients are others than those that the list was found on, or nothing is confirmed"
SAME = "the same data set, by its id"
ANOTHER = "another data set, by its id"
PERHAPS = "perhaps the same data set, as an id is missing"


@pytest.mark.parametrize(
    ("identifier", "known", "unvouched"),
    [
        (CLINIC_ID, SAME, "possibly the same patients"),
        (None, PERHAPS, "possibly the same patients"),
        ("  ", PERHAPS, "possibly the same patients"),
        ("next year's", ANOTHER, "nobody vouches that its patients are others"),
    ],
)
def test_a_confirmation_says_what_is_known_of_its_entities(
    identifier: str | None, known: str, unvouched: str
) -> None:
    first = few_of(many())
    again = redveil.confirm(first, cohort(identifier), 1)
    vouched = redveil.confirm(first, cohort(identifier), 1, others=True)
    # Wherever lines are folded.
    assert f"measured on {known}; {unvouched} " in " ".join(str(again.certificate).split())
    assert f"measured on  {known}\n" in str(vouched.certificate)
    assert VOUCHED not in again.certificate.conditions
    assert VOUCHED in vouched.certificate.conditions
    assert "if these are other patients" in str(again)
    assert "if these are other patients" not in str(vouched)
    assert "measured on" not in str(first.certificate)


def test_the_data_of_every_earlier_result_counts() -> None:
    # Found on the clinic, measured elsewhere, and now on the clinic again.
    elsewhere = redveil.confirm(few_of(many()), cohort("elsewhere"), 1)
    again = redveil.confirm(elsewhere, cohort(CLINIC_ID), 1)
    assert SAME in str(again.certificate)
    assert ANOTHER in str(redveil.confirm(elsewhere, cohort("third"), 1).certificate)
    refined = redveil.refine(few_of(many()), cohort("elsewhere"), 1).certificate
    assert (refined.schema_id, refined.earlier) == ("elsewhere", (CLINIC_ID,))
    # An id that somebody took out is not another one.
    plain = many().document
    unknown = plain.certificate.model_copy(update={"schema_id": None})
    shortened = few_of(redveil.Result(plain.model_copy(update={"certificate": unknown})))
    assert PERHAPS in str(redveil.confirm(shortened, cohort("elsewhere"), 1).certificate)


def few_of(result: redveil.Result) -> redveil.Result:
    """Return the beginning of a list."""
    listed = result.document.redescriptions[:1]
    return redveil.Result(result.document.model_copy(update={"redescriptions": listed}))


def test_a_confirmation_is_sorted_and_cut_but_no_other_pair_is_sought_in_it() -> None:
    again = redveil.confirm(many(), clinic(1500), 5)
    known = again.document.false_discoveries
    assert known is not None
    few = again.sort("corrected").top(2)
    assert [one.corrected.estimate for one in few] == sorted(
        (one.corrected.estimate for one in again), reverse=True
    )[:2]
    assert all(one.before is not None for one in few)
    left = few.document.false_discoveries
    assert left is not None
    # The whole list was measured, however little of it is shown.
    assert left.comparable == known.comparable
    assert left.confirmed == sum(bool(one.confirmed) for one in few)
    assert "at no cost: sorted by corrected; the first 2" in str(few)
    for make in (again.filter, again.complement):
        with pytest.raises(InputError, match=r"^a confirmation measures a given list"):
            make()


def test_old_and_new_are_shown_and_exported() -> None:
    again = redveil.confirm(many(), clinic(1500), 5)
    assert "difference" in str(again)
    table = again.to_arrow().to_pydict()
    first = again.redescriptions[0].before
    assert first is not None
    assert table["jaccard_before"][0] == first.jaccard.estimate
    assert table["difference_low"][0] == first.difference.low
    assert "jaccard_before" not in many().to_arrow().column_names


def test_a_confirmation_is_charged_and_about_the_same_part(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    first = redveil.mine(clinic(), 20, depth=1, trials=1, within="[age > 30]")
    again = redveil.confirm(first, clinic(1500), "1/5", ledger=ledger)
    assert again.certificate.within == first.certificate.within
    (charge,) = Ledger(ledger).charges("clinic")
    assert (charge.paid_for.purpose, charge.loss) == ("confirm", Loss(Fraction(1, 5)))
    known = {"redescriptions": len(first), "within": "[age > 30]"}
    assert known.items() <= charge.paid_for.parameters.items()


def test_what_cannot_be_confirmed_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    nothing = mined_clinic(NOTHING)
    with pytest.raises(InputError, match="lists no redescription, so there is nothing to confirm"):
        redveil.confirm(nothing, clinic(), 1, ledger=ledger)
    with pytest.raises(InputError, match=r"^the list: no attribute "):
        redveil.confirm(many(), wide_dataset(50, 2, 2), 1, ledger=ledger)
    with pytest.raises(InputError, match="read the file with"):
        redveil.confirm("result.json", clinic(), 1, ledger=ledger)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^progress: give a function"):
        redveil.confirm(many(), clinic(), 1, ledger=ledger, progress=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="others must be True or False"):
        redveil.confirm(many(), clinic(), 1, ledger=ledger, others="yes")  # type: ignore[arg-type]
    damaged = redveil.Result(many().document.model_copy(update={"tree_pairs": ()}))
    with pytest.raises(InputError, match=r"^redescriptions.0: its source is not in tree_pairs"):
        redveil.confirm(damaged, clinic(), 1, ledger=ledger)
    assert not ledger.exists()


def test_a_list_whose_queries_were_changed_is_measured_all_the_same() -> None:
    document = many().document
    # No entity satisfies these, so that no right query divides anything.
    never = tuple(
        one.model_copy(
            update={"right": QueryPart.of(parse_text(f"({one.right.text}) & !({one.right.text})"))}
        )
        for one in document.redescriptions
    )
    damaged = redveil.Result(document.model_copy(update={"redescriptions": never}))
    again = redveil.confirm(damaged, clinic(1500), 1)
    assert [one.right.text for one in again] == [one.right.text for one in damaged]


def follow_up(question: str, first: redveil.Result) -> redveil.Result:
    """Refine or confirm the beginning of a result's list."""
    few = first.redescriptions[:2]
    first = redveil.Result(first.document.model_copy(update={"redescriptions": few}))
    if question == "refine":
        return redveil.refine(first, clinic(), 1)
    return redveil.confirm(first, clinic(1500), 1)


SHARED = "NOT MET: the queries come from a result whose promise is not met: "
UNMET: dict[str, tuple[Callable[[], redveil.Result], str, str]] = {
    "published": (
        lambda: mined_clinic(profile="published", trials=1),
        "as published; see known limits",
        "the published profile takes cut points and targets from the data and stops when the data "
        "says so",
    ),
    "draft": (
        lambda: mined_clinic(draft=True),
        "exact",
        "the schema is a draft whose bounds or categories were taken from the data",
    ),
    "true values": (
        lambda: redveil.truth(mined_clinic(), clinic()),
        "exact",
        "it has true values, or is marked as not private",
    ),
}


@pytest.mark.parametrize("question", ["refine", "confirm"])
@pytest.mark.parametrize("name", UNMET)
def test_what_a_result_does_not_promise_no_later_one_does(
    name: str, question: str, tmp_path: Path
) -> None:
    make, guarantee, reason = UNMET[name]
    second = follow_up(question, make())
    # Two steps away it is said once, and in the same words.
    for made in (second, follow_up("confirm", follow_up("confirm", second))):
        made.save(tmp_path / "result.json")
        read = redveil.Result.read(tmp_path / "result.json")
        assert read.certificate.unmet == (SHARED + reason,)
        assert (read.certificate.profile, read.certificate.guarantee) == ("hardened", guarantee)
        assert "NOT MET" in str(read)
        assert SHARED in read._repr_html_()


@pytest.mark.parametrize("question", ["refine", "confirm"])
def test_a_follow_up_is_asymptotic_if_what_it_follows_is(question: str) -> None:
    first = mined_clinic(algorithm="tree-pair", walk_steps=50)
    certificate = follow_up(question, first).certificate
    assert certificate.guarantee == "asymptotic"
    assert certificate.unmet == ()
    said = "the queries come from a result whose guarantee is asymptotic"
    assert certificate.conditions.count(said) == 1
    kept = follow_up(question, mined_clinic()).certificate
    assert (kept.guarantee, kept.unmet) == ("exact", ())
    assert said not in kept.conditions


@pytest.mark.parametrize(("name", "reason"), [("published", "guarantee"), ("draft", "schema")])
def test_a_certificate_without_its_conditions_promises_no_more(name: str, reason: str) -> None:
    first = UNMET[name][0]().document
    bare = first.certificate.model_copy(update={"conditions": ()})
    shortened = redveil.Result(first.model_copy(update={"certificate": bare}))
    (unmet,) = follow_up("confirm", shortened).certificate.unmet
    assert unmet.startswith(f"{SHARED}its {reason} is ")


@pytest.mark.parametrize("question", ["describe", "refine", "confirm"])
def test_a_question_that_fails_stays_charged(
    question: str, first: redveil.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "ledger.sqlite"

    def fails(*_: object) -> None:
        raise PlanError("out of order")

    monkeypatch.setattr("redveil.mining.run", fails)
    questions: dict[str, Callable[..., redveil.Result]] = {
        "describe": partial(redveil.describe, clinic(), "[gout]"),
        "refine": partial(redveil.refine, first, clinic()),
        "confirm": partial(redveil.confirm, first, clinic()),
    }
    with pytest.raises(PlanError):
        questions[question]("1/3", ledger=ledger)
    assert Ledger(ledger).spent("clinic") == Loss(Fraction(1, 3))


@pytest.mark.parametrize(
    ("method", "function"),
    [
        (redveil.Dataset.describe, redveil.describe),
        (redveil.Result.refine, redveil.refine),
    ],
)
def test_methods_take_what_the_functions_take(method: Any, function: Any) -> None:
    of_method, of_function = (inspect.signature(one).parameters for one in (method, function))
    by_name = {name: one for name, one in of_function.items() if one.kind is one.KEYWORD_ONLY}
    assert {n: p for n, p in of_method.items() if p.kind is p.KEYWORD_ONLY} == by_name
