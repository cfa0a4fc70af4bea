from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redveil.budget.book import Head
from redveil.budget.chain import beginning
from redveil.budget.entry import Entry
from redveil.errors import InputError, LedgerError
from redveil.signing.keys import Signer
from redveil.store.checking import check_database, check_entries
from redveil.store.export import is_export, lines, read_export
from redveil.store.ledger import entries, identity, signed_head
from support.stores import CLINIC, Place, loss


@pytest.fixture
def used(place: Place) -> Place:
    """A store with something of everything: an answer, a failure, a charge that was voided."""
    place.done("1")
    place.store.work.fail(place.running("0.5").id, "w")
    voided = place.reserved("0.25")
    place.store.work.give_back(voided.id, "w")
    place.store.jobs.cancel(voided.id, place.ana.id)
    return place


def found(place: Place) -> list[Entry]:
    with place.store.database.reading() as transaction:
        return list(entries(transaction))


def change(place: Place, sql: str, *values: Any) -> None:
    """Change the database as somebody would who can write to it and has not got the key."""
    with place.store.database.transaction() as transaction:
        transaction.execute(sql, values)


def test_an_intact_ledger_is_found_so_with_all_its_sums(used: Place) -> None:
    checked = check_database(used.store.database, used.signer.public)
    assert checked.head == Head(7, found(used)[-1].hash or "")
    assert checked.spent == {("clinic", CLINIC): loss("1.5")}
    assert checked.is_signed


TAMPERING = {
    "a smaller charge": "UPDATE charges SET epsilon = '0' WHERE number = 3",
    "another analyst": "UPDATE charges SET analyst = 'x' WHERE number = 3",
    "a larger budget": "UPDATE charges SET epsilon = '99' WHERE number = 1",
    "an entry in the middle removed": "DELETE FROM charges WHERE number = 4",
    "a charge made a commit": "UPDATE charges SET kind = 'commit' WHERE number = 5",
    "a forged signature": "UPDATE charges SET signature = 'AAAA' WHERE number = 2",
    "an entry moved": "UPDATE charges SET number = 9 WHERE number = 2",
    "a moment": "UPDATE charges SET made_at = '2020-01-01T00:00:00+00:00' WHERE number = 2",
    "money back": "UPDATE charges SET epsilon = '-1' WHERE number = 3",
    "an unknown limit": "UPDATE charges SET purpose = 'gift' WHERE number = 1",
    "no json": "UPDATE jobs SET result = '{' WHERE number = 1",
    "a result": "UPDATE jobs SET result = '{}' WHERE number = 1",
    "a charge taken from a job": "UPDATE jobs SET charge = NULL WHERE number = 2",
    "a job made done": "UPDATE jobs SET state = 'done', result = '{}' WHERE number = 2",
}


@pytest.mark.parametrize("sql", TAMPERING.values(), ids=TAMPERING)
def test_whatever_is_changed_in_the_database_shows(sql: str, used: Place) -> None:
    change(used, sql)
    with pytest.raises(LedgerError):
        check_database(used.store.database, used.signer.public)


@pytest.mark.parametrize(
    "what", ["epsilon = '-1' WHERE number = 3", "purpose = 'gift' WHERE number = 1"]
)
def test_nothing_is_charged_if_the_ledger_cannot_be_read(what: str, used: Place) -> None:
    job = used.submit("1")
    used.store.work.claim("w")
    change(used, f"UPDATE charges SET {what}")
    with pytest.raises(LedgerError):
        used.store.work.reserve(job.id, "w")
    assert used.store.jobs.get(job.id).state == "claimed"
    assert used.store.jobs.receipt(job.id) is None


def test_a_ledger_that_is_made_anew_needs_the_key(used: Place) -> None:
    """Hashes can be computed by anybody; signatures cannot."""
    made, last = [], beginning(read_identity(used))
    for entry in found(used)[:3]:
        made.append(entry.linked(entry.number, last))
        last = made[-1].hash or ""
    stranger = Signer.generate()
    signed = [
        Entry(
            one.charge,
            one.kind,
            one.analyst,
            one.job,
            one.voids,
            one.number,
            one.previous,
            one.hash,
            stranger.sign(signed_head(read_identity(used), Head(one.number, one.hash or ""))),
        )
        for one in made
    ]
    check_entries(signed, read_identity(used), stranger.public)
    with pytest.raises(LedgerError, match="was not signed with the key"):
        check_entries(signed, read_identity(used), used.signer.public)


def read_identity(place: Place) -> str:
    with place.store.database.reading() as transaction:
        return identity(transaction)


def test_a_ledger_that_is_cut_off_lacks_what_was_recorded_elsewhere(used: Place) -> None:
    receipt = used.store.head()
    assert receipt is not None
    change(used, "DELETE FROM charges WHERE number = 7")
    change(used, "UPDATE jobs SET charge = 6 WHERE number = 3")
    check_database(used.store.database, used.signer.public)
    with pytest.raises(LedgerError, match="lacks entry 7 as it was recorded elsewhere"):
        check_database(
            used.store.database, used.signer.public, [Head(receipt.number, receipt.hash)]
        )


def _rebuilt(place: Place, choose: Callable[[list[Entry]], list[Entry]]) -> None:
    """Check entries that were all signed, as a server would whose program is wrong."""
    ledger, made = read_identity(place), []
    last = Head(0, beginning(ledger))
    for entry in choose(found(place)):
        one = entry.linked(last.number + 1, last.hash)
        last = Head(one.number, one.hash or "")
        made.append(one)
    check_entries(made, ledger)


WRONG: dict[str, Callable[[list[Entry]], list[Entry]]] = {
    "exceeds the limits": lambda all_: [*all_[:1], *all_[2:]],
    "charges a job twice": lambda all_: [*all_[:3], all_[2]],
    "answers without a charge": lambda all_: [*all_[:2], all_[3]],
    "gives back too much": lambda all_: [*all_[:5], all_[6]],
    "names no job": lambda all_: [*all_[:3], replace(all_[3], job=None)],
}


@pytest.mark.parametrize("message", WRONG)
def test_a_history_that_cannot_be_is_refused(message: str, used: Place) -> None:
    _rebuilt(used, lambda all_: all_)
    with pytest.raises(LedgerError, match=message):
        _rebuilt(used, WRONG[message])


def test_an_export_can_be_checked_anywhere(used: Place, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"".join(lines(read_identity(used), found(used))))
    assert is_export(path)
    ledger, exported = read_export(path)
    assert check_entries(exported, ledger, used.signer.public).head.number == 7
    # A line that was cut off is not an entry; a line that was changed is an error.
    path.write_bytes(path.read_bytes()[:-10])
    assert len(read_export(path)[1]) == 6
    path.write_text(path.read_text().replace('"epsilon":"1"', '"epsilon":"0"'))
    with pytest.raises(LedgerError, match="entry 3 was changed"):
        check_entries(read_export(path)[1], ledger, used.signer.public)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{}\n",
        b"nonsense\n",
        b'{"format":"redveil-ledger","version":2,"ledger":null}\n',
    ],
)
def test_what_is_no_export_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"ledger\.jsonl: "):
        read_export(path)


def test_a_line_that_is_no_entry_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"".join(lines("7e57", [])) + b"[]\n")
    with pytest.raises(LedgerError, match="a line is not an entry"):
        read_export(path)


def test_the_chain_cannot_fork_even_without_a_lock(used: Place) -> None:
    row = found(used)[-1].row
    names = ", ".join(row)
    marks = ", ".join("?" for _ in row)
    values = {**row, "number": 8, "hash": "x"}
    with pytest.raises(Exception, match="cannot be used"):
        change(used, f"INSERT INTO charges ({names}) VALUES ({marks})", *values.values())


def test_nothing_is_appended_to_a_head_that_was_not_signed(used: Place) -> None:
    change(used, "UPDATE charges SET hash = '' WHERE number = 7")
    with pytest.raises(LedgerError, match="entry 7 of the ledger was not signed with this server"):
        used.reserved()
    assert used.spent() == 1.5


def test_a_server_with_another_key_is_refused(used: Place) -> None:
    used.signer = Signer.generate()
    with pytest.raises(LedgerError, match="use the key that the ledger was begun with"):
        used.again()


def test_every_receipt_is_the_head_of_its_time(used: Place) -> None:
    job = used.done()
    receipt = used.store.jobs.receipt(job.id, used.ana.id)
    assert receipt is not None
    head = Head(receipt.number, receipt.hash)
    assert used.signer.public.has_signed(signed_head(receipt.ledger, head), receipt.signature)
    assert json.loads(json.dumps(receipt.to_dict()))["key"] == used.signer.public.name
