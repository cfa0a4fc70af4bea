from __future__ import annotations

import secrets
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from redveil.errors import InputError, LedgerError, StoreError
from redveil.store import migrations
from redveil.store.database import Database
from redveil.store.job import State
from redveil.store.migrations import MIGRATIONS, migrate, must_be_current
from support.other_user import unobserved
from support.postgresql import drop_schema, new_schema
from support.stores import Place, loss

NOW = "2026-01-01T00:00:00+00:00"


def test_a_new_database_is_made_once(address: str) -> None:
    database = Database(address)
    assert migrate(database, NOW) == migrate(database, NOW) == len(MIGRATIONS)
    with database.reading() as transaction:
        must_be_current(transaction)
        assert len(transaction.rows("SELECT id FROM ledgers")) == 1
    database.close()


def test_several_processes_may_migrate_at_once(address: str) -> None:
    faults: list[BaseException] = []

    def run() -> None:
        database = Database(address)
        try:
            migrate(database, NOW)
        except BaseException as error:
            faults.append(error)
        finally:
            database.close()

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []


def test_later_migrations_are_added_to_what_there_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.done("1")
    later = ("ALTER TABLE accounts ADD COLUMN mail TEXT",)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, later))
    with place.store.database.reading() as transaction, pytest.raises(StoreError, match="migrate"):
        must_be_current(transaction)
    assert migrate(place.store.database, NOW) == len(MIGRATIONS) + 1
    with place.store.database.reading() as transaction:
        assert transaction.rows("SELECT mail FROM accounts WHERE name = 'olga'") == [{"mail": None}]
    assert place.spent() == 1


def test_a_migration_that_fails_changes_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = ("ALTER TABLE accounts ADD COLUMN mail TEXT", "CREATE TABLE accounts (id TEXT)")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, later))
    with pytest.raises(StoreError):
        migrate(place.store.database, NOW)
    with place.store.database.reading() as transaction, pytest.raises(StoreError, match="migrate"):
        must_be_current(transaction)
    with (
        pytest.raises(StoreError, match="cannot be used"),
        place.store.database.reading() as transaction,
    ):
        transaction.rows("SELECT mail FROM accounts")


def test_a_database_of_a_newer_version_is_refused(place: Place) -> None:
    with place.store.database.transaction() as transaction:
        transaction.execute("INSERT INTO migrations (version) VALUES (99)")
    with pytest.raises(StoreError, match="newer than this redveil"):
        place.again()


def test_a_transaction_takes_effect_as_a_whole_or_not_at_all(address: str) -> None:
    database = Database(address)
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE things (name TEXT)")

    def insert() -> None:
        with database.transaction() as transaction:
            for table in ("things", "nowhere"):
                transaction.execute(f"INSERT INTO {table} (name) VALUES ('one')")

    with pytest.raises(StoreError):
        insert()
    with database.reading() as transaction:
        assert transaction.rows("SELECT * FROM things") == []
    database.close()


def test_errors_are_one_line_without_values(address: str) -> None:
    database = Database(address)
    with pytest.raises(StoreError) as caught, database.transaction() as transaction:
        transaction.execute("INSERT INTO nowhere (name) VALUES (?)", ["secret"])
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert str(caught.value.__cause__) == "None"
    database.close()


@pytest.mark.parametrize("address", ["", ":memory:", "sqlite:///", "mysql://u:secret@host/x"])
def test_what_is_no_database_is_named_without_its_password(address: str) -> None:
    with pytest.raises(InputError) as caught:
        Database(address)
    assert "secret" not in str(caught.value)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Database("postgresql://u:secret@nowhere/x"))


def test_a_server_that_is_not_there_is_one_line() -> None:
    database = Database("postgresql://u:secret@/x?host=/nowhere")
    with pytest.raises(StoreError) as caught, database.transaction():
        pass
    assert "secret" not in str(caught.value)


def test_a_database_has_one_name(tmp_path: Path) -> None:
    """SQLite keeps what was written last beside the file, under one of the names."""
    path, other = tmp_path / "server.sqlite", tmp_path / "other.sqlite"
    migrate(Database(path), NOW)
    other.hardlink_to(path)
    for one in (path, other):
        with pytest.raises(InputError, match="several names"):
            migrate(Database(one), NOW)


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite"
    path.write_text("not a database, and long enough to be sure of it " * 30)
    with pytest.raises(StoreError, match="cannot be used"):
        migrate(Database(path), NOW)


def test_a_process_has_so_many_connections_and_no_more(address: str) -> None:
    # PostgreSQL has few connections for all; a process that takes them all keeps workers out.
    database, lock = Database(address, patience=30), threading.Lock()
    now, most = 0, 0

    def read(_: int) -> None:
        nonlocal now, most
        with database.reading() as transaction:
            with lock:
                now += 1
                most = max(most, now)
            transaction.rows("SELECT 1 AS one")
            time.sleep(0.01)
            with lock:
                now -= 1

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(read, range(200)))
    assert 2 < most <= 16
    database.close()


def test_whoever_waits_too_long_for_a_connection_is_told_so(tmp_path: Path) -> None:
    database = Database(tmp_path / "server.sqlite", patience=0.05)
    with ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(database.reading())
        with pytest.raises(StoreError, match="busy"), database.reading():
            pass
    with database.reading():
        pass
    database.close()


def test_a_child_opens_connections_of_its_own(address: str) -> None:
    """Two processes that share a connection would mix up their transactions."""
    program = """
import os, sys
from redveil.store.database import Database
database = Database(sys.argv[1])
ask = "SELECT pg_backend_pid() AS it" if database.is_postgresql else "SELECT 1 AS it"
def asked():
    with database.reading() as transaction:
        return transaction.row(ask)["it"]
before = asked()
child = os.fork()
if child == 0:
    same = asked() == before
    os._exit(1 if database.is_postgresql and same else 0)
assert os.waitpid(child, 0)[1] == 0
assert asked() == before
database.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", program, address], env=unobserved(), timeout=60, check=False
    )
    assert done.returncode == 0


def test_nobody_waits_for_ever(place: Place) -> None:
    """Such as for a process that was stopped while it held the lock."""
    other = Database(place.address, patience=0.05)
    lock = "UPDATE ledgers SET state = state"

    def wait() -> None:
        with other.transaction() as transaction:
            transaction.execute(lock)

    with place.store.database.transaction() as transaction:
        transaction.execute(lock)
        with pytest.raises(StoreError, match="busy; try again later"):
            wait()
    wait()
    other.close()


# Changes a database, and does not wait for long.
ANOTHER = """
import sys
from redveil.store.database import Database
try:
    with Database(sys.argv[1], patience=0.2).transaction() as transaction:
        transaction.execute("INSERT INTO things (name) VALUES ('another')")
except Exception as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="closing a file releases no locks there")
def test_a_thread_that_copies_the_database_does_not_unlock_it(tmp_path: Path) -> None:
    """POSIX: a process that closes a file loses all its locks on it, SQLite's too."""
    database = Database(tmp_path / "server.sqlite")
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE things (name TEXT)")
    with database.transaction() as transaction:
        for one in tmp_path.iterdir():
            one.read_bytes()
        done = subprocess.run(
            [sys.executable, "-c", ANOTHER, str(tmp_path / "server.sqlite")],
            capture_output=True,
            text=True,
            env=unobserved(),
            timeout=60,
            check=True,
        )
        transaction.execute("INSERT INTO things (name) VALUES ('one')")
    assert "busy; try again later" in done.stdout
    with database.reading() as transaction:
        assert transaction.rows("SELECT * FROM things") == [{"name": "one"}]
    # A write-ahead log needs locks between transactions, too, or another process deletes it.
    assert [one.name for one in tmp_path.iterdir()] == ["server.sqlite"]
    database.close()


def test_programs_that_take_no_turns_are_locked_out_by_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite"
    database = Database(path)
    with database.transaction() as transaction:
        transaction.execute("CREATE TABLE things (name TEXT)")
    with (
        database.transaction(),
        closing(sqlite3.connect(path, timeout=0)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("INSERT INTO things (name) VALUES ('another')")
    database.close()


def test_nothing_is_paid_for_if_the_table_swallows_it(place: Place) -> None:
    with place.store.database.transaction() as transaction:
        if transaction.is_postgresql:
            transaction.execute(
                "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN RETURN NULL; END'"
            )
            transaction.execute(
                "CREATE TRIGGER swallow BEFORE INSERT ON charges FOR EACH ROW "
                "EXECUTE FUNCTION swallow()"
            )
        else:
            transaction.execute(
                "CREATE TRIGGER swallow BEFORE INSERT ON charges BEGIN SELECT RAISE(IGNORE); END"
            )
    job = place.submit("1")
    place.store.work.claim("worker")
    with pytest.raises(LedgerError, match="was not written"):
        place.store.work.reserve(job.id, "worker")


def test_a_process_that_was_stopped_loses_its_lock() -> None:
    name = f"stopped_{secrets.token_hex(8)}"
    place = Place.make(new_schema(name))
    stopped = Database(place.address, patience=0.2)

    def hold() -> None:
        with stopped.transaction() as transaction:
            transaction.execute("UPDATE ledgers SET state = state")
            # Gets the lock, because the one who holds it says nothing.
            place.store.datasets.set_budget("7e57", loss("5"), place.owner.id)

    with pytest.raises(StoreError):
        hold()
    assert place.store.datasets.limits("7e57").budget == loss("5")
    place.close()
    drop_schema(name)


def test_without_its_driver_postgresql_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    database = Database("postgresql://nowhere/x")
    with pytest.raises(InputError, match=r"install it with pip install 'redveil\[server\]'"):
        migrate(database, NOW)


def test_connections_that_the_database_has_ended_are_replaced() -> None:
    """PostgreSQL is restarted now and then; the server goes on."""
    name = f"ended_{secrets.token_hex(8)}"
    place = Place.make(new_schema(name))
    other = Database(place.address)
    with place.store.database.reading() as transaction:
        ((ended,),) = transaction.execute("SELECT pg_backend_pid()")
    with other.transaction() as transaction:
        transaction.execute("SELECT pg_terminate_backend(?, 5000)", [ended])
    assert place.spent() == 0
    other.close()
    place.close()
    drop_schema(name)


def test_a_user_of_postgresql_with_few_rights_is_enough() -> None:
    name = f"plain_{secrets.token_hex(8)}"
    address = new_schema(name)
    admin = Database(address)
    with admin.transaction() as transaction:
        transaction.execute(f'CREATE ROLE "{name}" LOGIN')
        transaction.execute(f'GRANT ALL ON SCHEMA "{name}" TO "{name}"')
    place = Place.make(address.replace("postgres:@", f"{name}:@"))
    assert place.done("1").state is State.DONE
    place.close()
    drop_schema(name)
    with admin.transaction() as transaction:
        transaction.execute(f'DROP ROLE "{name}"')
    admin.close()


def test_the_server_is_ready_if_its_database_is(place: Place) -> None:
    assert place.store.is_ready()
