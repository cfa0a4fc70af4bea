from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from redveil import owner
from redveil.errors import InputError
from redveil.schema import Kind, Schema, Status
from redveil_research.experiments.datasets import DATA_SETS, find, header, present

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data"

# (rows, left columns, right columns) as the data sets' own descriptions have them
SMALL = {
    "MAMMAL": (2575, 194, 48),
    "CMS2": (10_000, 177, 63),
    "NPAS": (1731, 24, 56),
    "NPAS-2016": (1223, 23, 56),
    "RWAS": (8854, 15, 51),
    "MIMIC": (129, 283, 417),
}
LARGE = {
    "CMS-ALL": (180_000, 177, 63),
    "DBLP": (2300, 19, 2300),
    "DIABETES": (71_518, 216, 33),
}
SIZES = [
    *((name, *size) for name, size in SMALL.items()),
    *(pytest.param(name, *size, marks=pytest.mark.slow) for name, size in LARGE.items()),
]


@pytest.mark.parametrize(("name", "rows", "lefts", "rights"), SIZES)
def test_a_data_set_fits_its_declared_schema(name: str, rows: int, lefts: int, rights: int) -> None:
    one = find(name)
    if one.missing(FOLDER):
        pytest.skip(f"{name} is not in {FOLDER}")
    dataset = one.load(FOLDER)
    schema = dataset.schema
    assert (len(schema.left.attributes), len(schema.right.attributes)) == (lefts, rights)
    assert schema.status is Status.DECLARED
    report = owner.load_report(dataset)
    assert (report.joined, report.left.only, report.right.only) == (rows, 0, 0)
    assert report.left.ignored == report.right.ignored == ()
    # The code books are complete, and few values are out of bounds.
    assert sum(a.undeclared for a in report.attributes) == 0
    assert all(a.outside <= max(0.01 * rows, 1) for a in report.attributes)


@pytest.mark.parametrize("name", ["MAMMAL", "NPAS", "RWAS"])
def test_a_declared_schema_can_be_saved_and_read(name: str, tmp_path: Path) -> None:
    one = find(name)
    if one.missing(FOLDER):
        pytest.skip(f"{name} is not in {FOLDER}")
    schema = one.schema(FOLDER)
    schema.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == schema


def test_missing_data_sets_are_skipped_with_a_message_each(tmp_path: Path) -> None:
    (tmp_path / "mammals").mkdir()
    for side in ("left", "right"):
        (tmp_path / "mammals" / f"{side}.csv").write_text("id\n")
    found, skipped = present(tmp_path)
    assert [one.name for one in found] == ["MAMMAL"]
    assert len(skipped) == len(DATA_SETS) - 1
    assert all("skipped" in line and str(tmp_path) in line for line in skipped)


def test_one_file_of_two_is_not_enough(tmp_path: Path) -> None:
    (tmp_path / "mammals").mkdir()
    (tmp_path / "mammals" / "left.csv").write_text("id\n")
    expected = f"MAMMAL: skipped; {tmp_path} has no mammals/right.csv"
    assert present(tmp_path, ["mammal"]) == ([], [expected])
    with pytest.raises(InputError, match=r"has no mammals/right\.csv; name the folder"):
        find("MAMMAL").load(tmp_path)


def test_a_schema_comes_from_the_header_alone(tmp_path: Path) -> None:
    # These rows cannot be loaded, but they are not read.
    (tmp_path / "mammals").mkdir()
    (tmp_path / "mammals" / "left.csv").write_text('id,Moose,"Mouse, grey"\nx\n')
    (tmp_path / "mammals" / "right.csv").write_text("id,t1-,p12~\n\0")
    schema = find("MAMMAL").schema(tmp_path)
    assert schema.left.names == ("Moose", "Mouse, grey")
    assert [a.kind for a in schema.right.attributes] == [Kind.NUMERIC] * 2
    assert schema.right.attributes[0].cuts[:2] == (-27.5, -25.0)


def test_a_header_in_gzip(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write("id,x,y\n1,2,3\n")
    assert header(tmp_path / "a.csv.gz") == ("x", "y")


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(InputError, match="column wind: no rule declares it"):
        find("MAMMAL").schema_of(["Moose"], ["t1-", "wind"])


@pytest.mark.parametrize(
    ("column", "required"), [("MEDREIMB_IP_2008", True), ("MEDREIMB_IP_2010", False)]
)
def test_later_years_may_be_missing(column: str, *, required: bool) -> None:
    (amount,) = find("CMS2").schema_of(["esrd"], [column]).right.attributes
    assert amount.required is required
    assert amount.cuts[:4] == (0.0, 10.0, 20.0, 50.0)
