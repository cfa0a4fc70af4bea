from __future__ import annotations

import sys

import pytest

from redveil_research.experiments import console, worth


def test_an_error_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["worth", "/nowhere"])
    with pytest.raises(SystemExit, match="2"):
        console.run(worth.main)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: /nowhere: no such folder")
    assert printed.err.count("\n") == 1
