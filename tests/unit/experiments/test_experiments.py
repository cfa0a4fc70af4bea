from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from redveil.data.synthetic import wide_dataset, write_clinic
from redveil.experiments import convergence, significance
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


def test_the_papers_numbers_stand_beside_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right, schema = write_clinic(tmp_path, 300)
    paper = tmp_path / "paper.json"
    row = {"algorithm": "AltExpM", "epsilon": 1.0, "significant_percent": {"MAMMAL": 87.8}}
    ranks = {"MAMMAL": {"AltExpM": {"rho": 0.88}}}
    paper.write_text(
        json.dumps({"percent_significant": [row], "spearman_noisy_true_jaccard": ranks})
    )
    significance.main(left, right, schema, paper, runs=1, depth=2)
    printed = capsys.readouterr().out
    assert "87.8 %" in printed
    assert "0.88" in printed


def test_the_convergence_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, right, schema = write_clinic(tmp_path, 200)
    convergence.main(left, right, schema, depth=2, steps=300, walks=2)
    printed = capsys.readouterr().out
    assert [line.split()[:2] for line in printed.splitlines()[1:]] == [
        ["published", "purity"],
        ["hardened", "purity"],
        ["hardened", "association"],
    ]
