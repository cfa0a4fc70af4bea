"""`redveil report`: where the page goes, and what it must not replace."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from redveil.report.result import Result
from support.command_line import Command
from support.console import is_one_line
from support.results import TRUE, document, redescription


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    Result(document(redescription("gout"))).save(path)
    return path


def test_the_page_stands_beside_the_result(file: Path, command: Command) -> None:
    done = command("report", file)
    target = file.with_suffix(".html")
    assert (done.code, done.out) == (0, "")
    assert done.err == f"written to {target}\n"
    assert target.read_text(encoding="utf-8") == Result.read(file).report()
    # Our own page is replaced.
    assert command("report", file).code == 0


def test_the_page_goes_where_it_is_told(file: Path, tmp_path: Path, command: Command) -> None:
    assert command("report", file, "-o", tmp_path / "other.html").code == 0
    assert (tmp_path / "other.html").exists()
    done = command("report", file, "-o", "-")
    assert done.out == Result.read(file).report()
    assert done.err == ""


@pytest.mark.parametrize("name", ["result.json", "notes.html"])
def test_no_other_file_is_replaced(name: str, file: Path, tmp_path: Path, command: Command) -> None:
    (tmp_path / "notes.html").write_text("<!doctype html>\n<title>notes</title>", encoding="utf-8")
    before = (tmp_path / name).read_bytes()
    done = command("report", file, "-o", tmp_path / name)
    assert done.code == 2
    assert is_one_line(done.err)
    assert (tmp_path / name).read_bytes() == before


def test_a_file_that_is_no_result_is_refused(tmp_path: Path, command: Command) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    done = command("report", tmp_path / "data.csv")
    assert done.code == 2
    assert "this is a CSV file, not a result" in done.err
    assert not (tmp_path / "data.html").exists()


def test_a_file_that_is_not_private_is_warned_of(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "result.json"
    Result(document(redescription(true=TRUE), warning="NOT PRIVATE: true values")).save(path)
    assert command("report", path).err.startswith("NOT PRIVATE: true values\n")


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 2)])
def test_the_page_is_opened_on_request(
    code: int, expected: int, file: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []

    def launch(url: str) -> int:
        launched.append(url)
        return code

    monkeypatch.setattr(typer, "launch", launch)
    assert command("report", file, "--open").code == expected
    assert launched == [file.with_suffix(".html").as_uri()]


def test_standard_output_cannot_be_opened(file: Path, command: Command) -> None:
    done = command("report", file, "-o", "-", "--open")
    assert done.code == 2
    assert "name a file with --output" in done.err
