"""Steered runs from end to end: what is reported, certified and refused, by every algorithm."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import redveil
from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.steering import Steering
from redveil.budget.ledger import Ledger
from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError
from redveil.findings.reporting import Reporting
from redveil.findings.taste import Taste
from redveil.losses.loss import Loss
from redveil.mining import Mined, mine, report
from redveil.query.formula import attributes, literal_count
from redveil.report.nothing_found import REFUSED
from redveil.report.result import Result
from redveil.schema import Attribute, Kind, Schema, View
from support.clinic import ANYTHING, clinic
from support.seeded import SeededRandomness

CLINIC = clinic_schema()
RUNS: dict[str, dict[str, Any]] = {
    "twin": {"depth": 2, "trials": 2},
    "alt-expm": {"algorithm": "alt-expm", "depth": 2, "alternations": 2},
    "alt-mcmc": {"algorithm": "alt-mcmc", "depth": 2, "alternations": 2},
    "tree-pair": {"algorithm": "tree-pair", "depth": 2, "walk_steps": 2000},
    "published": {"algorithm": "alt-expm", "profile": "published", "depth": 2},
}
every_run = pytest.mark.parametrize("parameters", RUNS.values(), ids=RUNS)


def mined(
    parameters: dict[str, Any],
    *,
    taste: Taste | None = None,
    schema: Schema = CLINIC,
    **names: Any,
) -> Mined:
    """Mine with few constraints but those of taste."""
    plain = make_algorithm(**parameters)
    algorithm = replace(plain, steering=Steering.of(schema, **names))
    judged = algorithm.profile.reporting(ANYTHING, 0)
    reporting = replace(judged, taste=taste or Taste())
    dataset = clinic(1500).under(schema)
    return mine(dataset, algorithm, reporting, Loss(Fraction(4)), SeededRandomness, workers=1)


def both_sides(found: Mined) -> list[tuple[set[str], set[str]]]:
    reported = found.findings.redescriptions
    return [(set(attributes(one.left)), set(attributes(one.right))) for one in reported]


@every_run
def test_what_is_required_is_mentioned(parameters: dict[str, Any]) -> None:
    wanted = {"diabetes type 2", "chronic kidney disease", "age"}
    found = both_sides(mined(parameters, require=sorted(wanted)))
    assert all(left & wanted for left, _ in found)
    if parameters == RUNS["twin"]:
        assert found


@every_run
def test_groups_of_the_run_and_of_the_schema_are_not_matched(parameters: dict[str, Any]) -> None:
    sugar = {"diabetes type 2"}, {"fasting glucose", "HbA1c"}
    kidney = {"chronic kidney disease", "age"}, {"eGFR", "creatinine"}
    schema = CLINIC.replace(unmatched=[sorted(sugar[0] | sugar[1])])
    found = both_sides(mined(parameters, schema=schema, unmatched=[sorted(kidney[0] | kidney[1])]))
    for group in (sugar, kidney):
        assert not any(left & group[0] and right & group[1] for left, right in found)
    plain = both_sides(mined(parameters))
    assert plain
    if parameters == RUNS["twin"]:
        assert found
        assert any(left & sugar[0] and right & sugar[1] for left, right in plain)


@every_run
@pytest.mark.parametrize(
    "taste",
    [Taste(max_literals=1), Taste(max_literals=3), Taste(negation=False), Taste(disjunction=False)],
    ids=("one literal", "three literals", "no negation", "no disjunction"),
)
def test_queries_are_worded_as_wished(taste: Taste, parameters: dict[str, Any]) -> None:
    found = mined(parameters, taste=taste).findings.redescriptions
    assert all(taste.allows(one.left, one.right) for one in found)
    if taste.max_literals == 1:
        assert {literal_count(one.left) for one in found} <= {1}
    if parameters == RUNS["twin"]:
        assert found


def test_wording_is_judged_before_the_best_is_taken() -> None:
    """What grows beyond the wish is reported as it was before, not dropped."""
    deep, short = {"depth": 3, "trials": 1}, Taste(max_literals=2)
    plain, wished = mined(deep), mined(deep, taste=short)
    assert any(literal_count(one.left) > 2 for one in plain.findings.redescriptions)
    assert wished.findings.redescriptions
    # Trees and counts are the same: taste costs nothing, and changes nothing that is released.
    one, other = ([table.cells.tolist() for table in ran.run.tables] for ran in (plain, wished))
    assert one == other


def test_an_empty_list_says_that_nothing_is_to_the_users_taste() -> None:
    found = mined(RUNS["tree-pair"], require=["blood group"])
    asked = {name for left, _ in both_sides(mined(RUNS["tree-pair"])) for name in left}
    assert "blood group" not in asked
    assert found.findings.redescriptions == ()
    assert report(found).message == REFUSED


def test_a_certificate_names_what_was_asked_for(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    schema = CLINIC.replace(unmatched=[["gout", "uric acid"]])
    asked: dict[str, Any] = {
        "ignore": ["age"], "require": ["gout", "asthma"], "unmatched": [["asthma", "CRP"]],
    }  # fmt: skip
    words: dict[str, Any] = {"max_literals": 3, "negation": False, "disjunction": False}
    result = redveil.mine(clinic(500).under(schema), 1, ledger=ledger, **asked, **words)
    expected: dict[str, Any] = {
        "ignore": ("left:age",),
        "require": ("left:asthma", "left:gout"),
        "unmatched": (("left:gout", "right:uric acid"), ("left:asthma", "right:CRP")),
        **words,
    }
    parameters = result.certificate.parameters
    assert {name: parameters[name] for name in expected} == expected
    assert "only" not in parameters
    # The schema is the declared one, with all of its attributes.
    assert result.certificate.schema_digest == schema.digest
    assert "age" in {one.name for one in result.document.attributes.left}
    result.save(tmp_path / "result.json")
    again = Result.read(tmp_path / "result.json")
    assert again.certificate == result.certificate
    assert "leaves out left:age" in str(again)
    (charge,) = Ledger(ledger).charges(schema.name, schema.id)
    recorded = charge.paid_for.parameters
    assert recorded["ignore"] == ["left:age"]
    assert recorded["unmatched"][1] == ["left:asthma", "right:CRP"]


def test_what_is_refused_is_not_charged(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    for wish in ({"ignore": "agee"}, {"max_literals": 0}, {"only": "age", "ignore": "age"}):
        with pytest.raises(InputError):
            redveil.mine(clinic(500), 1, ledger=ledger, **wish)
    assert not ledger.exists()


def test_plan_and_mine_are_steered_alike() -> None:
    # So many entities that the noise of their number does not matter.
    wish: dict[str, Any] = {"only": ["age", "gout", "uric acid"]}
    planned = redveil.plan(8, entities=2000, schema=CLINIC, **wish)
    plain = redveil.plan(8, entities=2000, schema=CLINIC)
    # With one attribute on the right, the scout is followed by another choice.
    assert {step.key.trial for step in planned.steps} == {None, 1, 2}
    assert len({step.key.trial for step in plain.steps}) > 2
    spent = redveil.mine(clinic(2000), 8, **wish).certificate.steps
    assert [step.name for step in spent] == [step.name for step in planned.steps]
    assert planned.price == plain.price == 8


def test_a_question_about_what_was_left_out_is_still_understood() -> None:
    result = redveil.mine(clinic(500), 1, ignore="age", depth=1, trials=1)
    leaves = result.leaves()[0]
    assert result.ask(leaves["left"][0], leaves["right"][0]).cost == 0
    assert redveil.truth(result, clinic(500)).document.warning


def test_reporting_holds_what_a_user_wants() -> None:
    wished = Reporting(taste=Taste(max_literals=2))
    assert wished.public()["max_literals"] == 2
    assert "max_literals" not in Reporting().public()


def test_what_is_said_plainly_can_be_asked() -> None:
    """Of two categories the second has no split of its own; without negation it has a name."""
    women = [i % 3 != 0 for i in range(900)]
    keys = [f"k{i}" for i in range(900)]
    left = pl.DataFrame({"id": keys, "sex": ["f" if one else "m" for one in women]})
    right = pl.DataFrame({"id": keys, "beard": ["no" if one else "yes" for one in women]})
    schema = Schema(
        "beards",
        View("people", "id", (Attribute("sex", Kind.CATEGORICAL, categories=("f", "m")),)),
        View("faces", "id", (Attribute("beard", Kind.CATEGORICAL, categories=("no", "yes")),)),
    )
    result = redveil.mine(redveil.load(left, right, schema), 1, negation=False, max_support=0.5)
    (found,) = result
    assert (found.left.text, found.right.text) == ("[sex = m]", "[beard = yes]")
    answer = result.ask(found.left.text, found.right.text)
    assert answer.statistics.jaccard.estimate == pytest.approx(found.jaccard.estimate)
    (true,) = redveil.truth(result, redveil.load(left, right, schema))
    assert true.true is not None
    assert true.true.jaccard == 1
