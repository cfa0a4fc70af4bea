"""Loading for a command: with the schema that is in its file."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest

from redveil.commands.loading import load_tables
from redveil.data.address import Address
from redveil.errors import InputError
from redveil.schema import Schema
from support.command_line import Clinic


def test_a_budget_that_is_declared_while_tables_are_loaded_counts(clinic_files: Clinic) -> None:
    schema = Schema.read(clinic_files.schema)
    files = Address.of(clinic_files.left), Address.of(clinic_files.right)
    load_tables(*files, schema, clinic_files.schema, quiet=True)
    clinic_files.set_budget(Fraction(3))
    with pytest.raises(InputError, match=r"changed since it was read; .*nothing was charged"):
        load_tables(*files, schema, clinic_files.schema, quiet=True)


# The owner edits the schema at the moment when the right table is opened.
EDITING = """
import pathlib, sys
from redveil.cli import main
schema = pathlib.Path("datapackage.json")
left = [schema.read_text(encoding="utf-8").replace('"unit"', '"budget": "3", "unit"')]
def edit(event, arguments):
    if event == "open" and str(arguments[0]).endswith("laboratory.csv") and left:
        schema.write_text(left.pop(), encoding="utf-8")
sys.addaudithook(edit)
main()
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["mine", "diagnoses.csv", "laboratory.csv", "-e", "50"], 2),
        (["schema", "draft", "diagnoses.csv", "laboratory.csv"], 0),
        (["schema", "draft", "diagnoses.csv", "laboratory.csv", "-o", "new.json"], 0),
    ],
)
def test_no_command_goes_on_without_a_budget_that_was_declared_meanwhile(
    words: list[str], code: int, clinic_files: Clinic
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EDITING, *words],
        cwd=clinic_files.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    written = "new.json" if "new.json" in words else "datapackage.json"
    assert Schema.read(clinic_files.folder / written).budget == 3
    assert not (clinic_files.folder / "datapackage.ledger.sqlite").exists()
