from __future__ import annotations

import builtins
from pathlib import Path
from typing import get_args

import matplotlib as mpl
import numpy as np
import pytest

from redveil.errors import InputError
from redveil.report.figures.kinds import FigureKind, draw
from redveil.report.figures.traces import traces
from redveil.report.result import Result
from support.clinic import NOTHING, mined_clinic

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", MAGIC)
def test_every_figure_is_written_in_the_format_asked_for(
    tmp_path: Path, kind: FigureKind, suffix: str
) -> None:
    path = tmp_path / f"plot{suffix}"
    mined_clinic().plot(kind, path)
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert path.stat().st_size > 4000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, kind: FigureKind, suffix: str) -> None:
    first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    for path in (first, second):
        mined_clinic().plot(kind, path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_without_entries_still_gives_a_picture(tmp_path: Path, kind: FigureKind) -> None:
    mined_clinic(NOTHING).plot(kind, tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000


def test_a_user_s_own_settings_do_not_matter(tmp_path: Path) -> None:
    result, path = mined_clinic(), tmp_path / "usual.svg"
    result.plot("scatter", path)
    with mpl.rc_context({"text.usetex": True, "font.size": 30, "svg.fonttype": "path"}):
        result.plot("scatter", tmp_path / "same.svg")
        assert mpl.rcParams["font.size"] == 30
    assert (tmp_path / "same.svg").read_bytes() == path.read_bytes()


def test_kinds_and_pairs_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    document = mined_clinic().document
    pairs = len(document.tree_pairs)
    for number in (0, -1, pairs + 1):
        with pytest.raises(InputError, match=f"no pair of trees {number}; choose 1 to {pairs}$"):
            draw(document, "trees", tmp_path / "no.png", number)
    with pytest.raises(InputError, match="use one of scatter, trees, ribbons, table, budget"):
        draw(document, "pie", tmp_path / "no.png")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="scatter shows the whole result; leave pair out"):
        draw(document, "scatter", tmp_path / "no.png", 1)
    alone = Result(document.model_copy(update={"tree_pairs": (), "redescriptions": ()}))
    with pytest.raises(InputError, match="holds no pair of trees, so there is nothing to draw"):
        alone.plot("table", tmp_path / "no.png")
    assert not list(tmp_path.iterdir())


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
