"""redveil alone, without redveil-research: its commands are absent, and say where they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from redveil.cli.app import IN_RESEARCH
from redveil_research.cli import COMMANDS
from support.clinic import mined_clinic
from support.source import REPOSITORY


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of everything that is installed, without redveil-research."""
    folder = tmp_path_factory.mktemp("installed")
    for one in Path(np.__file__).parents[1].iterdir():
        if "redveil_research" not in one.name and one.suffix != ".pth":
            (folder / one.name).symlink_to(one)
    return folder


def redveil(alone: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, (REPOSITORY / "src", alone)))
    return subprocess.run(
        [sys.executable, "-S", "-m", "redveil", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONPATH": path},
    )


def test_the_commands_are_those_that_redveil_knows_of() -> None:
    assert sorted(IN_RESEARCH) == sorted(name for name, *_ in COMMANDS)


def test_its_commands_are_absent(alone: Path) -> None:
    done = redveil(alone, "--help")
    assert done.returncode == 0
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert "mine" in listed
    assert not listed & set(IN_RESEARCH)


def test_calling_one_says_how_to_install_it(alone: Path) -> None:
    done = redveil(alone, "plot", "scatter", "result.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "redveil: plot is a command of redveil-research; install that with redveil: "
        "pip install . ./packages/research\n"
    )
    unknown = redveil(alone, "nonsense")
    assert unknown.returncode == 2
    assert "redveil-research" not in unknown.stderr


def test_results_are_shown(alone: Path, tmp_path: Path) -> None:
    mined_clinic().save(tmp_path / "result.json")
    done = redveil(alone, "show", tmp_path / "result.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Privacy certificate" in done.stdout
