from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from redveil.report.result import Result
from redveil.signing.certificate import sign_result
from redveil.signing.keys import Signer
from support.command_line import Clinic, Command
from support.stores import CLINIC, Place, loss

LEDGER = "datapackage.ledger.sqlite"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "witness").mkdir()
    made = Place.make(
        str(tmp_path / "server.sqlite"),
        witness=tmp_path / "witness" / "witness.jsonl",
        signer=Signer.create(tmp_path / "server.key"),
    )
    made.done("1")
    (tmp_path / "public.pem").write_bytes(made.signer.public.to_pem())
    made.close()
    return made


def test_a_ledger_file_is_checked_and_exported(command: Command, clinic_files: Clinic) -> None:
    assert command(*clinic_files.mine, "--quiet").code == 0
    ledger = clinic_files.folder / LEDGER
    done = command("ledger", "verify", ledger)
    assert done.code == 0
    assert "clinic: ε = 1 and δ = 0 spent\n1 entry, intact\nhead " in done.out
    exported = clinic_files.folder / "ledger.jsonl"
    assert command("ledger", "export", ledger, "--output", exported).code == 0
    assert command("ledger", "verify", exported).out == done.out
    assert command("ledger", "export", ledger).out == exported.read_text(encoding="utf-8")
    again = command("ledger", "export", ledger, "-o", exported)
    assert (again.code, "not replaced" in again.err) == (2, True)
    # What the export says must be in the ledger.
    assert command("ledger", "verify", ledger, "--seen", exported).code == 0
    refused = command("ledger", "verify", ledger, "--key", exported)
    assert refused.code == 2


def test_a_digit_that_was_changed_in_a_ledger_file_is_noticed(
    command: Command, clinic_files: Clinic
) -> None:
    assert command(*clinic_files.mine, "--quiet").code == 0
    ledger = clinic_files.folder / LEDGER
    with sqlite3.connect(ledger) as connection:
        connection.execute("UPDATE charges SET epsilon = '1/10'")
    connection.close()
    for arguments in (["budget", clinic_files.schema], ["ledger", "verify", ledger]):
        done = command(*arguments)
        assert done.code in (1, 2)
        assert done.err.count("\n") == 1
    assert command(*clinic_files.mine[:-1], clinic_files.folder / "more.json").code == 2


def test_a_ledger_of_a_server_is_checked_with_its_key(
    command: Command, place: Place, tmp_path: Path
) -> None:
    done = command("ledger", "verify", place.address, "--key", tmp_path / "public.pem")
    assert done.code == 0
    assert "clinic: ε = 1 and δ = 0 spent\n4 entries, intact, all signed\n" in done.out
    without = command("ledger", "verify", place.address)
    assert "signatures were not checked" in without.err
    witness = tmp_path / "witness" / "witness.jsonl"
    seen = ("--seen", witness, "--key", tmp_path / "public.pem")
    assert command("ledger", "verify", place.address, *seen).code == 0
    assert command("ledger", "verify", witness, "--key", tmp_path / "public.pem").code == 0


def test_a_backup_goes_on_after_it_was_recovered_and_gives_nothing_back(
    command: Command, place: Place, tmp_path: Path
) -> None:
    key, witness = tmp_path / "server.key", tmp_path / "witness" / "witness.jsonl"
    copy = tmp_path / "copy.sqlite"
    assert command("ledger", "backup", place.address, "-o", copy).code == 0
    place.store = place.again()
    place.done("2")
    place.close()
    seen = command("ledger", "verify", copy, "--seen", witness)
    assert (seen.code, "lacks entry 6" in seen.err) == (1, True)
    bare = command("ledger", "recover", copy, "--private-key", key)
    assert (bare.code, "give a witness" in bare.err) == (2, True)
    done = command("ledger", "recover", copy, "--private-key", key, "--witness", witness)
    assert (done.code, "2 entries came back" in done.out) == (0, True)
    assert command("ledger", "verify", copy, "--seen", witness).code == 0
    place.address = str(copy)
    assert place.again().datasets.spent(CLINIC).of_all == loss("3")
    place.close()
    off = command("ledger", "recover", copy, "--private-key", key, "--write-off")
    assert "clinic: ε = 7, δ = 0 written off" in off.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["ledger", "verify", "nowhere.sqlite"],
        ["ledger", "backup", "nowhere.sqlite", "-o", "copy"],
        ["ledger", "recover", "nowhere.sqlite", "--private-key", "k", "--witness", "nowhere"],
        ["ledger", "recover", "nowhere.sqlite", "--private-key", "k", "--write-off"],
        ["ledger", "verify", "datapackage.json"],
        ["verify", "datapackage.json", "--key", "nowhere.pem"],
    ],
)
def test_what_is_no_ledger_is_one_line(
    arguments: list[str],
    command: Command,
    clinic_files: Clinic,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(clinic_files.folder)
    done = command(*arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert not Path("nowhere.sqlite").exists()


def test_a_signed_result_is_verified_offline(command: Command, clinic_files: Clinic) -> None:
    assert command(*clinic_files.mine, "--quiet").code == 0
    key, signer = clinic_files.folder / "public.pem", Signer.generate()
    key.write_bytes(signer.public.to_pem())
    unsigned = command("verify", clinic_files.result, "--key", key)
    assert (unsigned.code, "is not signed" in unsigned.err) == (2, True)
    plain = json.loads(clinic_files.result.read_text(encoding="utf-8"))
    charged = {"job": "j", "dataset": "d", "ledger": "l", "number": 3, "hash": "ab"}
    signed = clinic_files.folder / "signed.json"
    signed.write_text(json.dumps(sign_result(plain, charged, signer)), encoding="utf-8")
    done = command("verify", signed, "--key", key)
    assert done.code == 0
    assert "unchanged" in done.out
    assert "ε = 1 charged to d for job j\nentry 3 of ledger l, hash ab\n" in done.out
    # A copy that redveil saves is the same; a list that is made again is another.
    copy = clinic_files.folder / "copy.json"
    Result.read(signed).save(copy)
    assert command("verify", copy, "--key", key).code == 0
    assert Result.read(signed).top(1).document.signature is None
    changed = signed.read_text(encoding="utf-8").replace('"epsilon": "1"', '"epsilon": "1/2"')
    signed.write_text(changed, encoding="utf-8")
    refused = command("verify", signed, "--key", key)
    assert (refused.code, "changed after it was signed" in refused.err) == (2, True)


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "PostgreSQL", "mysql"])
@pytest.mark.parametrize("what", [["verify"], ["export"], ["backup", "-o", "copy.sqlite"]])
def test_no_password_of_an_unknown_database_is_shown(
    scheme: str, what: list[str], command: Command
) -> None:
    refused = command("ledger", *what, f"{scheme}://me:hush@host/server")
    assert refused.code == 2
    assert refused.err.startswith(f"redveil: {scheme}://…: not a database")
    assert "hush" not in refused.out + refused.err
