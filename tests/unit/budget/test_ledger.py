from __future__ import annotations

import multiprocessing
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, tzinfo
from fractions import Fraction
from pathlib import Path
from threading import Barrier
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.budget import ledger as ledger_module
from redveil.budget.book import append, check_chain
from redveil.budget.charges import Charge, PaidFor
from redveil.budget.entry import Entry, NotAnEntryError
from redveil.budget.ledger import Ledger
from redveil.errors import InputError, LedgerWarning, OverBudgetError
from redveil.losses.loss import Loss
from redveil.schema.purchase import Purchase
from support.other_user import unobserved
from support.spending import (
    MINED,
    REFUSED,
    WON,
    die_within_a_charge,
    spend_and_die,
    spend_together,
)

ONE = Fraction(1)
BOUGHT = Purchase(Fraction(1, 10), right=("CRP",))


def rows(path: Path) -> list[tuple[str, str, str]]:
    """Read the charges without the package."""
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT dataset, epsilon, purpose FROM charges").fetchall()
    connection.close()
    return found


def test_nothing_is_spent_at_first(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "ledger.sqlite").spent("clinic").epsilon == 0


@pytest.mark.filterwarnings("ignore::redveil.errors.LedgerWarning")
def test_what_a_server_has_taken_over_is_charged_there_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), MINED, None, identifier="7e57")
    ledger.charge("school", Loss(ONE), MINED, None, identifier="5c00")
    (taken,) = ledger.take_over("clinic", "7e57", "server one")
    assert taken.loss == Loss(ONE)
    # By any of its names and ids, whatever the budget.
    for name, identifier in (("clinic", "7e57"), ("study", "7e57"), ("clinic", "other")):
        for act in (ledger.charge, ledger.check):
            for cap in (None, Loss(ONE * 9)):
                args = (MINED, cap) if act == ledger.charge else (cap,)
                with pytest.raises(InputError, match="whose ledger is server one, has taken over"):
                    act(name, Loss(ONE), *args, identifier=identifier)
    with pytest.raises(InputError, match="has taken over"):
        ledger.add_purchases("clinic", "7e57", [BOUGHT])
    # Whoever was interrupted goes on; another server does not sell the same budget again.
    assert ledger.take_over("clinic", "7e57", "server one") == (taken,)
    assert len(ledger.entries()) == 3
    with pytest.raises(InputError, match="whose ledger is server one, has taken over"):
        ledger.take_over("clinic", "7e57", "server two")
    assert ledger.take_over("clinic", "7e57", "server two", again=True) == (taken,)
    assert ledger.spent("clinic", "7e57") == Loss(ONE)
    # Others in the same ledger go on.
    ledger.charge("school", Loss(ONE), MINED, None, identifier="5c00")
    assert check_chain(ledger.entries()).number == 5


def test_no_ledger_is_made_to_take_over_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such ledger"):
        Ledger(tmp_path / "typo.sqlite").take_over("clinic", "7e57", "server")
    assert list(tmp_path.iterdir()) == []


def test_thirds_add_up_to_exactly_one(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(3):
        ledger.charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    assert ledger.spent("clinic").epsilon == ONE
    with pytest.raises(OverBudgetError):
        ledger.charge("clinic", Loss(Fraction(1, 10**6)), MINED, Loss(ONE))


@settings(max_examples=15)
@given(st.lists(st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6), max_size=4))
def test_sums_are_exact(prices: list[Fraction]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        for price in prices:
            ledger.charge("clinic", Loss(price), MINED, Loss(Fraction(1000)))
        assert ledger.spent("clinic").epsilon == sum(prices, Fraction(0))


def test_an_overdraft_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.charge("clinic", Loss(Fraction(3, 4)), MINED, Loss(ONE))
    with pytest.raises(OverBudgetError) as caught:
        ledger.charge("clinic", Loss(Fraction(1, 2)), MINED, Loss(ONE))
    assert "1/2 requested, 1/4 left of the budget of 1" in str(caught.value)
    assert rows(path) == [("clinic", "3/4", "mine")]
    ledger.charge("clinic", Loss(Fraction(1, 4)), MINED, Loss(ONE))
    assert ledger.spent("clinic").epsilon == ONE


def test_a_cap_that_was_lowered_below_what_is_spent_leaves_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), MINED, Loss(ONE))
    with pytest.raises(OverBudgetError, match="0 left of the budget of 1/2"):
        ledger.charge("clinic", Loss(Fraction(1, 4)), MINED, Loss(Fraction(1, 2)))


def test_data_sets_have_separate_budgets(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), MINED, Loss(ONE), identifier="7e57")
    ledger.charge("school", Loss(Fraction(1, 2)), MINED, Loss(ONE), identifier="5c00")
    assert ledger.spent("clinic").epsilon == ONE
    assert ledger.spent("school").epsilon == Fraction(1, 2)
    assert ledger.spent("Clinic").epsilon == 0


def test_charges_outlive_the_ledger_that_made_them(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(Fraction(1, 7)), MINED, Loss(ONE))
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 7)


def test_threads_of_a_session_cannot_spend_a_budget_twice(tmp_path: Path) -> None:
    ledger, start = Ledger(tmp_path / "ledger.sqlite"), Barrier(8)

    def spend(_: int) -> bool:
        start.wait()
        try:
            ledger.charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE), identifier="7e57")
        except OverBudgetError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(8))) == 3
    assert ledger.spent("clinic", "7e57").epsilon == 1


def test_a_clock_that_is_set_back_gives_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charges are in the order in which they were made, whatever the clock said."""
    ledger, times = Ledger(tmp_path / "ledger.sqlite"), [2030, 1970, 2026]

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(times.pop(0), 1, 1, tzinfo=tz)

    monkeypatch.setattr("redveil.budget.ledger.datetime", Clock)
    for name in ("clinic", "ward", "study"):
        ledger.charge(name, Loss(Fraction(1, 4)), MINED, Loss(ONE), identifier="7e57")
    assert [one.made_at[:4] for one in ledger.charges("clinic")] == ["2030", "1970", "2026"]
    assert ledger.data_sets() == (("study", "7e57"),)
    with pytest.raises(OverBudgetError, match="1/4 left"):
        ledger.charge("clinic", Loss(Fraction(1, 2)), MINED, Loss(ONE), identifier="7e57")


def test_a_charge_says_when_to_the_second_and_no_finer(tmp_path: Path) -> None:
    """How long a run takes depends on the rows; the next charge would tell."""
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(ONE))
    with closing(sqlite3.connect(path)) as connection:
        ((made_at,),) = connection.execute("SELECT made_at FROM charges").fetchall()
    assert datetime.fromisoformat(made_at).isoformat(timespec="seconds") == made_at


@pytest.mark.parametrize("name", ["what?mode=memory", "a#b", "50%20off", "with space", ":memory:"])
def test_a_ledger_is_where_its_path_says(name: str, tmp_path: Path) -> None:
    Ledger(tmp_path / name).charge("clinic", Loss(ONE), MINED, Loss(ONE))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert rows(tmp_path / name) == [("clinic", "1", "mine")]


@pytest.mark.parametrize("earlier", [0, 1])
def test_of_processes_that_race_for_the_last_of_the_budget_one_wins(
    earlier: int, tmp_path: Path
) -> None:
    path, racers = tmp_path / "ledger.sqlite", 3
    for _ in range(earlier):
        Ledger(path).charge("clinic", Loss(Fraction(2, 3)), MINED, Loss(ONE))
    price = Fraction(1, 3) if earlier else ONE
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(racers)
    processes = [
        context.Process(target=spend_together, args=(path, start, price, ONE))
        for _ in range(racers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    codes = Counter(process.exitcode for process in processes)
    assert codes == {WON: 1, REFUSED: racers - 1}
    assert Ledger(path).spent("clinic").epsilon == ONE
    assert len(rows(path)) == 1 + earlier


def test_the_file_is_locked_before_what_was_spent_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race above may be won by luck; here another process comes at the worst moment."""
    path, read = tmp_path / "ledger.sqlite", ledger_module._read
    Ledger(path).charge("clinic", Loss(Fraction(2, 3)), MINED, Loss(ONE))

    locked: list[bool] = []

    def meanwhile(connection: sqlite3.Connection) -> list[Charge]:
        known = read(connection)
        with closing(sqlite3.connect(path, timeout=0)) as another:
            try:
                another.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                assert "locked" in str(error)  # noqa: PT017
                locked.append(True)
            else:
                locked.append(False)
        return known

    monkeypatch.setattr(ledger_module, "_read", meanwhile)
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    # The first look is only to refuse early; what the second one reads decides.
    assert locked == [False, True]
    assert len(rows(path)) == 2


# Charges the rest of a budget, and does not wait for long.
ANOTHER = """
import sys
from fractions import Fraction
from redveil.budget import ledger
from redveil.budget.charges import PaidFor
from redveil.losses.loss import Loss
ledger._SECONDS_TO_WAIT = 0.2
one = Loss(Fraction(1))
try:
    ledger.Ledger(sys.argv[1]).charge("clinic", one, PaidFor("mine"), one)
except Exception as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="closing a file releases no locks there")
def test_a_thread_that_copies_the_ledger_does_not_unlock_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POSIX: a process that closes a file loses all its locks on it, SQLite's too."""
    path, read, said = tmp_path / "ledger.sqlite", ledger_module._read, list[str]()
    Ledger(path).charge("school", Loss(ONE), MINED, None, identifier="5c00")

    def meanwhile(connection: sqlite3.Connection) -> list[Charge]:
        known = read(connection)
        if connection.in_transaction:
            path.read_bytes()
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", ANOTHER, str(path)],
                capture_output=True,
                text=True,
                env=unobserved(),
                timeout=60,
                check=True,
            )
            said.append(done.stdout)
        return known

    monkeypatch.setattr(ledger_module, "_read", meanwhile)
    Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(ONE), identifier="7e57")
    assert len(said) == 1
    assert "another run is using it" in said[0]
    assert [row[0] for row in rows(path)] == ["school", "clinic"]


@pytest.mark.parametrize(
    "column",
    [
        pytest.param("note TEXT NOT NULL ON CONFLICT IGNORE", id="ignored"),
        pytest.param("note TEXT, CHECK (1)", id="harmless"),
    ],
)
def test_nothing_is_paid_for_by_a_charge_that_is_not_in_the_table(
    column: str, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(ONE), MINED, None)
    with closing(sqlite3.connect(path)) as connection:
        ((sql,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'charges'")
    charge = Charge("clinic", Loss(ONE), MINED, "2026-01-01T00:00:00+00:00")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"{sql.removesuffix(')')}, {column})")
        if "IGNORE" in column:
            with pytest.raises(NotAnEntryError, match="entry 1 was not written"):
                append(connection, Entry(charge))
        else:
            assert append(connection, Entry(charge)).number == 1


def test_a_charge_survives_a_process_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    process = multiprocessing.get_context("spawn").Process(target=spend_and_die, args=(path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 3)


def test_a_charge_that_was_cut_off_is_no_charge_and_the_ledger_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=die_within_a_charge, args=(path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert path.with_name("ledger.sqlite-journal").exists()
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 3)
    Ledger(path).charge("clinic", Loss(Fraction(2, 3)), MINED, Loss(ONE))
    assert len(rows(path)) == 2


def _no_database(path: Path) -> None:
    path.write_text("this is not a database, and long enough to be sure of it " * 20)


def _one_line(path: Path) -> None:
    path.write_text("\n")


def _another_program(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cookies (name TEXT)")
    connection.close()


def _another_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE charges (something TEXT)")
    connection.close()


def _altered(statement: str) -> Callable[[Path], None]:
    def alter(path: Path) -> None:
        Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(ONE))
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return alter


def _swallowing(column: str) -> Callable[[Path], None]:
    """Return what makes a ledger whose table has one more column."""

    def make(path: Path) -> None:
        Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(ONE))
        with sqlite3.connect(path) as connection:
            ((sql,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'charges'")
            connection.execute("ALTER TABLE charges RENAME TO earlier")
            connection.execute(f"{sql.removesuffix(')')}, {column})")
            names = ", ".join(row[1] for row in connection.execute("PRAGMA table_info(earlier)"))
            if "GENERATED" not in column:
                connection.execute(
                    f"INSERT INTO charges ({names}, note) SELECT {names}, '' FROM earlier"
                )
            connection.execute("DROP TABLE earlier")
        connection.close()

    return make


def _changed(what: str) -> Callable[[Path], None]:
    return _altered(f"UPDATE charges SET {what}")


def _bit_changed(path: Path) -> None:
    Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(ONE))
    # In the database's own table of contents, where Python expects UTF-8.
    path.write_bytes(path.read_bytes().replace(b"tablecharges", b"\xf4ablecharges", 1))


DAMAGE: dict[str, Callable[[Path], None]] = {
    "no database": _no_database,
    "one line": _one_line,
    "another program's": _another_program,
    "another table": _another_table,
    "a shared database": _altered("CREATE TABLE cookies (name TEXT)"),
    "a trigger": _altered(
        "CREATE TRIGGER back AFTER INSERT ON charges BEGIN DELETE FROM charges; END"
    ),
    "a column more": _swallowing("note TEXT NOT NULL ON CONFLICT IGNORE"),
    "a computed column": _swallowing(
        "note TEXT GENERATED ALWAYS AS (NULL) VIRTUAL NOT NULL ON CONFLICT IGNORE"
    ),
    "no amount": _changed("epsilon = 'much'"),
    "bytes": _changed("epsilon = x'00'"),
    "division by zero": _changed("epsilon = '1/0'"),
    "money back": _changed("epsilon = '-1'"),
    "huge": _changed("epsilon = '1e999999999'"),
    "negative δ": _changed("delta = '-1/2'"),
    "no parameters": _changed("parameters = '{'"),
    "a list": _changed("parameters = '[1]'"),
    "a name of bytes": _changed("dataset = CAST(dataset AS BLOB)"),
    "an id of bytes": _changed("identifier = x'7e57'"),
    "a changed bit": _bit_changed,
}


@pytest.mark.parametrize("make", DAMAGE.values(), ids=DAMAGE)
def test_an_unusable_file_is_named_and_left_as_it_is(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "ledger.sqlite"
    make(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"ledger\.sqlite: not a usable ledger"):
        Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))
    with pytest.raises(InputError, match=r"ledger\.sqlite: not a usable ledger"):
        Ledger(path).spent("clinic")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", [":memory:", "", "-", "file:ledger.sqlite", "file::memory:", "."])
def test_what_is_no_file_is_no_ledger(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="a ledger is a file; name one"):
        Ledger(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [5, b"ledger.sqlite", True])
def test_a_ledger_that_is_no_name_is_one_line(name: Any) -> None:
    with pytest.raises(InputError, match=r"^ledger: give the name of a file, as in"):
        Ledger(name)


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdin", "/dev/full"])
def test_devices_are_no_ledgers(device: str) -> None:
    if not Path(device).exists():
        pytest.skip("no such device on this system")
    with pytest.raises(InputError, match="a ledger is a file"):
        Ledger(device)


def test_pipes_and_folders_are_no_ledgers(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("pipe", "folder", "link"):
        with pytest.raises(InputError, match="a ledger is a file"):
            Ledger(tmp_path / name)


def test_a_link_leads_to_the_ledger(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "ledger.sqlite")
    Ledger(tmp_path / "link").charge("clinic", Loss(ONE), MINED, Loss(ONE))
    assert Ledger(tmp_path / "ledger.sqlite").spent("clinic").epsilon == 1
    assert (tmp_path / "link").is_symlink()


def test_a_ledger_has_one_name(tmp_path: Path) -> None:
    """A journal is named after one of the names, so a charge under the other could be undone."""
    path, other = tmp_path / "ledger.sqlite", tmp_path / "other.sqlite"
    Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))
    other.hardlink_to(path)
    for name in (path, other):
        with pytest.raises(InputError, match=r"several names \(hard links\); delete all but one"):
            Ledger(name).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))
        with pytest.raises(InputError, match="several names"):
            Ledger(name).spent("clinic")
    other.unlink()
    assert Ledger(path).spent("clinic").epsilon == 1


@pytest.mark.parametrize("name", ["ledger.sqlite", "my ledger\\1.sqlite"])
def test_a_ledger_is_not_mounted_without_its_folder(tmp_path: Path, name: str) -> None:
    """A journal stays where the file is mounted, and could undo what is charged elsewhere."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
    Ledger(own / name).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))
    (other / name).touch()
    program = (
        "import sys; from redveil.budget.ledger import Ledger; "
        "print(Ledger(sys.argv[1]).spent('clinic').epsilon)"
    )
    call = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"

    def spent(what: Path, place: Path, read: Path) -> subprocess.CompletedProcess[str]:
        names = [shlex.quote(str(one)) for one in (what, place, read)]
        script = f"mount --bind {names[0]} {names[1]} || exit 77; {call} {names[2]}"
        mounting = ["unshare", "--mount", "--map-root-user", "sh", "-c", script]
        return subprocess.run(mounting, check=False, capture_output=True, text=True)

    try:
        alone = spent(own / name, other / name, other / name)
    except FileNotFoundError:
        alone = None
    if alone is None or alone.returncode == 77 or "unshare" in alone.stderr:
        pytest.skip("nothing can be mounted here")
    assert "mounted without its folder" in alone.stderr
    assert spent(own / name, other / name, own / name).stdout == "1\n"
    assert spent(own, other, other / name).stdout == "1\n"


def test_a_ledger_that_cannot_be_written_can_be_read_but_not_charged(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write everywhere")
    assert Ledger(path).spent("clinic").epsilon == 1
    with pytest.raises(InputError, match="cannot be written; make the ledger and its folder"):
        Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))


def test_a_ledger_that_is_in_use_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))
    monkeypatch.setattr(ledger_module, "_SECONDS_TO_WAIT", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as another:
        another.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="another run is using it; try again later"):
            Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(Fraction(5)))


def test_a_refusal_begins_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with pytest.raises(OverBudgetError):
        Ledger(path).charge("clinic", Loss(Fraction(2)), MINED, Loss(ONE))
    with pytest.raises(InputError):
        Ledger(path).charge("clinic", Loss(ONE), MINED, Loss(ONE), bought=[BOUGHT])
    assert Ledger(path).spent("clinic").epsilon == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = Ledger(tmp_path / "nowhere" / "ledger.sqlite")
    assert nowhere.spent("clinic").epsilon == 0
    with pytest.raises(InputError, match="cannot be written; make the ledger and its folder"):
        nowhere.charge("clinic", Loss(ONE), MINED, Loss(ONE))


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
    ledger.charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    with pytest.raises(OverBudgetError):
        ledger.charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    assert ledger.spent("clinic") == Loss(ONE)


EARLIER = {
    "the first": ("", ""),
    "before the chain": (
        ", delta TEXT NOT NULL DEFAULT '0', identifier TEXT, result TEXT, algorithm TEXT, "
        "parameters TEXT NOT NULL DEFAULT '{}'",
        ", '0', '7e57', 'result.json', 'twin', '{\"depth\":   2}'",
    ),
}


@pytest.mark.parametrize("version", EARLIER)
def test_ledgers_of_every_version_get_a_chain_when_they_are_charged(
    version: str, tmp_path: Path
) -> None:
    path = tmp_path / "ledger.sqlite"
    columns, values = EARLIER[version]
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE charges (number INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT "
            f"NULL, epsilon TEXT NOT NULL, purpose TEXT NOT NULL, made_at TEXT NOT NULL{columns})"
        )
        for number in (1, 2):
            connection.execute(
                f"INSERT INTO charges VALUES ({number}, 'clinic', '1/3', 'mine', 'once'{values})"
            )
    connection.close()
    before = path.read_bytes()
    ledger = Ledger(path)
    assert ledger.spent("clinic").epsilon == Fraction(2, 3)
    with pytest.raises(OverBudgetError):
        ledger.charge("clinic", Loss(ONE), MINED, Loss(ONE))
    # Neither looking nor a refusal changes the file.
    assert path.read_bytes() == before
    ledger.charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    assert check_chain(ledger.entries()).number == 3
    assert ledger.spent("clinic") == Loss(ONE)


CHANGES = {
    "a smaller amount": "UPDATE charges SET epsilon = '1/10' WHERE number = 1",
    "another data set": "UPDATE charges SET dataset = 'school', identifier = NULL",
    "another moment": "UPDATE charges SET made_at = 'never'",
    "a charge removed": "DELETE FROM charges WHERE number = 1",
    "the last charge removed": "DELETE FROM charges WHERE number = 3",
    "all charges removed": "DELETE FROM charges",
    "a charge moved": "UPDATE charges SET number = 7 WHERE number = 1",
    "no hash": "UPDATE charges SET hash = NULL WHERE number = 2",
    "a charge without a hash": "INSERT INTO charges (dataset, epsilon, purpose, made_at) "
    "VALUES ('school', '1', 'mine', 'now')",
    "a charge given back": "UPDATE charges SET kind = 'void', voids = 1 WHERE number = 2",
    "a kind of its own": "UPDATE charges SET kind = 'gift' WHERE number = 2",
}


@pytest.mark.parametrize("sql", CHANGES.values(), ids=CHANGES)
def test_a_charge_that_was_changed_is_noticed(sql: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    for _ in range(3):
        Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE), identifier="7e57")
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="not a usable ledger"):
        Ledger(path).spent("clinic")
    with pytest.raises(InputError, match="not a usable ledger"):
        Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, None)
    assert path.read_bytes() == before


def test_an_old_copy_of_a_ledger_is_not_noticed(tmp_path: Path) -> None:
    """A file cannot know of what was never in it. A server has a witness."""
    path = tmp_path / "ledger.sqlite"
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    old = path.read_bytes()
    Ledger(path).charge("clinic", Loss(Fraction(1, 3)), MINED, Loss(ONE))
    path.write_bytes(old)
    assert Ledger(path).spent("clinic").epsilon == Fraction(1, 3)


def test_delta_has_a_cap_of_its_own(tmp_path: Path) -> None:
    ledger, cap = Ledger(tmp_path / "ledger.sqlite"), Loss(Fraction(9), Fraction(1, 10**6))
    ledger.charge("clinic", Loss(ONE, Fraction(6, 10**7)), MINED, cap)
    with pytest.raises(OverBudgetError, match="left of the budget_delta of 1/1000000"):
        ledger.charge("clinic", Loss(ONE, Fraction(6, 10**7)), MINED, cap)
    # Pure runs do not need any of it, even where the cap was lowered since.
    ledger.charge("clinic", Loss(ONE), MINED, Loss(Fraction(9)))
    assert ledger.spent("clinic") == Loss(Fraction(2), Fraction(6, 10**7))


def test_a_charge_says_what_it_paid_for(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), MINED, None, identifier="7e57")
    (charge,) = ledger.charges("clinic")
    assert charge.paid_for == PaidFor("mine", "result.json", "twin", {"depth": 2})
    assert (charge.name, charge.identifier) == ("clinic", "7e57")


def test_without_a_cap_charges_are_recorded_and_never_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(3):
        ledger.charge("clinic", Loss(Fraction(100), Fraction(1, 10**4)), MINED, None)
    assert ledger.spent("clinic") == Loss(Fraction(300), Fraction(3, 10**4))


def test_a_data_set_is_known_by_its_identifier_whatever_its_name(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), MINED, Loss(ONE), identifier="7e57")
    with pytest.raises(OverBudgetError):
        ledger.charge("renamed", Loss(ONE), MINED, Loss(ONE), identifier="7e57")
    ledger.charge("other", Loss(ONE), MINED, Loss(ONE), identifier="07e4")
    assert ledger.spent("renamed", "7e57").epsilon == 1


def test_a_new_identifier_does_not_clear_what_the_name_has_spent(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("clinic", Loss(ONE), MINED, None)
    with pytest.raises(OverBudgetError) as without:
        ledger.charge("clinic", Loss(ONE), MINED, Loss(ONE), identifier="7e57")
    ledger.charge("clinic", Loss(ONE), MINED, None, identifier="7e57")
    with pytest.raises(OverBudgetError, match="other data sets of the same name count"):
        ledger.charge("clinic", Loss(ONE), MINED, Loss(Fraction(2)), identifier="07e4")
    assert "other data sets" not in str(without.value)


@pytest.mark.parametrize("cap", [None, Loss(Fraction(9))], ids=["no budget", "budget"])
def test_the_first_charge_to_a_data_set_is_announced(cap: Loss | None, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with pytest.warns(LedgerWarning, match=r"^new ledger begun: .*ledger\.sqlite; if earlier runs"):
        Ledger(path).charge("clinic", Loss(ONE), MINED, cap, identifier="7e57")
    with pytest.warns(LedgerWarning, match=r"^first charge to school: .*under another name"):
        Ledger(path).charge("school", Loss(ONE), MINED, cap, identifier="5c00")


@pytest.mark.filterwarnings("error")
def test_later_charges_are_not_announced(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.warns(LedgerWarning, match="new ledger begun"):
        ledger.charge("clinic", Loss(ONE), MINED, None, identifier="7e57")
    ledger.charge("clinic", Loss(ONE), MINED, Loss(Fraction(9)), identifier="7e57")
    assert ledger.spent("clinic").epsilon == 2


@pytest.mark.filterwarnings("error")
def test_where_warnings_are_errors_nothing_is_charged_in_vain(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerWarning):
        ledger.charge("clinic", Loss(ONE), MINED, Loss(Fraction(9)))
    assert ledger.spent("clinic").epsilon == 0


def paid(purchase: Purchase) -> tuple[Loss, PaidFor]:
    return Loss(purchase.epsilon), PaidFor.cut_points(purchase)


def test_purchases_must_be_in_the_ledger_that_is_charged(tmp_path: Path) -> None:
    first, cap = Ledger(tmp_path / "first.sqlite"), Loss(Fraction(2))
    first.charge("clinic", *paid(BOUGHT), cap, identifier="7e57")
    first.charge("renamed", Loss(ONE), MINED, cap, identifier="7e57", bought=[BOUGHT])
    other = Ledger(tmp_path / "other.sqlite")
    other.charge("school", *paid(BOUGHT), cap, identifier="5c00")
    with pytest.raises(InputError, match="bought for ε = 1/10 that are not in this ledger; name"):
        other.charge("clinic", Loss(ONE), MINED, cap, identifier="7e57", bought=[BOUGHT])
    assert other.spent("clinic", "7e57").epsilon == 0


EDITED = {
    "a lower price": [Purchase(Fraction(1, 100), right=("CRP",))],
    "other columns": [Purchase(Fraction(1, 10), right=("CRP", "TSH"))],
    "the other view": [Purchase(Fraction(1, 10), left=("CRP",))],
    "twice": [BOUGHT, BOUGHT],
}


@pytest.mark.parametrize("bought", EDITED.values(), ids=EDITED)
def test_a_purchase_is_what_was_paid_for_and_once(bought: list[Purchase], tmp_path: Path) -> None:
    ledger, cap = Ledger(tmp_path / "ledger.sqlite"), Loss(Fraction(2))
    ledger.charge("clinic", *paid(BOUGHT), cap)
    with pytest.raises(InputError, match="not in this ledger"):
        ledger.charge("clinic", Loss(ONE), MINED, cap, bought=bought)
    # A run at the same price is no purchase.
    ledger.charge("clinic", Loss(Fraction(1, 10)), MINED, cap, bought=[BOUGHT])
    with pytest.raises(InputError, match="not in this ledger"):
        ledger.charge("clinic", Loss(ONE), MINED, cap, bought=bought)


def test_without_a_cap_missing_purchases_are_recorded(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(2):
        ledger.charge("clinic", Loss(ONE), MINED, None, bought=[BOUGHT])
    assert ledger.spent("clinic").epsilon == Fraction(21, 10)


def test_purchases_can_be_added_to_a_ledger_that_lacks_them(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.warns(LedgerWarning, match="new ledger begun"):
        assert ledger.add_purchases("clinic", "7e57", [BOUGHT]) == (BOUGHT,)
    assert ledger.add_purchases("clinic", "7e57", [BOUGHT]) == ()
    ledger.charge("clinic", Loss(ONE), MINED, Loss(Fraction(11, 10)), bought=[BOUGHT])
    with pytest.raises(OverBudgetError, match="0 left"):
        ledger.charge("clinic", Loss(ONE), MINED, Loss(Fraction(11, 10)), bought=[BOUGHT])


def test_purchases_added_to_another_data_sets_ledger_are_announced(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.charge("school", Loss(ONE), MINED, None, identifier="5c00")
    with pytest.warns(LedgerWarning, match="first charge to clinic"):
        ledger.add_purchases("clinic", "7e57", [BOUGHT])


def test_charges_without_an_id_count_for_every_data_set(tmp_path: Path) -> None:
    """An earlier version recorded them. What their data set is called now, nobody knows."""
    ledger, cap = Ledger(tmp_path / "ledger.sqlite"), Loss(Fraction(2))
    ledger.charge("clinic", Loss(ONE), MINED, None)
    ledger.charge("clinic", Loss(ONE), MINED, None, identifier="7e57")
    with pytest.raises(OverBudgetError, match="1/2 left of the budget of 3/2"):
        ledger.charge("study", Loss(ONE), MINED, Loss(Fraction(3, 2)), identifier="07e4")
    ledger.charge("study", Loss(ONE), MINED, cap, identifier="07e4")
    # They do not make one data set of all others.
    assert ledger.spent("study", "07e4").epsilon == ledger.spent("clinic", "7e57").epsilon == 2


def test_data_sets_are_listed_by_their_latest_name(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert ledger.data_sets() == ()
    for name, identifier in (("a", "1"), ("b", None), ("c", "1"), ("c", "2"), ("b", "3")):
        ledger.charge(name, Loss(ONE), MINED, None, identifier=identifier)
    assert ledger.data_sets() == (("b", "3"), ("c", "2"))


def test_names_that_are_no_proper_text_are_kept_apart_and_found_again(tmp_path: Path) -> None:
    """A file's name may be any bytes, and JSON may contain half a character."""
    ledger, odd = Ledger(tmp_path / "ledger.sqlite"), "clinic\udce9"
    ledger.charge(odd, Loss(ONE), PaidFor("mine", "r\udce9sultat.json"), Loss(ONE), identifier=odd)
    assert ledger.spent(odd).epsilon == ledger.spent("other", odd).epsilon == 1
    assert ledger.spent("clinic").epsilon == 0
    with pytest.raises(OverBudgetError):
        ledger.charge(odd, Loss(ONE), MINED, Loss(ONE))


def test_a_data_set_is_one_with_all_names_and_ids_that_it_ever_had(tmp_path: Path) -> None:
    ledger, cap = Ledger(tmp_path / "ledger.sqlite"), Loss(Fraction(2))
    ledger.charge("dataset", Loss(Fraction(1, 10)), MINED, cap, identifier="1")
    ledger.charge("study", Loss(Fraction(19, 10)), MINED, cap, identifier="1")
    with pytest.raises(OverBudgetError):
        ledger.charge("dataset", Loss(Fraction(19, 10)), MINED, cap, identifier="2")
    assert ledger.spent("dataset", "2").epsilon == 2
    assert ledger.spent("other", "3").epsilon == 0


def test_a_full_disk_is_not_a_damaged_ledger(tmp_path: Path) -> None:
    """Restoring an earlier copy, as for a damaged one, would forget charges."""
    ledger = tmp_path / "ledger.sqlite"
    Ledger(ledger).charge("clinic", Loss(ONE), MINED, None)
    program = (
        "import resource, sys\n"
        "from fractions import Fraction\n"
        "from redveil.budget.ledger import Ledger, PaidFor, Loss\n"
        # No file can grow, like on a full disk.
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "Ledger(sys.argv[1]).charge('clinic', Loss(Fraction(1)), PaidFor('mine'), None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ledger)],
        capture_output=True,
        encoding="utf-8",
        env=unobserved(),
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"redveil.errors.InputError: {ledger}: cannot be")
    assert "restore" not in said
    assert Ledger(ledger).spent("clinic").epsilon == 1
