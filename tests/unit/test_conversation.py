"""Questions that follow on one another: describe, refine and confirm."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.budget.ledger import Ledger
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
