from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import binom

import redveil
from oracle.fisher import fisher_tail
from oracle.printed_query import Supports, read_rows, supports
from redveil import owner
from redveil.algorithms.twin import Twin
from redveil.data.draft import draft
from redveil.data.synthetic import clinic_frames, clinic_schema, write_clinic
from redveil.errors import ResultError
from redveil.findings.reporting import Reporting
from redveil.query.text import parse_text
from redveil.report.document import RedescriptionPart
from redveil.report.result import Result
from support.clinic import ANYTHING, ORDERS, clinic, mined, mined_clinic
from support.results import redescription_of

MAMMALS = Path(__file__).parents[3] / "shared" / "data" / "mammals"


def true_supports(one: RedescriptionPart) -> Supports:
    assert one.true is not None
    return Supports(**one.true.support.model_dump())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_true_values_agree_with_the_printed_queries_on_the_clinics_csv(
    seed: int, tmp_path: Path
) -> None:
    left, right, _ = write_clinic(tmp_path, 2000)
    compared = owner.truth(mined_clinic(seed=seed, algorithm="twin", depth=2, trials=4), clinic())
    lefts, rights = read_rows(left, "patient"), read_rows(right, "patient")
    assert len(compared) > 3
    for one in compared:
        assert one.true is not None
        found = supports(one.left.text, one.right.text, lefts, rights, ORDERS)
        assert true_supports(one) == found
        assert one.true.jaccard == pytest.approx(found.both / found.either)
        exact = float(fisher_tail(found.both, found.left, found.right, 2000))
        assert one.true.p_value == pytest.approx(exact, rel=1e-6, abs=1e-300)


def test_true_p_values_of_a_published_result_are_the_paper_s() -> None:
    published = mined_clinic(profile="published", depth=2)
    compared = owner.truth(published, clinic())
    assert len(compared) > 0
    for one in compared:
        found = true_supports(one)
        assert one.true is not None
        chance = found.left * found.right / 2000**2
        exact = binom.sf(found.both - 1, 2000, chance)
        assert one.true.p_value == pytest.approx(exact, rel=1e-6, abs=1e-300)


@pytest.mark.skipif(not MAMMALS.is_dir(), reason="the mammals data are not beside this repository")
def test_true_values_agree_with_the_printed_queries_on_mammals() -> None:
    left, right = MAMMALS / "left.csv", MAMMALS / "right.csv"
    dataset = redveil.load(left, right, draft(left, right).schema)
    found = mined(dataset, Twin(trials=3), Reporting(ANYTHING), Fraction(2), seed=5)
    compared = owner.truth(found, dataset)
    lefts, rights = read_rows(left, "id"), read_rows(right, "id")
    assert len(compared) > 3
    for one in compared:
        assert true_supports(one) == supports(one.left.text, one.right.text, lefts, rights)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[age > 50] & [smoking is known]", "[creatinine <= 1.2] & [eGFR is known]"),
        ("![smoking is known] | [gout]", "![proteinuria is known]"),
        ("!([gout] & [blood group is known])", "[proteinuria is known] & ![proteinuria]"),
    ],
)
def test_whether_a_value_is_known_is_told_from_the_data(
    left: str, right: str, tmp_path: Path
) -> None:
    result = mined_clinic()
    one = redescription_of(parse_text(left), parse_text(right))
    asked = Result(result.document.model_copy(update={"redescriptions": (one,)}))
    (answered,) = owner.truth(asked, clinic())
    paths = write_clinic(tmp_path, 2000)
    lefts, rights = (read_rows(path, "patient") for path in paths[:2])
    found = supports(left, right, lefts, rights)
    assert true_supports(answered) == found
    assert 0 < found.left < 2000
    assert 0 < found.right < 2000


def test_a_pair_of_queries_that_nobody_satisfies_has_jaccard_zero() -> None:
    left = pl.DataFrame({"patient": ["a", "b"], "sick": [False, False]})
    right = pl.DataFrame({"patient": ["a", "b"], "cough": [False, False]})
    schema = draft(left, right, key="patient").schema
    dataset = redveil.load(left, right, schema)
    result = mined_clinic()
    one = result.redescriptions[0]
    sick = one.left.model_copy(
        update={"text": "[sick]", "tree": {"attribute": "sick", "op": "=", "value": True}}
    )
    cough = one.right.model_copy(
        update={"text": "[cough]", "tree": {"attribute": "cough", "op": "=", "value": True}}
    )
    asked = result.document.model_copy(
        update={
            "redescriptions": (one.model_copy(update={"left": sick, "right": cough}),),
            "certificate": result.certificate.model_copy(update={"schema_digest": schema.digest}),
        }
    )
    (answered,) = owner.truth(Result(asked), dataset)
    assert answered.true is not None
    assert answered.true.jaccard == 0.0
    assert true_supports(answered) == Supports(0, 0, 0, 0)
    assert answered.true.p_value == 1.0


def test_only_the_truth_and_a_warning_are_added() -> None:
    result = mined_clinic()
    compared = owner.truth(result, clinic())
    assert compared.document.warning == owner.WARNING
    assert owner.WARNING.startswith("NOT PRIVATE")
    stripped = tuple(one.model_copy(update={"true": None}) for one in compared)
    update = {"redescriptions": stripped, "warning": None}
    assert compared.document.model_copy(update=update) == result.document
    assert result.document.warning is None
    assert all(one.true is None for one in result)


def test_another_schema_is_refused() -> None:
    schema = replace(clinic_schema(), name="another clinic")
    other = redveil.load(*clinic_frames(50), schema)
    with pytest.raises(ResultError, match="mined with another schema"):
        owner.truth(mined_clinic(), other)


def test_the_load_report_counts_what_both_files_have() -> None:
    left, right = clinic_frames(60)
    report = owner.load_report(redveil.load(left.slice(0, 50), right, clinic_schema()))
    assert (report.joined, report.left.only, report.right.only) == (50, 0, 10)
