from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import redveil
from redveil.algorithms.catalogue import make_algorithm
from redveil.budget.ledger import Ledger
from redveil.data.synthetic import clinic_frames, clinic_schema, wide_dataset, write_clinic
from redveil.errors import InputError, LedgerWarning, OverBudgetError, PlanError
from redveil.losses.concentrated import keeps
from redveil.losses.loss import Loss, Rho, total
from redveil.schema import Attribute, Kind, Schema, View
from support.clinic import clinic


def test_paths_and_frames_load_alike(tmp_path: Path) -> None:
    left, right, schema = write_clinic(tmp_path, 80)
    by_path = redveil.load(left, right, schema)
    assert by_path.schema == redveil.load(str(left), str(right), clinic_schema()).schema
    assert repr(by_path) == "<Dataset clinic: 18 left and 14 right attributes>"


def test_a_run_spends_exactly_what_its_plan_says() -> None:
    wanted: dict[str, Any] = {"algorithm": "alt-expm", "depth": 1, "trials": 2, "alternations": 1}
    planned = redveil.plan("1/3", **wanted)
    result = redveil.mine(clinic(), "1/3", **wanted)
    spent = [(s.name, s.mechanism, s.price) for s in result.certificate.steps]
    assert spent == [(s.name, s.mechanism, s.price) for s in planned.steps]
    assert total(price for _, _, price in spent) == planned.price == Fraction(1, 3)


def test_plan_and_mine_have_the_same_defaults() -> None:
    promise = redveil.mine(clinic(), epsilon=1).certificate
    planned = redveil.plan(1, entities=2000, schema=clinic_schema())
    # Size and scout; what comes after them depends on what the scout finds.
    assert promise.steps[3].name.startswith("trial 2, twin trees")
    before = [(s.name, s.mechanism) for s in planned.steps[:3]]
    assert [(s.name, s.mechanism) for s in promise.steps[:3]] == before
    # The scout's price follows from a noisy size.
    assert promise.steps[0].price == planned.steps[0].price
    assert promise.algorithm == make_algorithm().name == "twin"
    assert promise.guarantee == "exact"
    assert promise.parameters["auto"] == "depth, trials"


@pytest.mark.parametrize(
    ("written", "meant"), [(0.1, "1/10"), (1, "1"), ("0.25", "1/4"), (Fraction(2, 3), "2/3")]
)
def test_epsilon_means_the_number_that_was_written(
    written: float | str | Fraction, meant: str
) -> None:
    result = redveil.mine(clinic(), written, depth=1)
    assert result.certificate.epsilon == meant


def test_progress_rises_to_one() -> None:
    seen: list[float] = []
    wanted: dict[str, Any] = {"algorithm": "alt-expm", "depth": 1, "trials": 2, "alternations": 1}
    redveil.mine(clinic(), 1, progress=seen.append, **wanted)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    # A start, two trees and a table in each trial.
    assert len(seen) == 8


def test_constraints_are_kept_and_recorded() -> None:
    limits: dict[str, Any] = {"max_p_value": 0.001, "min_jaccard": 0.3, "min_support": 50}
    limits |= {"max_support": 0.75, "max_disjuncts": 2}
    result = redveil.mine(clinic(), 10, **limits)
    assert limits.items() <= result.certificate.parameters.items()
    for one in result:
        assert one.p_value <= 0.001
        # What is claimed is judged at the worst end of the noise, taste at the estimates.
        assert one.jaccard.estimate >= 0.3
        assert one.support.both.estimate >= 50


@pytest.mark.parametrize(("profile", "disjuncts"), [("hardened", 3), ("published", 4)])
def test_limits_that_are_not_given_are_the_profile_s(profile: Any, disjuncts: int) -> None:
    result = redveil.mine(clinic(), 1, profile=profile, depth=1, min_jaccard=0.5)
    known = result.certificate.parameters
    assert (known["min_jaccard"], known["max_disjuncts"]) == (0.5, disjuncts)


def test_what_is_confirmed_comes_first_and_without_true_values() -> None:
    result = redveil.mine(clinic(), 50, trials=3)
    assert len(result) > 0
    confirmed = [one.confirmed for one in result]
    assert confirmed == sorted(confirmed, key=lambda known: not known)
    assert confirmed[0] is True
    known = result.document.false_discoveries
    assert known is not None
    assert known.confirmed == sum(map(bool, confirmed))
    assert all(one.true is None for one in result)
    assert result.document.warning is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: redveil.plan(0), "epsilon must be a number"),
        (lambda: redveil.plan("nan"), "epsilon must be a number"),
        (lambda: redveil.plan(float("inf")), "epsilon must be a number"),
        (lambda: redveil.plan(1, algorithm="magic"), "unknown algorithm; use one of twin"),  # type: ignore[arg-type]
        (lambda: redveil.plan(1, depth=0), "depth must lie"),
        (lambda: redveil.plan(1, depth=1.5), "depth must be a whole number"),  # type: ignore[arg-type]
        (lambda: redveil.plan(1, walk_steps=100), "walk_steps does nothing for twin"),
        (lambda: redveil.plan(1, profile="magic"), "unknown profile; use one of hardened"),  # type: ignore[arg-type]
        (lambda: redveil.plan(1, trials=0), "trials must lie"),
        (lambda: redveil.plan(1, algorithm="alt-expm", alternations=1001), "alternations must lie"),
        (lambda: redveil.mine(clinic(), -1), "epsilon must be a number"),
        (lambda: redveil.mine(clinic(), 1, depth=7), "depth must lie"),
        (lambda: redveil.mine(clinic(), 1, algorithm=""), "unknown algorithm"),  # type: ignore[arg-type]
        (lambda: redveil.mine(clinic(), 1, prune="some"), "prune must be a number"),
        (lambda: redveil.mine(pl.DataFrame({"id": [1]}), 1), "mine takes what redveil.load"),  # type: ignore[arg-type]
        (lambda: redveil.mine("clinic.csv", 1), "mine takes what redveil.load returns"),  # type: ignore[arg-type]
        (lambda: redveil.load_report("clinic.csv"), "load_report takes what redveil.load returns"),  # type: ignore[arg-type]
        (lambda: redveil.truth("result.json", clinic()), "truth takes a result and what"),  # type: ignore[arg-type]
        (lambda: redveil.mine(clinic(), 1, result_name=5), "result_name must be a text"),  # type: ignore[arg-type]
        (lambda: redveil.mine(clinic(), 1, max_p_value=-1), "max_p_value must lie"),
        (lambda: redveil.mine(clinic(), 1, min_support=-1), "min_support must not"),
        (lambda: redveil.plan(1, max_disjuncts=0), "max_disjuncts must lie"),
        (lambda: redveil.mine(clinic(), 1, max_support=0), "max_support must be above 0"),
        (lambda: redveil.plan(1, max_support=2), "max_support must lie"),
        (lambda: redveil.plan(1, prune="some"), "prune must be a number"),
        (lambda: redveil.plan(1, variance_threshold=0.1), "variance_threshold does nothing for"),
        (lambda: redveil.load("no.csv", "no.csv", "no.json"), "no such file"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_budget_binds_in_python_too(tmp_path: Path) -> None:
    data = wide_dataset(200, 3, 3)
    bound = replace(data, schema=replace(data.schema, budget=Fraction(3, 2), id="7e57"))
    with pytest.raises(InputError, match="ledger"):
        redveil.mine(bound, 1)
    ledger = tmp_path / "ledger.sqlite"
    redveil.mine(bound, 1, ledger=ledger)
    with pytest.raises(redveil.OverBudgetError, match="1/2 left"):
        redveil.mine(bound, 1, ledger=ledger)


@pytest.mark.parametrize("budget", [Fraction(1), None])
def test_a_ledger_needs_an_id_and_accepting_gives_one(
    tmp_path: Path, budget: Fraction | None
) -> None:
    """Without a budget, too: it may be declared later, when the data set has another name."""
    data, ledger = wide_dataset(200, 3, 3), tmp_path / "ledger.sqlite"
    nameless = replace(data.schema, budget=budget)
    for blank in (None, "", " "):
        schema = replace(nameless, id=blank)
        with pytest.raises(InputError, match="has no id, by which a ledger knows the data set;"):
            redveil.mine(replace(data, schema=schema), 1, ledger=ledger)
    assert not ledger.exists()
    accepted = nameless.accept()
    redveil.mine(replace(data, schema=accepted), 1, ledger=ledger)
    renamed = replace(accepted, name="renamed", budget=Fraction(1))
    with pytest.raises(OverBudgetError, match="0 left"):
        redveil.mine(replace(data, schema=renamed), 1, ledger=ledger)


def test_a_budget_of_delta_alone_is_refused(tmp_path: Path) -> None:
    data, ledger = wide_dataset(200, 3, 3), tmp_path / "ledger.sqlite"
    schema = replace(data.schema, budget_delta=Fraction(1, 10**6), id="7e57")
    for given in (None, ledger):
        with pytest.raises(InputError, match="a budget_delta without a budget; declare both"):
            redveil.mine(replace(data, schema=schema), 1, ledger=given)
    assert not ledger.exists()


def test_without_a_budget_a_ledger_that_is_given_records_the_run(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    redveil.mine(clinic(), 1)
    assert list(tmp_path.iterdir()) == []
    wanted: dict[str, Any] = {"algorithm": "alt-expm", "depth": 1, "alternations": 1}
    redveil.mine(clinic(), "1/3", ledger=ledger, result_name="table 2", **wanted)
    redveil.mine(clinic(), 1, ledger=ledger)
    first, second = Ledger(ledger).charges("clinic")
    assert (first.loss, first.identifier) == (Loss(Fraction(1, 3)), clinic().schema.id)
    assert (first.paid_for.purpose, first.paid_for.result) == ("mine", "table 2")
    assert first.paid_for.algorithm == "alt-expm"
    known = {"depth": 1, "alternations": 1, "profile": "hardened", "min_support": 10}
    assert known.items() <= first.paid_for.parameters.items()
    assert (second.paid_for.algorithm, second.paid_for.result) == ("twin", None)
    assert second.paid_for.parameters["auto"] == "depth, trials"
    # They follow from the noisy size, which nobody knows yet.
    assert not {"depth", "trials", "scout", "again"} & set(second.paid_for.parameters)


def test_a_run_that_fails_stays_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = wide_dataset(200, 3, 3)
    bound = replace(data, schema=replace(data.schema, budget=Fraction(1), id="7e57"))
    ledger = tmp_path / "ledger.sqlite"

    def fails(*_: object) -> None:
        raise PlanError("out of order")

    monkeypatch.setattr("redveil.mining.run", fails)
    with pytest.raises(PlanError):
        redveil.mine(bound, "1/3", ledger=ledger)
    assert Ledger(ledger).spent(data.schema.name) == Loss(Fraction(1, 3))


def test_a_delta_is_accounted_for_in_rho_and_the_result_can_be_asked(tmp_path: Path) -> None:
    result = redveil.mine(clinic(), 2, delta="1e-6", trials=2, depth=1)
    promise = result.certificate
    assert (promise.epsilon, promise.delta) == ("2", "1/1000000")
    assert promise.rho is not None
    assert keeps(Fraction(promise.rho), Fraction(2), Fraction(1, 10**6))
    assert total(step.price for step in promise.steps) == Rho(Fraction(promise.rho))
    assert [step.epsilon for step in promise.steps] == [None] * len(promise.steps)
    planned = redveil.plan(2, entities=2000, delta=1e-6, trials=2, depth=1)
    assert [(s.name, s.price) for s in promise.steps] == [(s.name, s.price) for s in planned.steps]
    assert "far below one over the number of entities" in promise.conditions[-1]
    result.save(tmp_path / "result.json")
    again = redveil.Result.read(tmp_path / "result.json")
    assert again == result
    one = again.redescriptions[0]
    answer = again.ask(one.left.text, one.right.text).statistics.jaccard
    assert answer.low <= one.jaccard.estimate <= answer.high


def test_a_delta_that_cannot_be_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    dataset = redveil.load(*clinic_frames(50), replace(clinic_schema(), budget=Fraction(1)))
    ledger = tmp_path / "ledger.sqlite"
    for wanted in ({"delta": 0.5}, {"delta": 1e-6, "profile": "published"}):
        with pytest.raises(InputError, match="delta"):
            redveil.mine(dataset, 1, ledger=ledger, **wanted)
    assert not ledger.exists()


def test_a_budget_for_delta_is_the_owners_to_give(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    schema = replace(clinic_schema(), budget=Fraction(3))
    frames = clinic_frames(200)
    with pytest.raises(OverBudgetError, match="0 left of the budget_delta of 0; spend less"):
        redveil.mine(redveil.load(*frames, schema), 1, delta=1e-6, ledger=ledger)
    generous = replace(schema, budget_delta=Fraction(2, 10**6))
    for _ in range(2):
        redveil.mine(redveil.load(*frames, generous), 1, delta=1e-6, ledger=ledger)
    with pytest.raises(OverBudgetError, match="budget_delta"):
        redveil.mine(redveil.load(*frames, generous), 1, delta=1e-6, ledger=ledger)
    assert Ledger(ledger).spent("clinic") == Loss(Fraction(2), Fraction(2, 10**6))
    redveil.mine(redveil.load(*frames, generous), 1, ledger=ledger)
    assert Ledger(ledger).spent("clinic") == Loss(Fraction(3), Fraction(2, 10**6))


@pytest.mark.parametrize("algorithm", ["twin", "alt-expm", "alt-mcmc", "tree-pair"])
def test_a_view_without_splits_is_refused_before_anything_is_charged(
    algorithm: Any, tmp_path: Path
) -> None:
    only = Attribute("ward", Kind.CATEGORICAL, categories=("north",))
    left, right = View("stays", "id", (only,)), View("tests", "id", (Attribute("x", Kind.BOOLEAN),))
    schema = Schema("wards", left, right, budget=Fraction(1))
    frames = pl.DataFrame({"id": [1], "ward": ["north"]}), pl.DataFrame({"id": [1], "x": [True]})
    dataset, ledger = redveil.load(*frames, schema), tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match="stays: no attribute can be split; declare cut points"):
        redveil.mine(dataset, 1, algorithm=algorithm, ledger=ledger)
    assert not ledger.exists()


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("opendp.measurements", "OpenDP"),
        ("cryptography.hazmat.primitives.ciphers", "cryptography"),
    ],
)
def test_without_a_library_that_draws_nothing_is_charged(
    module: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = redveil.load(*clinic_frames(50), replace(clinic_schema(), budget=Fraction(1)))
    ledger = tmp_path / "ledger.sqlite"
    # As if it were not installed.
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"{library} cannot draw random numbers"):
        redveil.mine(dataset, 1, ledger=ledger)
    assert not ledger.exists()


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"algorithm": "alt-expm"},
        {"algorithm": "alt-mcmc", "sampler": "walk", "walk_steps": 200},
        {"algorithm": "tree-pair", "walk_steps": 200},
        {"algorithm": "tree-pair", "pair_score": "purity", "walk_steps": 200},
        {"profile": "published"},
        {"delta": "1e-6"},
    ],
)
def test_a_data_set_of_nobody_is_mined_like_any_other(
    rows: int, parameters: dict[str, Any]
) -> None:
    left, right = clinic_frames(3)
    data = redveil.load(left[:rows], right, clinic_schema(), few_in_common=True)
    result = redveil.mine(data, 1, **parameters)
    assert result.certificate.epsilon == "1"


def test_a_part_of_the_population_is_named_wherever_the_result_goes(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    within = ["[age > 60]", "![gout]", "[eGFR > 50]"]
    result = redveil.mine(clinic(), 20, within=within, ledger=ledger)
    part = result.certificate.within
    assert part is not None
    assert [one.text for one in part.queries] == ["[age > 60] & ![gout]", "[eGFR > 50]"]
    assert "[age > 60] & ![gout] and [eGFR > 50]" in str(result)
    charged = Ledger(ledger).charges("clinic")[0].paid_for.parameters
    assert charged["within"] == "[age > 60] & ![gout] and [eGFR > 50]"
    result.save(tmp_path / "result.json")
    read = redveil.Result.read(tmp_path / "result.json")
    assert read.certificate.within == part


def test_a_result_about_a_part_is_true_of_that_part() -> None:
    result = redveil.mine(clinic(), 100, within="[age > 60]")
    assert result.document.entities is not None
    inside = sum(age is not None and age > 60 for age in clinic_frames(2000)[0]["age"].to_pylist())
    assert result.document.entities.estimate == pytest.approx(inside, abs=5)
    compared = redveil.truth(result, clinic())
    assert len(compared) > 0
    for one in compared:
        assert one.true is not None
        # At this ε counts are one or two out; the smallest union here has 35 entities.
        assert one.jaccard.estimate == pytest.approx(one.true.jaccard, abs=0.1)
        assert one.support.both.estimate == pytest.approx(one.true.support.both, abs=5)


@pytest.mark.parametrize("within", ["[shoe size > 40]", "[gout] & [eGFR > 50]", "gout"])
def test_a_part_that_the_schema_does_not_allow_is_not_charged(within: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match=r"^within: "):
        redveil.mine(clinic(), 1, within=within, ledger=ledger)
    assert not ledger.exists()


def test_a_schema_made_in_python_with_half_a_character_is_not_charged(tmp_path: Path) -> None:
    schema = replace(clinic_schema(), unit="patient \ud83d")
    dataset = redveil.load(*clinic_frames(100), schema)
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match=r"schema, redveil.unit: half a character"):
        redveil.mine(dataset, epsilon=1, ledger=ledger)
    with pytest.raises(InputError, match="cannot be written; it contains half a character"):
        schema.save(tmp_path / "datapackage.json")
    assert list(tmp_path.iterdir()) == []


def test_a_result_can_be_named_by_its_path(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with pytest.warns(LedgerWarning):
        redveil.mine(clinic(), 1, ledger=ledger, result_name=Path("table 2"))  # type: ignore[arg-type]
    assert Ledger(ledger).charges("clinic", clinic().schema.id)[0].paid_for.result == "table 2"
