"""What was simulated is kept, and is what would be simulated again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from redveil.base.cache import Cache
from redveil.findings import critical_values, kept_simulations, term_noise
from redveil.findings.kept_simulations import kept
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree

PRICES = Prices(Fraction(1, 10))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept_simulations, "cache_of", lambda _: Cache(tmp_path))
    return tmp_path


def forget() -> None:
    critical_values._for_all_unions.cache_clear()
    critical_values._for_all_weightings.cache_clear()
    critical_values._largest_leverages.cache_clear()
    critical_values._largest_bound.cache_clear()
    term_noise._bounds.cache_clear()


def table(depth: int) -> LeafTable:
    left, right = (Tree(side, (0,) * (2**depth - 1)) for side in Side)
    counts = np.random.default_rng(1).integers(0, 90, (2**depth, 2**depth))
    return LeafTable(left, right, counts, None, None, PRICES)


@pytest.mark.parametrize("depth", [1, 3])
def test_critical_values_from_disk_are_those_that_were_simulated(depth: int, folder: Path) -> None:
    one = table(depth)
    left, right = (term_ends(tree, inner=True) for tree in (one.left, one.right))

    def values() -> list[object]:
        forget()
        return [
            critical_values.question_critical_values(one),
            critical_values.weighting_critical_values(one),
            critical_values.report_critical_values(one, left, right, 3),
        ]

    first = values()
    entries = {path.name: path.read_bytes() for path in folder.glob("[!.]*")}
    assert entries
    assert values() == first
    for path in folder.glob("[!.]*"):
        path.unlink()
    assert values() == first
    assert {path.name: path.read_bytes() for path in folder.glob("[!.]*")} == entries
    forget()


def test_nothing_is_simulated_twice(folder: Path) -> None:
    calls: list[int] = []

    def simulate() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        calls.append(1)
        return np.array([0.1, np.pi])

    found = [kept("x", (PRICES, 3), simulate).tolist() for _ in range(3)]
    assert found == [[0.1, np.pi]] * 3
    assert len(calls) == 1
    kept("x", (PRICES, 4), simulate)
    kept("y", (PRICES, 3), simulate)
    assert (len(calls), len(list(folder.glob("[!.]*")))) == (3, 3)


def test_other_code_simulates_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept("x", (), lambda: np.zeros(1))
    monkeypatch.setattr(kept_simulations, "_version", lambda: ("2.0", "changed"))
    assert kept("x", (), lambda: np.ones(1)).tolist() == [1.0]
    assert len(list(folder.glob("[!.]*"))) == 2
