"""Documents speak of the project, not of the machine it was written on."""

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


# Put together here, so that this file holds no such place itself.
@pytest.mark.parametrize("top", ["home", "tmp", "root", "work", "Users"])
@pytest.mark.parametrize("before", ["see ", "`", "cd "])
def test_machine_paths_are_seen(before: str, top: str) -> None:
    assert MACHINE_PATH.search(before + "/".join(["", top, "ann", "x"]))


def test_drives_are_seen() -> None:
    assert MACHINE_PATH.search("C:" + "\\" + "data")


@pytest.mark.parametrize("before", ["docs", "a", "https://example.org"])
@pytest.mark.parametrize("top", ["home", "tmp"])
def test_other_paths_are_left_alone(before: str, top: str) -> None:
    assert not MACHINE_PATH.search("/".join([before, top, "x"]))
    assert not MACHINE_PATH.search("and/or")
