from __future__ import annotations

from pathlib import Path

import pytest

from support.clinic import mined_clinic
from support.command_line import Command


@pytest.fixture
def result(tmp_path: Path) -> Path:
    mined_clinic().save(tmp_path / "result.json")
    return tmp_path / "result.json"


@pytest.mark.parametrize("kind", ["scatter", "trees", "table"])
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


def test_nothing_is_drawn_or_written_over_somebody_elses_table(
    command: Command, result: Path
) -> None:
    other = result.parent / "figure.png"
    other.write_text("id,age\n1,41\n")
    for arguments in (("plot", "scatter"), ("latex",), ("clired",)):
        refused = command(*arguments, result, "-o", other)
        assert (refused.code, refused.out) == (2, "")
        assert "not replaced, because it is a CSV file" in refused.err
    assert other.read_text() == "id,age\n1,41\n"
