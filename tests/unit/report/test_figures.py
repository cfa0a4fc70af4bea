from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pytest

import redveil
from redveil.data.synthetic import wide_dataset
from redveil.errors import InputError
from redveil.report.figures import scatter, traces

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_scatter_plot_is_written_in_the_format_asked_for(tmp_path: Path, suffix: str) -> None:
    result = redveil.mine(
        wide_dataset(500, 6, 4), 1, profile="published", alternations=1, depth=2, prune=200
    )
    path = tmp_path / f"plot{suffix}"
    scatter(result.document, path)
    assert path.read_bytes().startswith(MAGIC[suffix])


def test_a_result_without_anything_still_gives_a_picture(tmp_path: Path) -> None:
    result = redveil.mine(wide_dataset(50, 2, 2), "0.001")
    scatter(result.document, tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000


def test_traces_are_drawn(tmp_path: Path) -> None:
    traces(np.random.default_rng(1).normal(size=(3, 50)), tmp_path / "walks.svg")
    drawn = (tmp_path / "walks.svg").read_text()
    assert "NOT PRIVATE" in drawn
    assert drawn.count('id="line2d_') >= 3


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown kind of figure"):
        traces(np.zeros((2, 3)), tmp_path / "walks.gif")


def test_without_matplotlib_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match="pip install"):
        traces(np.zeros((2, 3)), tmp_path / "walks.png")


FOREIGN = {
    ".png": b"\x89PNG\r\n\x1a\n a picture of a house",
    ".svg": b"<?xml version='1.0'?><configuration/>",
    ".pdf": b"%PDF-1.7 my thesis " + 100_000 * b"-",
}


@pytest.mark.parametrize("suffix", FOREIGN)
def test_only_our_own_figures_are_replaced_and_they_are_kept(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"figure{suffix}"
    path.write_bytes(FOREIGN[suffix])
    scores = np.random.default_rng(1).normal(size=(3, 5000))
    with pytest.raises(InputError, match="not replaced, because it is a"):
        traces(scores, path)
    assert path.read_bytes() == FOREIGN[suffix]
    path.unlink()
    assert traces(scores, path) is None
    first = path.read_bytes()
    kept = traces(scores[:1], path)
    assert kept == tmp_path / f"figure{suffix}.1"
    assert kept.read_bytes() == first
