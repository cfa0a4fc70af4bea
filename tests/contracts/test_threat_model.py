"""Every test that the threat model names is there."""

from __future__ import annotations

import re

import pytest

from support.source import REPOSITORY

PAGE = (REPOSITORY / "docs" / "explanation" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED)))
def test_a_named_test_exists(path: str, name: str) -> None:
    assert f"def {name}(" in (REPOSITORY / path).read_text(encoding="utf-8")


def test_every_defence_names_a_test() -> None:
    assert [row for row in ROWS if "::" not in row and "| attack |" not in row] == []
    assert len(NAMED) > 30
