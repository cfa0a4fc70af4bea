"""A whole session of a data owner with the console script, on generated data."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from support.command_line import Clinic
from support.console import is_one_line, redveil


def test_from_two_files_to_a_spent_budget(tmp_path: Path) -> None:
    clinic = Clinic.write(tmp_path / "clinic", 600)
    clinic.schema.unlink()
    files = clinic.left.name, clinic.right.name
    mine = "mine", *files, "--epsilon", "1", "--quiet"

    assert redveil("schema", "draft", *files, folder=clinic.folder).returncode == 0
    loud = redveil(*mine, folder=clinic.folder)
    assert loud.returncode == 0
    assert "the schema is a draft" in loud.stderr

    accept = "schema", "accept", "datapackage.json"
    asked = redveil(*accept, folder=clinic.folder)
    assert asked.returncode == 2
    assert is_one_line(asked.stderr)
    assert redveil(*accept, "--yes", folder=clinic.folder).returncode == 0
    # The run with the draft counts.
    clinic.set_budget(Fraction(5, 2))
    calm = redveil(*mine, folder=clinic.folder)
    assert (calm.returncode, calm.stdout, calm.stderr) == (0, "", "")
    promise = json.loads(clinic.result.read_text(encoding="utf-8"))["certificate"]
    assert promise["schema_status"] == "declared"
    assert not any("NOT MET" in condition for condition in promise["conditions"])

    over = redveil(*mine, folder=clinic.folder)
    assert over.returncode == 3
    assert is_one_line(over.stderr)
    assert clinic.names() == [
        "datapackage.json",
        # The draft, as it was before it was accepted.
        "datapackage.json.1",
        "datapackage.ledger.sqlite",
        "diagnoses.csv",
        "laboratory.csv",
        "result.json",
        "result.json.1",
    ]
