from __future__ import annotations

import pytest

from redveil.report.result import Result
from support.command_line import Clinic, Command
from support.console import is_one_line

LENIENT = "--max-p-value 1 --min-jaccard 0 --min-support 0 --max-support 1 -q --epsilon 20"


@pytest.fixture
def mined(clinic_files: Clinic, command: Command) -> Clinic:
    assert command(*clinic_files.mine, *LENIENT.split()).code == 0
    return clinic_files


def test_true_values_are_shown_with_loud_warnings(mined: Clinic, command: Command) -> None:
    done = command("truth", mined.result, mined.left, mined.right)
    assert done.code == 0
    assert done.out.startswith("NOT PRIVATE")
    assert "NOT PRIVATE" not in done.err
    assert "true J" in done.out
    assert "result-true.json" not in mined.names()


def test_the_private_file_stays_private(mined: Clinic, command: Command) -> None:
    before = mined.result.read_bytes()
    output = mined.folder / "true.json"
    done = command("truth", mined.result, mined.left, mined.right, "--output", output)
    assert done.code == 0
    assert f"written to {output} (NOT PRIVATE)" in done.err
    assert mined.result.read_bytes() == before
    compared = Result.read(output)
    assert compared.document.warning is not None
    assert all(one.true is not None for one in compared)


def test_another_schema_is_refused(mined: Clinic, command: Command) -> None:
    mined.change_schema(lambda raw: raw.update(name="another"))
    refused = command("truth", mined.result, mined.left, mined.right)
    assert (refused.code, refused.out) == (2, "")
    assert "another schema" in refused.err


def test_a_query_that_was_tampered_with_is_one_line(mined: Clinic, command: Command) -> None:
    text = mined.result.read_text(encoding="utf-8")
    mined.result.write_text(text.replace('"attribute"', '"atribute"'), encoding="utf-8")
    refused = command("truth", mined.result, mined.left, mined.right)
    assert refused.code == 2
    assert is_one_line(refused.err)
