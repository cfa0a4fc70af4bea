"""Walks are diagnosed from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import Clinic, Command


def test_diagnose_is_loud_and_draws(clinic_files: Clinic, command: Command, tmp_path: Path) -> None:
    picture = tmp_path / "walks.png"
    done = command(
        "diagnose",
        clinic_files.left,
        clinic_files.right,
        "-e",
        1,
        "--steps",
        400,
        "--plot",
        picture,
    )
    assert done.code == 0
    assert "NOT PRIVATE" in done.err
    assert "split-R̂" in done.out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_diagnose_is_loud_without_a_picture_too(clinic_files: Clinic, command: Command) -> None:
    done = command("diagnose", clinic_files.left, clinic_files.right, "-e", 1, "--steps", 100)
    assert done.code == 0
    assert done.err.startswith("NOT PRIVATE")


@pytest.mark.parametrize("profile", ["hardened", "published"])
def test_a_profile_can_be_diagnosed(clinic_files: Clinic, command: Command, profile: str) -> None:
    tables = clinic_files.left, clinic_files.right
    done = command("diagnose", *tables, "-e", 1, "--steps", 600, "--profile", profile)
    assert done.code == 0
    assert "4 walks of 600 steps" in done.out
    # The published score is at most 1; the hardened one counts entities.
    last = done.out.splitlines()[-1]
    score = float(last.removeprefix("score at the end ").split(" ")[0].replace(",", ""))
    assert (score <= 1) == (profile == "published")
