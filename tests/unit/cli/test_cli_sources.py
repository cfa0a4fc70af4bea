"""Commands take folders and databases wherever they take files."""

from __future__ import annotations

import csv
import shutil
import sqlite3
from pathlib import Path

import pytest

from support.command_line import Clinic, Command


@pytest.fixture
def sources(clinic_files: Clinic) -> tuple[str, str]:
    """Put the left table into a folder, and the right one into a database."""
    folder = clinic_files.folder / "visits"
    folder.mkdir()
    header, *rows = clinic_files.left.read_text(encoding="utf-8").splitlines()
    for number in range(2):
        text = "\n".join([header, *rows[number::2]])
        (folder / f"{number}.csv").write_text(text, encoding="utf-8")
    with clinic_files.right.open(encoding="utf-8", newline="") as file:
        names, *cells = csv.reader(file)
    connection = sqlite3.connect(clinic_files.folder / "clinic.sqlite")
    columns = ", ".join(f'"{name}"' for name in names)
    connection.execute(f"CREATE TABLE labs ({columns})")
    connection.executemany(f"INSERT INTO labs VALUES ({', '.join('?' * len(names))})", cells)
    connection.commit()
    connection.close()
    return str(folder), f"{clinic_files.folder}/clinic.sqlite#labs"


def test_what_is_loaded_is_the_same(
    clinic_files: Clinic, sources: tuple[str, str], command: Command
) -> None:
    found = [
        command("schema", "check", clinic_files.schema, *tables)
        for tables in ((clinic_files.left, clinic_files.right), sources)
    ]
    assert [one.code for one in found] == [0, 0]
    assert found[0].out == found[1].out
    # The schema is beside the folder.
    mined = command("mine", *sources, "--epsilon", "1", "--quiet", "-o", clinic_files.result)
    assert mined.code == 0


@pytest.mark.parametrize("name", ["visits/1.csv", "clinic.sqlite"])
def test_no_file_of_a_table_is_written_over(
    clinic_files: Clinic, sources: tuple[str, str], command: Command, name: str
) -> None:
    target = clinic_files.folder / name
    before = target.read_bytes()
    pattern = f"csv:{sources[0]}/*.csv"
    for tables in (sources, (pattern, sources[1])):
        for words in (["schema", "draft"], ["mine", "--epsilon", "1", "-s", clinic_files.schema]):
            refused = command(*words, *tables, "-o", target)
            assert refused.code == 2
            assert "this command needs that file itself" in refused.err
    assert target.read_bytes() == before


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_no_result_is_put_where_sqlite_keeps_its_own_files(
    clinic_files: Clinic, sources: tuple[str, str], command: Command, end: str
) -> None:
    """There it would keep the database from being opened, and SQLite would remove it."""
    target = clinic_files.folder / f"clinic.sqlite{end}"
    refused = command("mine", *sources, "-e", "1", "-s", clinic_files.schema, "-o", target)
    assert refused.code == 2
    assert "this command needs that file itself" in refused.err
    assert not target.exists()


def test_a_missing_schema_is_looked_for_in_the_folder_of_a_pattern(
    clinic_files: Clinic, sources: tuple[str, str], command: Command
) -> None:
    tables = f"{sources[0]}/*.csv", sources[1]
    refused = command("mine", *tables, "--epsilon", "1", "-o", clinic_files.result)
    assert refused.code == 2
    assert "visits/datapackage.json: no such file" in refused.err
    shutil.copy(clinic_files.schema, Path(sources[0]) / "datapackage.json")
    mined = command("mine", *tables, "--epsilon", "1", "--quiet", "-o", clinic_files.result)
    assert mined.code == 0


def test_no_password_is_shown(clinic_files: Clinic, command: Command) -> None:
    address = "postgresql://me:hush@127.0.0.1:1/clinic#visits"
    refused = command(
        "mine", address, clinic_files.right, "-e", "1", "-s", clinic_files.schema, "-o", "r.json"
    )
    lost = command("mine", address, clinic_files.right, "-e", "1", "-o", "r.json")
    for one in (refused, lost):
        assert one.code == 2
        assert "hush" not in one.out + one.err
        assert len(one.err.strip().splitlines()) == 1
