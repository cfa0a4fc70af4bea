"""Fixtures of the command line's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import Clinic, Command, caller


@pytest.fixture
def clinic_files(tmp_path: Path) -> Clinic:
    return Clinic.write(tmp_path / "clinic")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    # pytest-xdist sets it, and output is as wide as it says.
    monkeypatch.delenv("COLUMNS", raising=False)
    return caller(monkeypatch, capsys)
