"""Questions that follow on one another: describe, refine and confirm."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.budget.ledger import Ledger
from redveil.data.synthetic import wide_dataset
from redveil.errors import InputError
from redveil.privacy.loss import Loss, total
from redveil.query.formula import attributes
from redveil.query.text import parse_text
from support.clinic import clinic


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
        ({"depth": 3}, "exactly, up to depth 2"),
        ({"trials": 0}, "trials must lie between"),
        ({"epsilon": 0}, "epsilon"),
        ({"min_jaccard": 2}, "min_jaccard"),
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
    compared = redveil.truth(clinic().refine(first, 100, depth=3), clinic())
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


def test_earlier_choices_count_as_comparable_pairs(first: redveil.Result) -> None:
    old, new = first.document, first.refine(clinic(), 20, depth=2).document
    assert old.false_discoveries is not None
    assert new.false_discoveries is not None
    assert new.false_discoveries.comparable > old.false_discoveries.comparable + 3


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
