"""What figures say, read back from SVG files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import redveil
from redveil.report.document import IntervalPart, PointPart
from redveil.report.result import Result
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil_research import plot
from redveil_research.figures.pair import drawn_pair
from redveil_research.figures.plot import FigureKind
from support.clinic import NOTHING, mined_clinic
from support.results import document, redescription

OF_PAIRS: tuple[FigureKind, ...] = ("trees", "table")
HOSTILE = [
    r"$\frac{1}{0}$ $x_i",
    "two\nlines\tand a tab",
    "\u202eright to left\u202c",
    "שלום עולם",
    "日本語の名前",
    "x" * 400,
    "a word " * 60,
    "<script>alert('&')</script>",
    "\x1b[31mred\x07",
    "%s {0} \\n",
]


def texts(result: Result, kind: FigureKind, folder: Path, **options: int) -> list[str]:
    """Draw a figure and return its texts; one of several lines is one text."""
    path = folder / f"{kind}.svg"
    plot(result, kind, path, **options)
    name = "{http://www.w3.org/2000/svg}"
    return [
        " ".join("".join(part.itertext()).strip() for part in one.iter() if part.text)
        for one in ElementTree.fromstring(path.read_bytes()).iter(f"{name}text")
    ]


@cache
def mined_with(name: str) -> Result:
    """Return a result whose attributes, views and unit have this name."""
    values = [bool(number % 2) for number in range(400)]
    schema = Schema(
        name,
        View(name, "id", (Attribute(name, Kind.BOOLEAN, required=True),)),
        View(f"{name} too", "id", (Attribute(f"{name} too", Kind.BOOLEAN, required=True),)),
        unit=name,
    )
    left, right = (pa.table({"id": range(400), one: values}) for one in (name, f"{name} too"))
    return redveil.mine(redveil.load(left, right, schema), epsilon=50, min_jaccard=0.5)


def test_the_scatter_plot_numbers_every_entry_once(tmp_path: Path) -> None:
    result = mined_clinic()
    drawn = texts(result, "scatter", tmp_path)
    ticks = re.compile(r"[\d,]+|\d\.\d")
    assert len(result) > 1
    for number in range(1, len(result) + 1):
        assert str(number) in drawn, number
    assert "patients in both (noisy)" in drawn
    assert "expected if unrelated" in drawn
    assert any(ticks.fullmatch(one) for one in drawn)


def test_numbers_of_many_entries_do_not_overlap(tmp_path: Path) -> None:
    # Two hundred entries at nearly the same place: each gets a place of its own, or none.
    one = redescription(confirmed=True)
    plot(Result(document(*[one] * 200)), "scatter", tmp_path / "many.svg")
    tree = ElementTree.fromstring((tmp_path / "many.svg").read_bytes())
    places = [
        (float(text.get("x", "nan")), float(text.get("y", "nan")))
        for text in tree.iter("{http://www.w3.org/2000/svg}text")
        if "font-weight: 700" in text.get("style", "") and (text.text or "").isdigit()
    ]
    assert len(places) > 20
    for place, (x, y) in enumerate(places):
        for other_x, other_y in places[place + 1 :]:
            assert abs(x - other_x) > 4 or abs(y - other_y) > 6


@pytest.mark.parametrize("kind", OF_PAIRS)
def test_each_pair_shows_its_own_tests_and_entries(tmp_path: Path, kind: FigureKind) -> None:
    result = mined_clinic()
    for number in range(1, len(result.document.tree_pairs) + 1):
        pair = drawn_pair(result.document, number)
        drawn = " ".join(texts(result, kind, tmp_path, pair=number))
        for side in Side:
            tests = [one.test for one in pair.roots[side].below]
            if kind == "table":
                tests = [test for words in pair.words[side] for test in words]
            else:
                assert pair.views[side] in drawn
            assert all(test in drawn for test in tests)
        if kind == "table":
            assert f"{pair.cells.max():,.0f}" in drawn
            assert f"{pair.low.max():,.0f} to {pair.high.max():,.0f}" in drawn
    assert "of 4" in drawn


def test_trees_join_the_leaves_of_each_entry(tmp_path: Path) -> None:
    result = mined_clinic()
    drawn = texts(result, "trees", tmp_path)
    source = result.redescriptions[0].source.tree_pair
    here = [
        number
        for number, one in enumerate(result.redescriptions, start=1)
        if one.source.tree_pair == source
    ]
    assert all(str(number) in drawn for number in here[:24])


def test_a_promise_that_is_not_met_is_not_claimed(tmp_path: Path) -> None:
    drafted = texts(mined_clinic(draft=True), "scatter", tmp_path)
    assert any("ε = 3 (NOT MET)" in one for one in drafted)
    assert not any("NOT MET" in one for one in texts(mined_clinic(), "scatter", tmp_path))


def test_an_empty_list_is_said_in_a_line(tmp_path: Path) -> None:
    nothing = mined_clinic(NOTHING)
    assert "Nothing was found, so there is nothing to draw." in texts(nothing, "scatter", tmp_path)
    assert "No entry of the list was read off this pair." in texts(nothing, "trees", tmp_path)


@pytest.mark.parametrize("kind", ["scatter", *OF_PAIRS])
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("error")
def test_hostile_names_are_drawn_literally(tmp_path: Path, name: str, kind: FigureKind) -> None:
    drawn = texts(mined_with(name), kind, tmp_path)
    # Shortened in the middle, and on one line, but otherwise as it is.
    literal = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    beginning = literal[:10]
    assert any(beginning in one.replace(" ", "") or beginning in one for one in drawn)
    assert all(one.isprintable() for one in drawn)
    assert all(len(one) < 150 for one in drawn)


@pytest.mark.slow
@pytest.mark.uncovered
@pytest.mark.parametrize("kind", OF_PAIRS)
def test_hostile_names_are_drawn_in_every_format(tmp_path: Path, kind: FigureKind) -> None:
    for name in HOSTILE:
        for suffix in (".png", ".pdf"):
            plot(mined_with(name), kind, tmp_path / f"hostile{suffix}")


def test_large_tables_have_counts_and_the_largest_only_colours(tmp_path: Path) -> None:
    # The ends of a tree of depth 3 are too many for intervals, those of depth 4 for counts.
    sizes = {}
    for depth in (3, 4):
        result = mined_clinic(depth=depth, alternations=1, trials=1)
        pair = drawn_pair(result.document)
        drawn = texts(result, "table", tmp_path, pair=pair.number)
        sizes[depth] = max(pair.cells.shape)
        counts = f"{pair.cells.max():,.0f}" in drawn
        assert counts is (sizes[depth] <= 20)
        assert not any(" to " in one for one in drawn)
        assert any("framed" in one for one in drawn)
    assert 9 < sizes[3] <= 20 < sizes[4]


def test_supports_of_any_size_can_be_told_apart(tmp_path: Path) -> None:
    one = redescription(confirmed=True)
    few, many = (
        one.model_copy(update={"support": one.support.model_copy(update={"both": both})})
        for both in (
            IntervalPart(estimate=20, low=10, high=30),
            IntervalPart(estimate=90_000, low=80_000, high=100_000),
        )
    )
    wide = document(few, many).model_copy(
        update={"pruned": (PointPart(support=30, jaccard=0.2), PointPart(support=3, jaccard=0.1))}
    )
    drawn = texts(Result(wide), "scatter", tmp_path)
    assert {"1", "2", "100", "10,000", "pruned (2)"} <= set(drawn)
