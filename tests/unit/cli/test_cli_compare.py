from __future__ import annotations

import json
from pathlib import Path

import pytest

from redveil.findings.reporting import Constraints
from redveil.report.compare import OTHER_SCHEMAS, compare
from support.clinic import mined_clinic
from support.command_line import Command
from support.console import is_one_line
from support.named import HOSTILE_NAMES, mined_with

MINED, OTHER = mined_clinic(Constraints()), mined_clinic(Constraints(), seed=2)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for result, path in zip((MINED, OTHER), paths, strict=True):
        result.save(path)
    return paths


@pytest.mark.parametrize("width", [40, 80, 160, 300])
def test_both_results_are_named_with_what_they_say(
    width: int, files: tuple[Path, Path], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = command("compare", *files)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("a.json: ")
    assert OTHER_SCHEMAS not in done.out
    assert max(map(len, done.out.splitlines())) <= width
    assert done.out.count("b.json") > len(MINED)


def test_json_is_the_comparison(files: tuple[Path, Path], command: Command) -> None:
    done = command("compare", *files, "--json")
    expected = compare(MINED, OTHER, ("a.json", "b.json")).to_json()
    assert json.loads(done.out) == json.loads(json.dumps(expected))


def test_files_of_the_same_name_are_told_apart_by_their_folders(
    files: tuple[Path, Path], command: Command
) -> None:
    first = files[0]
    second = first.parent / "later" / "a.json"
    second.parent.mkdir()
    OTHER.save(second)
    assert json.loads(command("compare", first, second, "--json").out)["names"] == [
        str(first),
        str(second),
    ]


def test_what_is_no_result_is_one_line(files: tuple[Path, Path], command: Command) -> None:
    refused = command("compare", files[0], files[0].parent / "no.json")
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert "no such file" in refused.err


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_cannot_steer_the_terminal(
    name: str, files: tuple[Path, Path], command: Command
) -> None:
    hostile = files[0].parent / "hostile.json"
    mined_with(name).save(hostile)
    shown = command("compare", files[0], hostile)
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert " ".join(OTHER_SCHEMAS.split()) in " ".join(shown.out.split())
