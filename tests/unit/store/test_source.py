from __future__ import annotations

import json
from pathlib import Path

import pytest

from redveil.errors import InputError, LedgerError
from redveil.store.source import Source, head_in
from support.stores import Place


def test_a_ledger_is_read_from_either_database(place: Place) -> None:
    place.done("1")
    source = Source.read(place.address)
    assert len(source.found) == 4
    assert source.check(place.signer.public, []).head.number == 4
    assert source.database is not None
    source.database.close()


def test_results_and_receipts_tell_what_a_ledger_must_have(place: Place, tmp_path: Path) -> None:
    job = place.done("1")
    result, receipt = tmp_path / "result.json", tmp_path / "receipt.json"
    result.write_text(json.dumps(place.store.jobs.result(job.id)))
    said = place.store.jobs.receipt(job.id)
    assert said is not None
    receipt.write_text(json.dumps(said.to_dict()))
    assert head_in(result) == head_in(receipt)
    with place.store.database.transaction() as transaction:
        transaction.execute("DELETE FROM charges WHERE number = 4")
        transaction.execute("UPDATE jobs SET charge = NULL, state = 'failed'")
        transaction.execute("DELETE FROM charges WHERE number = 3")
    source = Source.read(place.address)
    source.check(place.signer.public, [])
    with pytest.raises(LedgerError, match="lacks entry 3"):
        source.check(place.signer.public, [head_in(result)])
    assert source.database is not None
    source.database.close()


@pytest.mark.parametrize("content", ["", "{}", "[]", "[" * 10000, '{"number": "x", "hash": 1}'])
def test_other_files_tell_nothing_of_a_ledger(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    with pytest.raises(InputError, match="says nothing of a ledger"):
        head_in(path)
    path.write_text(content)
    with pytest.raises(InputError, match="says nothing of a ledger"):
        head_in(path)


def test_an_old_ledger_file_has_no_chain_yet(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "ledger.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE charges (number INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT "
            "NULL, epsilon TEXT NOT NULL, purpose TEXT NOT NULL, made_at TEXT NOT NULL)"
        )
        connection.execute("INSERT INTO charges VALUES (1, 'clinic', '1', 'mine', 'once')")
    connection.close()
    with pytest.raises(InputError, match="without a chain; the next charge adds it"):
        Source.read(str(path)).check(None, [])
