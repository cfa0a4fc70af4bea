"""Whatever a command suggests to run next can be pasted, also if paths have spaces."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from redveil.errors import UnfinishedError
from redveil.handover import Handover
from redveil.report.result import Result
from redveil.schema_form.form import Form
from support.clinic import mined_clinic
from support.command_line import Clinic, Command

SUGGESTED = re.compile(r"`redveil ([^`]+)`")


@pytest.fixture
def spaced(tmp_path: Path) -> Clinic:
    """Return a clinic whose paths hold all that a shell would read as something else."""
    folder = tmp_path / "O'Brien's study (2026) $HOME & more"
    folder.mkdir()
    return Clinic.write(folder, 100)


def suggested(text: str) -> list[list[str]]:
    """Return the suggested commands as a shell would read them."""
    return [shlex.split(one) for one in SUGGESTED.findall(text)]


def test_what_a_draft_suggests_can_be_pasted(spaced: Clinic, command: Command) -> None:
    path = spaced.folder / "my draft.json"
    drafted = command("schema", "draft", spaced.left, spaced.right, "-o", path)
    check, accept = suggested(drafted.err)
    assert check == ["schema", "check", str(path), str(spaced.left), str(spaced.right)]
    assert command(*check).code == 0
    mined = command("mine", *check[3:], "--schema", path, "--epsilon", "1", "-o", spaced.result)
    assert accept in suggested(mined.err)
    assert command(*accept, "--yes").code == 0
    assert json.loads(path.read_text(encoding="utf-8"))["redveil"]["status"] == "declared"


def test_what_is_suggested_for_lack_of_a_schema_can_be_pasted(
    spaced: Clinic, command: Command
) -> None:
    spaced.schema.unlink()
    (draft,) = suggested(command(*spaced.mine).err)
    assert draft == ["schema", "draft", str(spaced.left), "RIGHT"]


def test_what_is_suggested_for_a_query_can_be_pasted(spaced: Clinic, command: Command) -> None:
    assert command(*spaced.mine, "-q").code == 0
    refused = command("ask", spaced.result, "[age > 33.3]", "[CRP > 3.33]")
    (listing,) = suggested(refused.err)
    assert command(*listing).code == 0


def test_what_is_suggested_for_a_schema_with_problems_can_be_pasted(
    spaced: Clinic, command: Command
) -> None:
    spaced.change_schema(lambda raw: raw["redveil"].update(budgte="1", unti="x"))
    (found,) = re.findall(r"more: redveil (.*)\)$", command(*spaced.mine).err, re.MULTILINE)
    assert shlex.split(found) == ["schema", "check", str(spaced.schema)]


def test_what_the_form_suggests_can_be_pasted(spaced: Clinic) -> None:
    words = shlex.split(Form(spaced.schema).shown()["accept"])
    assert words == ["redveil", "schema", "accept", str(spaced.schema)]


def test_what_python_suggests_for_an_unfinished_result_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / 'the "new" study'
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    handover = Handover()

    def fails() -> None:
        with handover.guarding():
            handover.take(lambda: Result(mined_clinic().document))
            raise ValueError

    with pytest.raises(UnfinishedError) as caught:
        fails()
    (call,) = re.findall(r"redveil\.Result\.read\((.*)\)\.filter\(\)", str(caught.value))
    assert Path(eval(call)).parent == folder
