from __future__ import annotations

from pathlib import Path
from typing import get_args

import matplotlib as mpl
import numpy as np
import pytest

import redveil
from redveil.errors import InputError
from redveil.report.result import Result
from redveil_research import plot, plot_detectable
from redveil_research.figures.plot import FigureKind
from redveil_research.figures.plot import plot_traces as traces
from support.clinic import NOTHING, mined_clinic

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", MAGIC)
def test_every_figure_is_written_in_the_format_asked_for(
    tmp_path: Path, kind: FigureKind, suffix: str
) -> None:
    path = tmp_path / f"plot{suffix}"
    plot(mined_clinic(), kind, path)
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert path.stat().st_size > 4000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, kind: FigureKind, suffix: str) -> None:
    first, second = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    for path in (first, second):
        plot(mined_clinic(), kind, path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_without_entries_still_gives_a_picture(tmp_path: Path, kind: FigureKind) -> None:
    plot(mined_clinic(NOTHING), kind, tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000


def test_a_user_s_own_settings_do_not_matter(tmp_path: Path) -> None:
    result, path = mined_clinic(), tmp_path / "usual.svg"
    plot(result, "scatter", path)
    with mpl.rc_context({"text.usetex": True, "font.size": 30, "svg.fonttype": "path"}):
        plot(result, "scatter", tmp_path / "same.svg")
        assert mpl.rcParams["font.size"] == 30
    assert (tmp_path / "same.svg").read_bytes() == path.read_bytes()


def test_kinds_and_pairs_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    result = mined_clinic()
    document = result.document
    pairs = len(document.tree_pairs)
    for number in (0, -1, pairs + 1):
        with pytest.raises(InputError, match=f"no pair of trees {number}; choose 1 to {pairs}$"):
            plot(result, "trees", tmp_path / "no.png", pair=number)
    with pytest.raises(InputError, match="use one of scatter, trees, table"):
        plot(result, "pie", tmp_path / "no.png")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="scatter shows the whole result; leave pair out"):
        plot(result, "scatter", tmp_path / "no.png", pair=1)
    alone = Result(document.model_copy(update={"tree_pairs": (), "redescriptions": ()}))
    with pytest.raises(InputError, match="holds no pair of trees, so there is nothing to draw"):
        plot(alone, "table", tmp_path / "no.png")
    assert not list(tmp_path.iterdir())


def test_traces_are_drawn(tmp_path: Path) -> None:
    traces(np.random.default_rng(1).normal(size=(3, 50)), tmp_path / "walks.svg")
    drawn = (tmp_path / "walks.svg").read_text()
    assert "NOT PRIVATE" in drawn
    assert drawn.count('id="line2d_') >= 3


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown kind of figure"):
        traces(np.zeros((2, 3)), tmp_path / "walks.gif")


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


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_what_runs_would_detect_is_drawn(kind: str, tmp_path: Path) -> None:
    found = redveil.detectable(1, entities=5_000)
    path = tmp_path / f"detect.{kind}"
    plot_detectable(found, path)
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert path.read_bytes().startswith(begin)
    with pytest.raises(InputError, match="unknown kind of figure"):
        plot_detectable(found, tmp_path / "detect.gif")


def test_where_nothing_is_detected_the_picture_is_empty(tmp_path: Path) -> None:
    nothing = redveil.detectable("0.001", entities=50)
    assert all(limit.found is None for one in nothing.detections for limit in one.limits.values())
    plot_detectable(nothing, tmp_path / "nothing.svg")
