"""Drafts of the files people have: decimal commas, dates, slips, sheets; notes on both tables."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from frictionless import Package
from hypothesis import given
from hypothesis import strategies as st

from redveil.data.draft import Draft, draft
from redveil.data.loading import load
from redveil.data.table import CodedColumn, NumericColumn
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, Side
from redveil.schema.dates import DateRule
from redveil.sealed import open_for_owner
from support.workbooks import write_xlsx

READ = "minimum and maximum taken from the data, rounded outwards"
SURE = "; no missing values"


def drafted(folder: Path, values: list[Any], other: str = "", delimiter: str = ",") -> Draft:
    """Draft a file with a column x, and perhaps a column of other values."""
    lines = [delimiter.join(("id", "x", "y"))]
    lines += [
        delimiter.join((f"p{i}", f'"{value}"', f'"{other or i % 3}"'))
        for i, value in enumerate(values)
    ]
    (folder / "left.csv").write_text("\n".join(lines), encoding="utf-8")
    right = "id,z\n" + "".join(f"p{i},{i % 2}\n" for i in range(len(values)))
    (folder / "right.csv").write_text(right, encoding="utf-8")
    return draft(folder / "left.csv", folder / "right.csv")


def proposed(found: Draft, name: str = "x") -> tuple[Attribute, str]:
    proposal = found.proposals[Side.LEFT, name]
    assert proposal.attribute is not None, proposal.remark
    return proposal.attribute, proposal.remark


def values_of(folder: Path, found: Draft, name: str = "x") -> Any:
    """Load the files with their draft, and return the values of a column."""
    table = open_for_owner(load(folder / "left.csv", folder / "right.csv", found.schema).table)
    match table.left[name]:
        case NumericColumn() as column:
            return column.values.tolist()
        case CodedColumn() as column:
            return column.codes.tolist()


@pytest.mark.parametrize(
    ("values", "delimiter", "characters", "words", "numbers"),
    [
        (["1,5", "2,25", "7"], ";", (",", ""), "decimal commas, as in 1,5", [1.5, 2.25, 7]),
        (["1,5", "2,25", "7"], ",", (",", ""), "decimal commas, as in 1,5", [1.5, 2.25, 7]),
        (
            ["1.234,5", "12,5"],
            ";",
            (",", "."),
            "groups of digits, as in 1.234,5",
            [1234.5, 12.5],
        ),
        (
            ["1,234.5", "12.5"],
            ",",
            (".", ","),
            "groups of digits, as in 1,234.5",
            [1234.5, 12.5],
        ),
        (["1'234.5", "7"], ",", (".", "'"), "groups of digits, as in 1'234.5", [1234.5, 7]),
        (["1’234.5", "7"], ",", (".", "’"), "groups of digits, as in 1’234.5", [1234.5, 7]),
        *(
            (
                [f"1{space}234,5", "7"],
                ";",
                (",", space),
                f"groups of digits, as in 1{space}234,5",
                [1234.5, 7],
            )
            for space in " \u00a0\u202f"
        ),
        (["1.5", "2.25"], ";", (".", ""), "", [1.5, 2.25]),
        (["1.755", "2.250"], ",", (".", ""), "", [1.755, 2.25]),
    ],
)
def test_numbers_as_they_are_written(
    tmp_path: Path,
    values: list[str],
    delimiter: str,
    characters: tuple[str, str],
    words: str,
    numbers: list[float],
) -> None:
    found = drafted(tmp_path, values, delimiter=delimiter)
    attribute, remark = proposed(found)
    assert (attribute.decimal_char, attribute.group_char) == characters
    assert remark == (f"numbers with {words}; " if words else "") + READ + SURE
    # Bounds are rounded outwards, so no value is outside.
    assert values_of(tmp_path, found) == numbers


AMBIGUOUS = "but decimal commas are {} in this table: check it)"


@pytest.mark.parametrize(
    ("values", "other", "delimiter", "characters", "words"),
    [
        (["1,234", "2,345"], "", ";", (",", ""), "numbers with decimal commas, as in 1,5"),
        (["1,234", "2,345"], "0,5", ",", (",", ""), "numbers with decimal commas, as in 1,5"),
        (["1,234", "2,345"], "", ",", (".", ","), "integers with groups of digits, as in 1,234"),
        (["1,234", "2,345"], "0.5", ";", (".", ","), "integers with groups of digits, as in 1,234"),
        (["1.234", "2.345"], "0,5", ";", (",", "."), "integers with groups of digits, as in 1.234"),
    ],
)
def test_what_could_be_read_in_two_ways_is_told(
    tmp_path: Path,
    values: list[str],
    other: str,
    delimiter: str,
    characters: tuple[str, str],
    words: str,
) -> None:
    attribute, remark = proposed(drafted(tmp_path, values, other, delimiter))
    assert (attribute.decimal_char, attribute.group_char) == characters
    likely = "likely" if other == "0,5" or (delimiter == ";" and not other) else "unlikely"
    could = "decimals" if "groups" in words else "groups of digits"
    assert remark == f"{words} (could be {could}, {AMBIGUOUS.format(likely)}; {READ}{SURE}"


def test_three_decimals_are_no_groups_if_nothing_speaks_for_it(tmp_path: Path) -> None:
    attribute, remark = proposed(drafted(tmp_path, ["1.234", "2.345"]))
    assert (attribute.decimal_char, attribute.group_char) == (".", "")
    assert remark == READ + SURE


def test_integers_are_integers_and_cut_between_them(tmp_path: Path) -> None:
    found = drafted(tmp_path, [*range(0, 3000, 7)])
    attribute, _ = proposed(found)
    assert attribute.integer
    assert all(cut == int(cut) for cut in attribute.cuts)
    heavy, _ = proposed(drafted(tmp_path, [0] * 90 + [2**i for i in range(17)]))
    assert heavy.cuts[:5] == (0, 1, 2, 5, 10)
    grouped, remark = proposed(drafted(tmp_path, ["1.234", "12.345.678"], delimiter=";"))
    assert (grouped.integer, grouped.decimal_char, grouped.group_char) == (True, ",", ".")
    assert remark.startswith("integers with groups of digits, as in 1.234; ")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([*"123" * 10, "x"], "integers except for 1 row, which counts as missing"),
        (
            [*"123" * 10, "x", "y"],
            "integers except for 2 rows, which count as missing (2 distinct texts)",
        ),
        ([*"01" * 10, "x"], "Boolean: 0 and 1 except for 1 row, which counts as missing"),
        (
            [*["1,5", "2,5"] * 10, "?!"],
            "numbers with decimal commas, as in 1,5 except for 1 row, which counts as missing",
        ),
        (
            [*["2018-03-01", "2019-03-02"] * 10, "soon"],
            "dates, cut at months except for 1 row, which counts as missing",
        ),
    ],
)
def test_slips_are_told_however_few_values_there_are(
    tmp_path: Path, values: list[str], what: str
) -> None:
    found = drafted(tmp_path, values)
    attribute, remark = proposed(found)
    assert remark.startswith(f"{what}; ")
    assert remark.endswith("; no other missing values")
    assert not attribute.required
    assert "required" not in found.proposals[Side.LEFT, "x"].taken
    report = open_for_owner(
        load(tmp_path / "left.csv", tmp_path / "right.csv", found.schema).report
    )
    slips = len([value for value in values if value in ("x", "y", "?!", "soon")])
    assert report.attributes[0].unreadable == slips


def test_more_than_one_odd_row_in_ten_makes_categories(tmp_path: Path) -> None:
    assert proposed(drafted(tmp_path, [*"123" * 3, "x"]))[0].kind is Kind.NUMERIC
    assert proposed(drafted(tmp_path, [*"12" * 4, "x"]))[0].kind is Kind.CATEGORICAL


@pytest.mark.parametrize(
    ("values", "type_", "pattern", "words"),
    [
        (["2010-03-01", "2019-05-02"], "date", "default", ""),
        (["2010-03-01T10:00:00Z", "2019-05-02 00:00"], "datetime", "default", ""),
        (["2010-03-01 00:00:00", "2019-05-02 00:00:00"], "date", "default", ""),
        (["2010-03", "2019-05"], "yearmonth", "default", ""),
        (["1.3.2010", "31.05.2019"], "date", "%d.%m.%Y", " as in 31.12.2019"),
        (["31/03/2010", "01/05/2019"], "date", "%d/%m/%Y", " as in 31/12/2019"),
        (["03/31/2010", "05/01/2019"], "date", "%m/%d/%Y", " as in 12/31/2019"),
        (["2010/03/31", "2019/05/01"], "date", "%Y/%m/%d", " as in 2019/12/31"),
        (["31.3.10 7:05", "1.5.19 12:00"], None, "", ""),
        (
            ["31.3.2010 7:05", "1.5.2019 12:00"],
            "datetime",
            "%d.%m.%Y %H:%M",
            " as in 31.12.2019 23:59",
        ),
        (
            ["03/04/2010", "05/01/2019"],
            "date",
            "%d/%m/%Y",
            " as in 31/12/2019 (day and month could be swapped: check the format)",
        ),
    ],
)
def test_dates_as_they_are_written(
    tmp_path: Path, values: list[str], type_: str | None, pattern: str, words: str
) -> None:
    found = drafted(tmp_path, values)
    attribute, remark = proposed(found)
    if type_ is None:
        assert attribute.date is not None
        assert attribute.date.format == "%d.%m.%y %H:%M"
        return
    months = type_ == "yearmonth"
    last = date(2019, 12, 1 if months else 31)
    assert attribute.date == DateRule(date(2010, 1, 1), last, type_, pattern)  # type: ignore[arg-type]
    assert attribute.categories == tuple(str(year) for year in range(2010, 2020))
    bounds = "minimum and maximum taken from the data, rounded to whole years"
    assert remark == f"dates{words}, cut at years; {bounds}{SURE}"
    assert values_of(tmp_path, found) == [0, 9]
    package: Any = found.to_dict()
    field = package["resources"][0]["schema"]["fields"][1]
    assert field["redveil"]["cuts"] == "years"
    written = {key: field[key] for key in ("type", "format") if key in field}
    assert field["redveil"]["draft"]["taken"] == {
        **written,
        **field["constraints"],
        "cuts": "years",
    }
    assert list(Package.metadata_validate(package)) == []
    assert Schema.from_dict(package) == found.schema


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        (["2019-03-05", "2019-05-02"], ["2019-03-01", "2019-05-31"]),
        (["2019-02-05", "2019-07-02"], ["2019-02", "2019-07"]),
        (["2017-02-05", "2019-07-02"], ["2017-02", "2019-07"]),
        (["2015-02-05", "2019-07-02", "9999-12-31", "1000-01-01"], ["2015", "2019"]),
    ],
)
def test_short_spans_are_cut_finely_and_far_dates_are_no_bounds(
    tmp_path: Path, values: list[str], categories: list[str]
) -> None:
    attribute, remark = proposed(drafted(tmp_path, values))
    assert [attribute.categories[0], attribute.categories[-1]] == categories
    assert ("dates far away are outside the bounds" in remark) == (len(values) > 2)


DAYS = [date(2015, 3, 1), date(2016, 12, 31), date(2019, 6, 1), None]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(DAYS),
        pa.array(DAYS, pa.date64()),
        pa.array(DAYS).cast(pa.timestamp("ns")),
        pa.array(DAYS).cast(pa.timestamp("s")).cast(pa.timestamp("s", "Asia/Tokyo")),
        pd.Series(DAYS, dtype=object),
        pd.Series(pd.to_datetime(pd.Series(DAYS))),
        pd.Series([None if day is None else np.datetime64(day) for day in DAYS], dtype=object),
        pl.Series(DAYS),
        pl.Series([None if d is None else datetime(d.year, d.month, d.day, 5) for d in DAYS]),
    ],
)
def test_typed_dates_are_drafted_and_loaded(column: Any) -> None:
    if isinstance(column, pa.Array):
        left: Any = pa.table({"id": list("abcd"), "x": column})
    elif isinstance(column, pl.Series):
        left = pl.DataFrame({"id": list("abcd"), "x": column})
    else:
        left = pd.DataFrame({"id": list("abcd"), "x": column})
    right = pa.table({"id": list("abcd"), "z": [0, 1, 1, 0]})
    found = draft(left, right)
    attribute = found.schema.left.attributes[0]
    assert attribute.date is not None
    assert attribute.date.minimum == date(2015, 1, 1)
    loaded = open_for_owner(load(left, right, found.schema).table).left["x"]
    assert isinstance(loaded, CodedColumn)
    assert loaded.codes.tolist() == [0, 1, 4, 255]


def texts(found: Draft) -> list[str]:
    return [str(note) for note in found.notes]


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_text(text, encoding=encoding)
    return path


def test_the_layout_is_told(tmp_path: Path) -> None:
    left = write(tmp_path / "l.csv", "id;größe\n1;1,5\n2;2,5\n", "latin-1")
    right = write(tmp_path / "r.tsv", "id\tx\n1\t0\n2\t1\n")
    found = draft(left, right)
    assert texts(found) == [
        f"{left}: columns separated by semicolons; encoding latin-1; numbers with decimal commas",
        f"{right}: columns separated by tabs",
        "2 of 2 keys are in both tables",
    ]
    assert not any(note.is_warning for note in found.notes)
    assert found.schema.right.delimiter == "\t"
    load(left, right, found.schema)


def test_sheets_are_drafted_and_recorded(tmp_path: Path) -> None:
    book = write_xlsx(
        tmp_path / "book.xlsx",
        {
            "Patients": [("id", "age"), (1, 30), (2, 40)],
            "Lab Results": [("id", "crp", None), (1, 0.5, "why"), (2, 2.5, None)],
        },
    )
    found = draft(book, f"{book}#Lab Results")
    assert (found.schema.left.sheet, found.schema.right.sheet) == ("Patients", "Lab Results")
    assert (found.schema.left.name, found.schema.right.name) == ("book", "lab-results")
    assert found.schema.right.path == "book.xlsx"
    assert texts(found) == [
        f"{book}, sheet Patients: one of 2 sheets (Patients, Lab Results); name one as FILE#SHEET",
        f"{book}, sheet Lab Results: one of 2 sheets (Patients, Lab Results); name one as "
        "FILE#SHEET",
        f"{book}, sheet Lab Results: no name in row 1, the header, so ignored: column C",
        "2 of 2 keys are in both tables",
    ]
    package: Any = found.to_dict()
    assert package["resources"][1]["dialect"] == {"sheetName": "Lab Results"}
    # The sheets are in the schema, so the file is enough.
    assert open_for_owner(load(book, book, found.schema).report).joined == 2


def test_the_same_table_twice_is_told(tmp_path: Path) -> None:
    left = write(tmp_path / "l.csv", "id,x\n1,5\n2,7\n")
    other = write(tmp_path / "r.csv", "x,id\n5,1\n9,2\n")
    for right, what in ((left, "are the same table"), (other, "have the same columns")):
        (warning,) = [note for note in draft(left, right).notes if note.is_warning]
        assert str(warning).startswith(f"{left} and {right} {what}; name two different tables")


def test_keys_that_hardly_overlap_are_told(tmp_path: Path) -> None:
    left = write(tmp_path / "l.csv", "id,x\n" + "".join(f"{i},{i % 7}\n" for i in range(5000)))
    rows = [f"{i},{i % 5}\n" for i in range(4997, 11_000)]
    right = write(tmp_path / "r.csv", "id,y\n" + "".join(rows))
    (warning,) = [note for note in draft(left, right).notes if note.is_warning]
    assert str(warning) == "only 3 of 5,000 keys are in both tables; check the key columns"
    none = write(tmp_path / "n.csv", "id,y\na,0\nb,1\n")
    (warning,) = [note for note in draft(left, none).notes if note.is_warning]
    assert str(warning) == "none of 2 keys are in both tables; check the key columns"


def test_an_empty_sheet_cannot_be_drafted(tmp_path: Path) -> None:
    book = write_xlsx(tmp_path / "book.xlsx", {"Labs": [("id", "x")]})
    with pytest.raises(LoadError, match="sheet Labs: no rows to draft a schema from"):
        draft(book, book)


words = st.text("0123456789.,' -/:TZxe\u00a0\u202f", max_size=12)


@given(st.lists(words, min_size=2, max_size=8), st.sampled_from(",;\t"))
def test_any_column_can_be_drafted_and_loaded(values: list[str], delimiter: str) -> None:
    ids = list(range(len(values)))
    left = pa.table({"id": ids, "x": values, "y": [0] * len(ids)})
    found = draft(left, left)
    assert Schema.from_dict(found.to_dict()) == found.schema
    load(left, left, found.schema)
