"""What people read speaks of the project, not of the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.source import REPOSITORY

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work|Users|tmp|mnt|private|var)/\w|\b[A-Z]:\\")


def documents() -> list[Path]:
    folders = [REPOSITORY / name for name in ("docs", "benchmarks", "src")]
    found = [path for folder in folders for path in folder.rglob("*.md")]
    return sorted([*REPOSITORY.glob("*.md"), *found])


@pytest.mark.parametrize(
    "path", documents(), ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)
def test_a_document_names_no_place_on_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [found[0] for found in MACHINE_PATH.finditer(text)] == []


def test_there_is_a_readme() -> None:
    assert REPOSITORY / "README.md" in documents()


@pytest.mark.parametrize("text", ["see /home/ann/x", "`/tmp/y`", "C:\\data", "cd /root/z"])
def test_machine_paths_are_seen(text: str) -> None:
    assert MACHINE_PATH.search(text)


@pytest.mark.parametrize("text", ["and/or", "docs/home/x", "https://example.org/home/x", "a/tmp/b"])
def test_other_paths_are_left_alone(text: str) -> None:
    assert not MACHINE_PATH.search(text)
