"""Public data sets, if they are there: drafted, saved, read, loaded; in pieces and as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from redveil.data.draft import draft
from redveil.data.loading import load
from redveil.schema import Schema
from redveil.sealed import open_for_owner
from support.pieces import must_be_the_same_in_pieces

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"

PAIRS = [
    ("npas", "left.csv", "right.csv", 1731, 80),
    ("npas", "feb2016_left.csv", "feb2016_right.csv", 1223, 79),
    *(
        pytest.param(*pair, marks=pytest.mark.slow)
        for pair in (
            ("mammals", "left.csv", "right.csv", 2575, 242),
            ("mimic3_demo", "left.csv", "right.csv", 129, 700),
            ("rwas", "left.csv", "right.csv", 8854, 66),
            ("cms_desynpuf", "sample02_left.csv", "sample02_right.csv", 10_000, 240),
            ("cms_desynpuf", "all18_left.csv.gz", "all18_right.csv.gz", 180_000, 240),
            ("dblp", "left.csv", "right.csv.gz", 2300, 2319),
            ("diabetes130", "left.csv.gz", "right.csv.gz", 71_518, 249),
        )
    ),
]


def present(folder: str, left: str, right: str) -> tuple[Path, Path]:
    """Return two files, or skip the test."""
    pair = SHARED / folder / left, SHARED / folder / right
    if not all(path.exists() for path in pair):
        pytest.skip(f"{folder} is not in {SHARED}")
    return pair


@pytest.mark.parametrize(("folder", "left", "right", "rows", "columns"), PAIRS)
def test_a_draft_loads_its_data(
    tmp_path: Path, folder: str, left: str, right: str, rows: int, columns: int
) -> None:
    pair = present(folder, left, right)
    found = draft(*pair)
    found.save(tmp_path / "datapackage.json")
    schema = Schema.read(tmp_path / "datapackage.json")
    assert schema == found.schema
    dataset = load(*pair, schema)
    report = open_for_owner(dataset.report)
    assert (report.joined, report.left.only, report.right.only) == (rows, 0, 0)
    assert report.left.ignored == report.right.ignored == ()
    assert len(report.attributes) == columns
    assert sum(a.outside + a.undeclared for a in report.attributes) == 0


@pytest.mark.parametrize(("folder", "left", "right", "rows", "columns"), PAIRS)
def test_pieces_of_a_file_are_the_file(
    monkeypatch: pytest.MonkeyPatch, folder: str, left: str, right: str, rows: int, columns: int
) -> None:
    pair = present(folder, left, right)
    # Wide tables have long rows: some hundred rows a block, so that many end in a row.
    size = max(columns * rows // 20, 2**14)
    schema = draft(*pair).schema
    assert must_be_the_same_in_pieces(*pair, schema, size, monkeypatch, packed=True) > 8
