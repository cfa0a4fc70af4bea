"""Narrow terminals: labels stay, nothing is cut off."""

from __future__ import annotations

import pytest

from support.command_line import Clinic, Command

WIDTHS = [40, 60, 80, 100, 160]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("algorithm", ["twin", "alt-expm"])
def test_no_case_of_a_plan_is_cut_off(
    algorithm: str, width: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = command("plan", "--epsilon", "1", "--algorithm", algorithm)
    assert (done.code, done.err) == (0, "")
    assert max(len(line) for line in done.out.splitlines()) <= width
    assert "…" not in done.out
    words = " ".join(done.out.split())
    for word in ("strongly related", "scout") if algorithm == "twin" else ("99/200", "33/400"):
        assert word in words
    assert "±2.87" in done.out
    # A row for every case, or a block with a title.
    title, wide = ("entities 450\n", 100) if algorithm == "twin" else ("entities from 6,000\n", 80)
    assert (title in done.out) == (width < wide)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_step_of_a_plan_is_cut_off(
    width: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = command("plan", "--epsilon", "1/3", "--entities", "5000")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in done.out
    assert ["sum", "1/3"] in [line.split() for line in lines]
    assert "Trial 1 is a scout." in " ".join(done.out.split())


@pytest.mark.uncovered
@pytest.mark.parametrize("width", [40, 80])
def test_no_finding_of_an_audit_is_cut_off(
    width: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    options = "--runs 400 --algorithm alt-expm --profile published"
    out = command("audit", *options.split()).out
    assert max(len(line) for line in out.splitlines()) <= width
    assert "…" not in out
    words = out.split()
    assert "VIOLATION," in words
    assert "alt-expm" in words


@pytest.mark.parametrize("width", WIDTHS)
def test_every_leaf_that_can_be_asked_about_is_told_apart(
    width: int, clinic_files: Clinic, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(*clinic_files.mine, "-q", "--depth", "2").code == 0
    monkeypatch.setenv("COLUMNS", str(width))
    out = command("ask", clinic_files.result).out
    assert max(len(line) for line in out.splitlines()) <= width
    if width < 120:
        # One dash for each of at least two leaves on either side.
        assert out.count(" - ") >= 4
        assert "1 left   - " in out
        assert "1 right  - " in out


def test_columns_count_only_where_they_are_set(clinic_files: Clinic, command: Command) -> None:
    assert command(*clinic_files.mine, "-q").code == 0
    assert max(map(len, command("show", clinic_files.result).out.splitlines())) > 80


@pytest.mark.parametrize("width", WIDTHS)
def test_what_only_the_owner_sees_keeps_its_label(
    width: int, clinic_files: Clinic, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    command(*clinic_files.mine, "-q")
    lines = command(*clinic_files.mine).err.splitlines()
    assert len([line for line in lines if "missing" in line]) > 3
    assert all(line.startswith("owner only: ") for line in lines[:-3])
    assert [line.split()[0] for line in lines[-3:]] == ["previous", "recorded", "written"]
