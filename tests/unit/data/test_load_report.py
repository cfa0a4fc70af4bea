"""The load report omits zeros and shortens long lists."""

from __future__ import annotations

from redveil.data.report import AttributeCounts, LoadReport, Slip, ViewCounts
from redveil.schema import Side


def test_zeros_are_omitted() -> None:
    counts = (AttributeCounts(Side.LEFT, "age"),)
    assert LoadReport(7, attributes=counts).lines() == ["7 entities in both views"]


def test_entities_have_the_declared_unit_and_thousands_a_separator() -> None:
    counts = (AttributeCounts(Side.LEFT, "age", missing=1200),)
    report = LoadReport(5000, left=ViewCounts(only=1), attributes=counts, unit="patient")
    assert report.lines() == [
        "5,000 patients in both views",
        "1 patient in the left view only: left out",
        "left, age: 1,200 missing",
    ]


def test_all_counts_are_reported() -> None:
    report = LoadReport(
        joined=1,
        incomplete=4,
        left=ViewCounts(only=1, repeated=2, keyless=1, ignored=("note", "when")),
        right=ViewCounts(only=3, keyless=5, ignored=("x",)),
        attributes=(
            AttributeCounts(Side.LEFT, "age", missing=2, outside=1),
            AttributeCounts(Side.LEFT, "size"),
            AttributeCounts(Side.RIGHT, "sex", undeclared=4, unreadable=7, lacking=4),
        ),
    )
    assert report.lines() == [
        "1 entity in both views",
        "1 entity in the left view only: left out",
        "3 entities in the right view only: left out",
        "2 entities with several rows in the left view: left out",
        "1 row without an entity key in the left view: left out",
        "5 rows without an entity key in the right view: left out",
        "4 entities without a required value: left out",
        "left, columns not in the schema: note, when",
        "right, columns not in the schema: x",
        "left, age: 2 missing, 1 outside the bounds",
        "right, sex: 4 in undeclared categories, now missing, 7 unreadable, now missing, "
        "required, so left out",
    ]


def test_long_lists_are_shortened() -> None:
    names = tuple(f"c{i}" for i in range(30))
    counts = tuple(AttributeCounts(Side.LEFT, name, missing=1) for name in names)
    lines = LoadReport(1, left=ViewCounts(ignored=names), attributes=counts).lines()
    assert lines[1].endswith("c18, c19, … and 10 more")
    assert lines[-1] == "… and 10 more"
    assert len(lines) == 1 + 1 + 20 + 1


def test_one_in_a_hundred_is_not_alarming_and_more_is() -> None:
    def report(count: int) -> LoadReport:
        return LoadReport(
            1000 - count,
            incomplete=count,
            left=ViewCounts(repeated=0 if count == 10 else 30, keyless=0 if count == 10 else 30),
            attributes=(
                AttributeCounts(Side.LEFT, "age", unreadable=count),
                AttributeCounts(Side.RIGHT, "sex", undeclared=count),
            ),
        )

    assert report(10).warnings() == []
    assert report(11).warnings() == [
        "left: 2.9 % of the entities have several rows",
        "left: 2.9 % of the rows have no entity key",
        "1.1 % of the entities lack a required value",
        "left, age: 1.1 % of the values are unreadable and count as missing",
        "right, sex: 1.1 % of the values are undeclared categories and count as missing",
    ]


def test_an_empty_join_is_alarming() -> None:
    assert LoadReport(0).warnings()[0].startswith("no entity was loaded")


def test_details_name_places_and_the_number_of_others() -> None:
    slip = Slip("not a number", "counts as missing", "correct it", 3, ("a.csv, line 2, column x",))
    assert LoadReport(9, slips=(slip,)).details() == [
        "a.csv, line 2, column x: not a number; correct it",
        "… and 2 more like it",
    ]
