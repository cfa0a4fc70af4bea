from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.data.synthetic import clinic_schema, wide_dataset, write_clinic
from redveil.errors import InputError
from redveil.mining.parameters import Parameters
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
    spent = [(s.name, s.mechanism, Fraction(s.epsilon)) for s in result.certificate.steps]
    assert spent == [(s.name, s.mechanism, s.epsilon) for s in planned.steps]
    assert sum(price for _, _, price in spent) == planned.epsilon == Fraction(1, 3)


def test_plan_and_mine_have_the_same_defaults() -> None:
    promise = redveil.mine(clinic(), epsilon=1).certificate
    planned = redveil.plan(1, entities=2000, schema=clinic_schema())
    assert [s.name for s in promise.steps] == [s.name for s in planned.steps]
    assert promise.algorithm == Parameters().algorithm == "twin"
    assert promise.guarantee == "exact"
    assert promise.parameters["auto"] == "depth, trials, root_score"


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
    assert len(seen) == 6


def test_constraints_are_kept_and_recorded() -> None:
    wanted = redveil.Constraints(max_p_value=0.001, min_jaccard=0.3, min_support=50)
    result = redveil.mine(clinic(), 10, constraints=wanted)
    assert result.certificate.parameters["min_jaccard"] == 0.3
    for one in result:
        assert one.p_value <= 0.001
        assert one.jaccard.low >= 0.3
        assert one.support.both.low >= 50


def test_results_come_best_first_and_without_true_values() -> None:
    result = redveil.mine(clinic(), 50, trials=3)
    assert len(result) > 0
    lows = [one.jaccard.low for one in result]
    assert lows[0] == max(lows)
    assert all(one.true is None for one in result)
    assert result.document.warning is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: redveil.plan(0), "epsilon must lie"),
        (lambda: redveil.plan("nan"), "epsilon must lie"),
        (lambda: redveil.plan(float("inf")), "epsilon must lie"),
        (lambda: redveil.plan(1, algorithm="magic"), "unknown algorithm; use one of twin"),
        (lambda: redveil.plan(1, depth=0), "depth must lie"),
        (lambda: redveil.plan(1, trials=0), "trials must lie"),
        (lambda: redveil.plan(1, algorithm="alt-expm", alternations=1001), "alternations must lie"),
        (lambda: redveil.mine(clinic(), -1), "epsilon must lie"),
        (lambda: redveil.mine(clinic(), 1, depth=7), "depth must lie"),
        (lambda: redveil.mine(clinic(), 1, algorithm=""), "unknown algorithm"),
        (lambda: redveil.Constraints(max_p_value=-1), "max_p_value must lie"),
        (lambda: redveil.Constraints(min_support=-1), "min_support must not"),
        (lambda: redveil.Constraints(max_disjuncts=0), "max_disjuncts must lie"),
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
    bound = replace(data, schema=replace(data.schema, budget=Fraction(3, 2)))
    with pytest.raises(InputError, match="ledger"):
        redveil.mine(bound, 1)
    ledger = tmp_path / "ledger.sqlite"
    redveil.mine(bound, 1, ledger=ledger)
    with pytest.raises(redveil.OverBudgetError, match="1/2 left"):
        redveil.mine(bound, 1, ledger=ledger)
