from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import redveil
from redveil.algorithms import cut_points
from redveil.budget.ledger import Ledger
from redveil.buying import buy_cuts, checked_count, chosen_columns
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.errors import InputError, OverBudgetError, PlanError
from redveil.schema import Attribute, Kind, Schema, Side
from redveil.version import software
from support.clinic import clinic

HEAVY = ("ferritin", "TSH", "NT-proBNP", "ALT", "CRP")


def cuts_of(schema: Schema, name: str) -> tuple[float, ...]:
    attributes = (*schema.left.attributes, *schema.right.attributes)
    return next(a.cuts for a in attributes if a.name == name)


def with_budget(budget: Fraction) -> redveil.Dataset:
    return redveil.load(*clinic_frames(200), replace(clinic_schema(), budget=budget))


@pytest.mark.parametrize("cuts", [np.int64(7), np.uint8(7), 7.0, "7"])
def test_the_number_of_cuts_may_be_any_whole_number(cuts: Any) -> None:
    assert checked_count(cuts) == 7


@pytest.mark.parametrize("cuts", [0, 255, 2.5, True, np.True_, None, "many"])
def test_other_numbers_of_cuts_are_refused(cuts: Any) -> None:
    with pytest.raises(InputError, match="cuts must be a whole number from 1 to 254"):
        checked_count(cuts)


def test_only_what_was_bought_changes_and_the_price_is_written_down() -> None:
    before = clinic().schema
    after = redveil.buy_cuts(clinic(), "1/3", ["CRP", "age"], cuts=7)
    (purchase,) = after.bought
    assert purchase.epsilon == Fraction(1, 3)
    assert (purchase.left, purchase.right) == (("age",), ("CRP",))
    assert purchase.software == software()
    for side in Side:
        for old, new in zip(before.view(side).attributes, after.view(side).attributes, strict=True):
            assert replace(new, cuts=old.cuts) == old
            if old.name not in ("CRP", "age"):
                assert new.cuts == old.cuts
    assert 1 <= len(cuts_of(after, "CRP")) <= 7
    assert cuts_of(after, "CRP") != cuts_of(before, "CRP")
    assert after.digest != before.digest


def test_heavy_tails_are_bought_for_unless_columns_are_named() -> None:
    chosen = chosen_columns(clinic_schema(), None, again=False)
    assert chosen[Side.LEFT] == ()
    assert tuple(a.name for a in chosen[Side.RIGHT]) == HEAVY
    assert buy_cuts(clinic(), 1).bought[0].right == HEAVY


def test_a_name_that_both_views_have_means_both() -> None:
    schema = clinic_schema()
    age = next(a for a in schema.left.attributes if a.name == "age")
    both = replace(schema, right=replace(schema.right, attributes=(*schema.right.attributes, age)))
    chosen = chosen_columns(both, "age", again=False)
    assert [len(chosen[side]) for side in Side] == [1, 1]


def test_the_schema_survives_saving_and_mining(tmp_path: Path) -> None:
    schema = buy_cuts(clinic(), 0.1, ["CRP"])
    schema = buy_cuts(replace(clinic(), schema=schema), "0.2", ["TSH", "ferritin"])
    schema.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == schema
    dataset = redveil.load(*clinic_frames(500), tmp_path / "datapackage.json")
    promise = redveil.mine(dataset, 1).certificate
    assert promise.schema_digest == schema.digest
    assert "add ε = 3/10, already spent on the cut points of 3 attributes" in promise.conditions
    assert promise.epsilon == "1"


def test_what_was_bought_is_skipped_unless_new_cut_points_are_meant(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    once = replace(clinic(), schema=buy_cuts(clinic(), "0.1", ["CRP"], ledger=ledger))
    more = buy_cuts(once, "0.1", ["TSH", "CRP"], ledger=ledger)
    assert [one.right for one in more.bought] == [("CRP",), ("TSH",)]
    assert cuts_of(more, "CRP") == cuts_of(once.schema, "CRP")
    heavy = buy_cuts(once, "0.1", ledger=ledger)
    assert heavy.bought[1].right == tuple(name for name in HEAVY if name != "CRP")
    assert Ledger(ledger).spent("clinic").epsilon == Fraction(3, 10)
    assert buy_cuts(once, "0.1", ["CRP"], ledger=ledger) == once.schema
    assert Ledger(ledger).spent("clinic").epsilon == Fraction(3, 10)
    twice = buy_cuts(once, "0.1", ["TSH", "CRP"], again=True)
    assert [one.right for one in twice.bought] == [("CRP",), ("TSH", "CRP")]


def test_bought_cuts_must_be_in_the_ledger_that_is_charged(tmp_path: Path) -> None:
    """Buying from one ledger and mining from another spent more than the budget."""
    first, other = tmp_path / "first.sqlite", tmp_path / "other.sqlite"
    dataset = with_budget(Fraction(1))
    schema = buy_cuts(dataset, "0.9", ["CRP"], ledger=first)
    bought = redveil.load(*clinic_frames(200), schema)
    with pytest.raises(InputError, match=r"bought for ε = 9/10 that are not in this ledger"):
        redveil.mine(bought, 1, ledger=other)
    with pytest.raises(InputError, match=r"not in this ledger"):
        buy_cuts(bought, "0.1", ["TSH"], ledger=other)
    assert not other.exists()
    with pytest.raises(OverBudgetError, match="1/10 left"):
        redveil.mine(bought, 1, ledger=first)
    redveil.mine(bought, "0.1", ledger=first)


@pytest.mark.parametrize(
    ("columns", "cuts", "epsilon", "message"),
    [
        (["nothing"], 15, 1, "nothing: no numeric attribute"),
        (["gout"], 15, 1, "gout: no numeric attribute"),
        ([], 15, 1, "no column to buy cut points for"),
        (["CRP"], 0, 1, "from 1 to 254"),
        (["CRP"], 255, 1, "from 1 to 254"),
        (["CRP"], True, 1, "from 1 to 254"),
        (["CRP"], 15, 0, "epsilon must be a number between"),
    ],
)
def test_what_cannot_be_bought_is_refused_before_anything_is_charged(
    columns: list[str], cuts: int, epsilon: float, message: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match=message):
        buy_cuts(with_budget(Fraction(3)), epsilon, columns, cuts=cuts, ledger=ledger)
    assert not ledger.exists()


def test_no_heavy_tail_is_nothing_to_buy() -> None:
    schema = clinic_schema()
    plain = (Attribute("sick", Kind.BOOLEAN),)
    bare = replace(schema, right=replace(schema.right, attributes=plain))
    with pytest.raises(InputError, match="no column to buy cut points for"):
        chosen_columns(bare, None, again=False)


def test_a_budget_is_charged_first_and_stays_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, path = with_budget(Fraction(1)), tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match="ledger="):
        buy_cuts(dataset, "1/3", ["CRP"])
    buy_cuts(dataset, "1/3", ["CRP"], ledger=path)
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 3)
    redveil.mine(dataset, "1/3", ledger=path)
    assert Ledger(path).spent("clinic").epsilon == Fraction(2, 3)

    def fails(*_: object) -> None:
        raise PlanError("out of order")

    monkeypatch.setattr(cut_points, "bought_cuts", fails)
    with pytest.raises(PlanError):
        buy_cuts(dataset, "1/3", ["CRP"], ledger=path)
    assert Ledger(path).spent("clinic").epsilon == 1
    with pytest.raises(OverBudgetError):
        buy_cuts(dataset, "1/3", ["CRP"], ledger=path)


def test_the_ledger_says_what_for(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "ledger.sqlite"
    dataset = with_budget(Fraction(1))
    buy_cuts(dataset, "1/3", ["CRP"], ledger=path, result_name="new.json")
    connection = sqlite3.connect(path)
    rows = connection.execute("select dataset, epsilon, purpose from charges").fetchall()
    connection.close()
    assert rows == [("clinic", "1/3", "buy-cuts")]
    (charge,) = Ledger(path).charges("clinic")
    assert charge.paid_for.result == "new.json"
    assert charge.paid_for.parameters == {"columns": {"left": [], "right": ["CRP"]}, "cuts": 15}


def test_the_descriptor_shows_no_more_than_names_and_money() -> None:
    described = json.loads(json.dumps(buy_cuts(clinic(), "0.1", ["CRP"]).to_dict()))
    assert described["redveil"]["bought"] == [
        {"epsilon": "1/10", "columns": {"left": [], "right": ["CRP"]}, "software": software()}
    ]
