"""The load report omits zeros and shortens long lists."""

from __future__ import annotations

from redveil.data.report import AttributeCounts, LoadReport
from redveil.schema import Side


def test_zeros_are_omitted() -> None:
    counts = (AttributeCounts(Side.LEFT, "age"),)
    assert LoadReport(7, attributes=counts).lines() == ["7 entities in both views"]


def test_entities_have_the_declared_unit_and_thousands_a_separator() -> None:
    counts = (AttributeCounts(Side.LEFT, "age", missing=1200),)
    report = LoadReport(5000, left_only=1, attributes=counts, unit="patient")
    assert report.lines() == [
        "5,000 patients in both views",
        "1 patient in the left view only: dropped",
        "left, age: 1,200 missing",
    ]


def test_all_counts_are_reported() -> None:
    report = LoadReport(
        joined=1,
        left_only=1,
        right_only=3,
        attributes=(
            AttributeCounts(Side.LEFT, "age", missing=2, clamped=1),
            AttributeCounts(Side.LEFT, "size"),
            AttributeCounts(Side.RIGHT, "sex", undeclared=4),
        ),
        ignored_left=("note", "when"),
        ignored_right=("x",),
    )
    assert report.lines() == [
        "1 entity in both views",
        "1 entity in the left view only: dropped",
        "3 entities in the right view only: dropped",
        "left, columns not in the schema: note, when",
        "right, columns not in the schema: x",
        "left, age: 2 missing, 1 clamped to a bound",
        "right, sex: 4 in undeclared categories, now missing",
    ]


def test_long_lists_are_shortened() -> None:
    names = tuple(f"c{i}" for i in range(30))
    counts = tuple(AttributeCounts(Side.LEFT, name, missing=1) for name in names)
    lines = LoadReport(1, attributes=counts, ignored_left=names).lines()
    assert lines[1].endswith("c18, c19, … and 10 more")
    assert lines[-1] == "… and 10 more"
    assert len(lines) == 1 + 1 + 20 + 1
