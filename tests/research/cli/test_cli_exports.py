from __future__ import annotations

from pathlib import Path

import pytest

from oracle.clired import read_queries
from redveil.report.result import Result
from redveil_research import latex_table
from support.clinic import mined_clinic
from support.command_line import Command
from support.console import is_one_line
from support.named import HOSTILE_NAMES, mined_with


@pytest.fixture
def file(tmp_path: Path) -> Path:
    mined_clinic().save(tmp_path / "result.json")
    return tmp_path / "result.json"


@pytest.mark.parametrize("full", [(), ("--full",)])
def test_latex_is_printed_or_written_and_the_one_before_kept(
    full: tuple[str, ...], file: Path, command: Command
) -> None:
    expected = latex_table(Result.read(file), full=bool(full)) + "\n"
    assert command("latex", file, *full).out == expected
    target = file.parent / "table.tex"
    for kept in (False, True):
        done = command("latex", file, *full, "-o", target)
        assert (done.code, done.out) == (0, "")
        assert ("previous list kept as" in done.err) is kept
    assert target.read_text(encoding="utf-8") == expected


def test_a_paper_is_not_taken_for_a_table(file: Path, command: Command) -> None:
    target = file.parent / "paper.tex"
    target.write_text("\\begin{tabular}{ll}\nmine & own")
    refused = command("latex", file, "-o", target)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert target.read_text() == "\\begin{tabular}{ll}\nmine & own"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_cannot_steer_the_terminal(name: str, tmp_path: Path, command: Command) -> None:
    mined_with(name).save(tmp_path / "result.json")
    shown = command("latex", tmp_path / "result.json", "--full")
    assert shown.code == 0
    assert "\x1b" not in shown.out


def test_queries_are_written_for_clired(file: Path, command: Command) -> None:
    queries = file.parent / "result.queries"
    done = command("clired", file, "-o", queries)
    assert done.code == 0
    assert f"written to {queries}" in done.err
    assert len(read_queries(queries)) == len(Result.read(file))


def test_queries_that_cannot_be_written_are_one_line(file: Path, command: Command) -> None:
    refused = command("clired", file, "-o", file.parent / "nowhere" / "a.queries")
    assert refused.code == 2
    assert is_one_line(refused.err)
    refused = command("clired", file, "-o", file)
    assert (refused.code, refused.out) == (2, "")
    assert "this command needs that file itself" in refused.err
