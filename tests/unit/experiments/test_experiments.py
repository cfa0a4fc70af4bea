from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from redveil.errors import InputError
from redveil.experiments import console, convergence


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a small data set called MAMMAL: two species that live where it is warm."""
    rng = np.random.default_rng(1)
    warm = rng.uniform(-10, 30, 300)
    left = [f"{i},{int(t > 5)},{int(t > 15)}" for i, t in enumerate(warm)]
    right = [f"{i},{t:.1f},{100 - t:.0f}" for i, t in enumerate(warm)]
    (tmp_path / "mammals").mkdir()
    for side, lines in (("left", ["id,Mouse,Hare", *left]), ("right", ["id,t1~,p1~", *right])):
        (tmp_path / "mammals" / f"{side}.csv").write_text("\n".join(lines))
    return tmp_path


def test_the_convergence_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convergence.main(data, depth=2, walk_steps=300, walks=2, repeats=2)
    printed = capsys.readouterr().out
    assert [line.split()[:2] for line in printed.splitlines()[1:]] == [
        ["published", "purity"],
        ["hardened", "purity"],
        ["hardened", "association"],
    ]


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MAMMAL: .* has no mammals/left\.csv and no"):
        convergence.main(tmp_path)


def test_an_error_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["convergence", str(tmp_path)])
    with pytest.raises(SystemExit, match="2"):
        console.run(convergence.main)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: MAMMAL: ")
    assert printed.err.count("\n") == 1
