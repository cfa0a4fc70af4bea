from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from redveil.data.synthetic import wide_dataset
from redveil.errors import InputError
from redveil.experiments import console, convergence, significance
from redveil.experiments.significance import spearman, summarise


def test_a_summary_pools_runs() -> None:
    line = summarise(wide_dataset(2000, 20, 10), "alt-expm", "hardened", runs=3, epsilon=5)
    assert line.found > 0
    assert line.significant > 0.9
    assert line.difference < 0.1


def test_nothing_found_is_not_a_number_not_a_crash() -> None:
    line = summarise(wide_dataset(60, 2, 2), "alt-expm", "hardened", runs=2, epsilon="0.001")
    assert (line.found, line.empty) == (0, 2)
    assert np.isnan([line.significant, line.spearman, line.jaccard, line.difference]).all()


@pytest.mark.parametrize(
    ("first", "second", "rho"),
    [([1, 2, 3, 4], [2, 4, 6, 9], 1.0), ([1, 2, 3], [3, 2, 1], -1.0), ([1, 1, 2], [5, 5, 9], 1.0)],
)
def test_spearman(first: list[float], second: list[float], rho: float) -> None:
    assert spearman(np.array(first), np.array(second)) == pytest.approx(rho)


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


def test_the_papers_numbers_stand_next_to_ours(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = data / "paper.json"
    row = {"algorithm": "AltExpM", "epsilon": 1.0, "significant_percent": {"MAMMAL": 87.8}}
    ranks = {"MAMMAL": {"AltExpM": {"rho": 0.88}}}
    paper.write_text(
        json.dumps({"percent_significant": [row], "spearman_noisy_true_jaccard": ranks})
    )
    significance.main(data, "mammal", paper, runs=1, depth=2)
    printed = capsys.readouterr().out
    assert "87.8 %" in printed
    assert "0.88" in printed


def test_the_papers_numbers_must_be_json(data: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as JSON; check the path"):
        significance.main(data, paper=data / "mammals" / "left.csv", runs=1)


def test_the_convergence_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convergence.main(data, depth=2, walk_steps=300, walks=2, repeats=2)
    printed = capsys.readouterr().out
    assert [line.split()[:2] for line in printed.splitlines()[1:]] == [
        ["published", "purity"],
        ["hardened", "purity"],
        ["hardened", "association"],
    ]


@pytest.mark.parametrize("experiment", [convergence, significance])
def test_missing_files_are_named(experiment: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MAMMAL: .* has no mammals/left\.csv and no"):
        experiment.main(tmp_path)


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
