from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from redveil.schema_form.server import FormServer
from support.clinic import mined_clinic
from support.command_line import Command
from support.forms import asked, written


@pytest.fixture
def result(tmp_path: Path) -> Path:
    mined_clinic().save(tmp_path / "result.json")
    return tmp_path / "result.json"


@pytest.mark.parametrize("kind", ["scatter", "trees", "ribbons", "table", "budget"])
def test_each_kind_of_figure_is_drawn_and_the_one_before_kept(
    command: Command, result: Path, kind: str
) -> None:
    picture = result.parent / f"{kind}.svg"
    for kept in (False, True):
        done = command("plot", kind, result, "--output", picture)
        assert done.code == 0
        assert done.out == ""
        assert ("previous figure kept as" in done.err) is kept
        assert f"written to {picture}" in done.err
    assert picture.read_bytes() == picture.with_name(f"{kind}.svg.1").read_bytes()


def test_a_pair_is_chosen_by_its_number(command: Command, result: Path) -> None:
    pictures = [result.parent / f"{number}.svg" for number in (1, 2)]
    for number, picture in enumerate(pictures, start=1):
        assert command("plot", "trees", result, "--pair", number, "-o", picture).code == 0
        assert f"Pair of trees {number} of 4" in picture.read_text(encoding="utf-8")
    done = command("plot", "trees", result, "--pair", 9, "-o", pictures[0])
    assert done.code != 0
    assert done.err == "redveil: there is no pair of trees 9; choose 1 to 4\n"


def test_what_a_run_would_detect_is_drawn_without_a_result(
    command: Command, tmp_path: Path
) -> None:
    picture = tmp_path / "detect.svg"
    done = command("plot", "detect", "-e", "1", "--entities", "5000", "-o", picture)
    assert done.code == 0
    text = picture.read_text(encoding="utf-8")
    assert "What a run with 5,000 entities would detect" in text
    assert "common: each covers 50 %" in text


def test_nothing_is_drawn_over_the_result_or_in_another_format(
    command: Command, result: Path
) -> None:
    before = result.read_bytes()
    assert "unknown kind of figure" in command("plot", "table", result, "-o", result).err
    assert "unknown kind" in command("plot", "table", result, "-o", "table.gif").err
    assert result.read_bytes() == before


@pytest.mark.parametrize("works", [True, False])
def test_a_form_is_opened_in_the_browser_and_ended_by_its_page(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, works: bool
) -> None:
    opened: list[str] = []
    made: list[FormServer] = []
    start = FormServer.__init__

    def watched(self: FormServer, form: Any) -> None:
        start(self, form)
        made.append(self)

    def browse(address: str) -> bool:
        opened.append(address)
        Thread(target=asked, args=(made[0], "/done", {})).start()
        return works

    monkeypatch.setattr(FormServer, "__init__", watched)
    monkeypatch.setattr("webbrowser.open", browse)
    done = command("schema", "edit", written(tmp_path))
    assert done.code == 0
    assert opened == [made[0].address]
    assert made[0].address in done.err
    assert ("no browser could be opened" in done.err) is not works
    assert "next: redveil schema check" in done.err


def test_what_is_no_schema_is_not_served(command: Command, tmp_path: Path) -> None:
    done = command("schema", "edit", tmp_path / "nowhere.json")
    assert done.code != 0
    assert "no such file; name a schema" in done.err
