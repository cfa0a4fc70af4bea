from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from redveil.budget import ledger as ledger_module
from redveil.budget.ledger import Ledger
from redveil.errors import InputError, OverBudgetError
from redveil.privacy.loss import Loss
from support.spending import REFUSED, WON, spend_and_die, spend_together

ONE = Fraction(1)


def rows(path: Path) -> list[tuple[str, str, str]]:
    """Read the charges without the package."""
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT dataset, epsilon, purpose FROM charges").fetchall()
    connection.close()
    return found


def test_nothing_is_spent_at_first(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "ledger.sqlite").spent("clinic").epsilon == 0


def test_thirds_add_up_to_exactly_one(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(3):
        ledger.charge("clinic", Loss(Fraction(1, 3)), "mine", Loss(ONE))
    assert ledger.spent("clinic").epsilon == ONE
    with pytest.raises(OverBudgetError):
        ledger.charge("clinic", Loss(Fraction(1, 10**6)), "mine", Loss(ONE))


@settings(max_examples=15)
@given(st.lists(st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6), max_size=4))
def test_sums_are_exact(prices: list[Fraction]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        for price in prices:
            ledger.charge("clinic", Loss(price), "mine", Loss(Fraction(1000)))
        assert ledger.spent("clinic").epsilon == sum(prices, Fraction(0))


def test_an_overdraft_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.charge("clinic", Loss(Fraction(3, 4)), "mine", Loss(ONE))
    with pytest.raises(OverBudgetError) as caught:
        ledger.charge("clinic", Loss(Fraction(1, 2)), "mine", Loss(ONE))
    assert "1/2 requested, 1/4 left of the budget of 1" in str(caught.value)
    assert rows(path) == [("clinic", "3/4", "mine")]
    ledger.charge("clinic", Loss(Fraction(1, 4)), "mine", Loss(ONE))
    assert ledger.spent("clinic").epsilon == ONE


def test_a_cap_that_was_lowered_below_what_is_spent_leaves_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), "mine", Loss(ONE))
    with pytest.raises(OverBudgetError, match="0 left of the budget of 1/2"):
        ledger.charge("clinic", Loss(Fraction(1, 4)), "mine", Loss(Fraction(1, 2)))


def test_data_sets_have_separate_budgets(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), "mine", Loss(ONE))
    ledger.charge("school", Loss(Fraction(1, 2)), "mine", Loss(ONE))
    assert ledger.spent("clinic").epsilon == ONE
    assert ledger.spent("school").epsilon == Fraction(1, 2)
    assert ledger.spent("Clinic").epsilon == 0


def test_charges_outlive_the_ledger_that_made_them(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(Fraction(1, 7)), "mine", Loss(ONE))
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 7)


def test_a_charge_says_when_to_the_second_and_no_finer(tmp_path: Path) -> None:
    """How long a run takes depends on the rows; the next charge would tell."""
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(ONE), "mine", Loss(ONE))
    with closing(sqlite3.connect(path)) as connection:
        ((made_at,),) = connection.execute("SELECT made_at FROM charges").fetchall()
    assert datetime.fromisoformat(made_at).isoformat(timespec="seconds") == made_at


@pytest.mark.parametrize("name", ["what?mode=memory", "a#b", "50%20off", "with space", ":memory:"])
def test_a_ledger_is_where_its_path_says(name: str, tmp_path: Path) -> None:
    Ledger(tmp_path / name).charge("clinic", Loss(ONE), "mine", Loss(ONE))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert rows(tmp_path / name) == [("clinic", "1", "mine")]


def test_of_processes_that_race_for_the_last_of_the_budget_one_wins(tmp_path: Path) -> None:
    path, racers = tmp_path / "ledger.sqlite", 3
    Ledger(path).charge("clinic", Loss(Fraction(2, 3)), "mine", Loss(ONE))
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(racers)
    processes = [
        context.Process(target=spend_together, args=(path, start, Fraction(1, 3), ONE))
        for _ in range(racers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    codes = Counter(process.exitcode for process in processes)
    assert codes == {WON: 1, REFUSED: racers - 1}
    assert Ledger(path).spent("clinic").epsilon == ONE
    assert len(rows(path)) == 2


def test_the_file_is_locked_before_what_was_spent_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race above may be won by luck; here another process comes at the worst moment."""
    path, read = tmp_path / "ledger.sqlite", ledger_module._total
    Ledger(path).charge("clinic", Loss(Fraction(2, 3)), "mine", Loss(ONE))

    def meanwhile(connection: Connection, dataset: str) -> Loss:
        spent = read(connection, dataset)
        another = sqlite3.connect(path, timeout=0)
        with closing(another), pytest.raises(sqlite3.OperationalError, match="locked"):
            another.execute("BEGIN IMMEDIATE")
        return spent

    monkeypatch.setattr(ledger_module, "_total", meanwhile)
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), "mine", Loss(ONE))
    assert len(rows(path)) == 2


def test_a_charge_survives_a_process_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    process = multiprocessing.get_context("spawn").Process(target=spend_and_die, args=(path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 3)


def _no_database(path: Path) -> None:
    path.write_text("this is not a database, and long enough to be sure of it " * 20)


def _a_folder(path: Path) -> None:
    path.mkdir()


def _another_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE charges (something TEXT)")
    connection.close()


def _no_amount(path: Path) -> None:
    Ledger(path).charge("clinic", Loss(ONE), "mine", Loss(ONE))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE charges SET epsilon = 'much'")
    connection.close()


def _division_by_zero(path: Path) -> None:
    Ledger(path).charge("clinic", Loss(ONE), "mine", Loss(ONE))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE charges SET epsilon = '1/0'")
    connection.close()


@pytest.mark.parametrize(
    "make", [_no_database, _a_folder, _another_table, _no_amount, _division_by_zero]
)
def test_an_unusable_file_is_named(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path)
    with pytest.raises(InputError, match=r"ledger\.sqlite: not a usable ledger"):
        Ledger(path).charge("clinic", Loss(ONE), "mine", Loss(Fraction(5)))
    with pytest.raises(InputError, match=r"ledger\.sqlite: not a usable ledger"):
        Ledger(path).spent("clinic")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a usable ledger"):
        Ledger(tmp_path / "nowhere" / "ledger.sqlite").spent("clinic")


def test_a_ledger_of_an_earlier_version_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE charges (number INTEGER PRIMARY KEY AUTOINCREMENT, dataset VARCHAR NOT "
            "NULL, epsilon VARCHAR NOT NULL, purpose VARCHAR NOT NULL, made_at VARCHAR NOT NULL)"
        )
        connection.execute("INSERT INTO charges VALUES (1, 'clinic', '2/3', 'mine', 'once')")
    connection.close()
    ledger = Ledger(path)
    assert ledger.spent("clinic") == Loss(Fraction(2, 3))
    ledger.charge("clinic", Loss(Fraction(1, 3)), "mine", Loss(ONE))
    with pytest.raises(OverBudgetError):
        ledger.charge("clinic", Loss(Fraction(1, 3)), "mine", Loss(ONE))
    assert ledger.spent("clinic") == Loss(ONE)


def test_delta_has_a_cap_of_its_own(tmp_path: Path) -> None:
    ledger, cap = Ledger(tmp_path / "ledger.sqlite"), Loss(Fraction(9), Fraction(1, 10**6))
    ledger.charge("clinic", Loss(ONE, Fraction(6, 10**7)), "mine", cap)
    with pytest.raises(OverBudgetError, match="left of the budget_delta of 1/1000000"):
        ledger.charge("clinic", Loss(ONE, Fraction(6, 10**7)), "mine", cap)
    # Pure runs do not need any of it, even where the cap was lowered since.
    ledger.charge("clinic", Loss(ONE), "mine", Loss(Fraction(9)))
    assert ledger.spent("clinic") == Loss(Fraction(2), Fraction(6, 10**7))
