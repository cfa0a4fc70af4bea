"""Drafts: the proposal for each kind of column, and loading with a saved draft."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frictionless import Package
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from redveil.budget.charges import PaidFor
from redveil.budget.charging import charge
from redveil.data.draft import Draft, Remark, draft
from redveil.data.layout import Layout, guess_layout
from redveil.data.loading import load
from redveil.data.proposal import choose_rule, outward
from redveil.errors import InputError, LedgerWarning, LoadError, OverBudgetError
from redveil.losses.loss import Loss
from redveil.schema import Attribute, Kind, Schema, Side, Status
from redveil.schema.acceptance import from_data
from redveil.schema.cuts import CutRule
from redveil.sealed import open_for_owner

RNG = np.random.default_rng(7)
SURE = "; no missing values"
READ = "minimum and maximum taken from the data, rounded outwards"


def drafted(values: Any) -> Draft:
    """Draft a table with a column x, and another column in case x is left out."""
    rows = len(values)
    left = pa.table({"id": list(range(rows)), "x": values, "y": [i % 2 for i in range(rows)]})
    return draft(left, pa.table({"id": list(range(rows)), "y": [0] * rows}))


def proposed(values: Any) -> tuple[Attribute | None, str]:
    found = drafted(values)
    attribute = next((a for a in found.schema.left.attributes if a.name == "x"), None)
    return attribute, next(r.text for r in found.remarks if r.attribute == "x")


def rule_of(values: Any) -> str:
    rule = drafted(values).proposals[Side.LEFT, "x"].cuts
    assert isinstance(rule, CutRule)
    return rule.method


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([0, 1, 0], "Boolean, because its only values are 0 and 1; no missing values"),
        ([0.0, 1.0, None], "Boolean, because its only values are 0 and 1; some missing values"),
        (["0", "1", ""], "Boolean, because its only values are 0 and 1; some missing values"),
        (
            [True, False, True],
            "Boolean, because its only values are false and true; no missing values",
        ),
        (
            ["TRUE", "FALSE"],
            "Boolean, because its only values are FALSE and TRUE; no missing values",
        ),
        ([0, 0, 0], "Boolean, because its only value is 0; no missing values"),
        ([True, True], "Boolean, because its only value is true; no missing values"),
    ],
)
def test_booleans(values: Any, what: str) -> None:
    plain = Attribute("x", Kind.BOOLEAN, required="no missing" in what)
    assert proposed(values) == (plain, what)


@pytest.mark.parametrize(
    ("values", "true", "false"),
    [
        (["yes", "no"], ("yes",), ("no",)),
        (["Yes", "NO", "no"], ("Yes", "yes"), ("NO", "no")),
        (["no", "no"], ("yes",), ("no",)),
        (["tRUE", "false"], ("tRUE", "true"), ("false",)),
    ],
)
def test_booleans_in_words(values: Any, true: tuple[str, ...], false: tuple[str, ...]) -> None:
    attribute, _ = proposed(values)
    assert attribute == Attribute(
        "x", Kind.BOOLEAN, required=True, true_values=true, false_values=false
    )


def test_categories() -> None:
    assert proposed(["b", " a", "b", "c", None]) == (
        Attribute("x", Kind.CATEGORICAL, categories=("a", "b", "c")),
        "3 categories taken from the data; some missing values",
    )
    fifty = [f"c{i:02}" for i in range(50)]
    assert proposed(fifty)[1] == "50 categories taken from the data; no missing values"


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([f"name {i}" for i in range(51)], "left out: too many distinct values"),
        ([*map(str, range(40)), *"abcdefghijklmno"], "left out: too many distinct values"),
        (["a", "a"], "left out: only one distinct value"),
        ([5, 5, None], "left out: only one distinct value"),
        ([math.inf, -math.inf], "left out: only one distinct value"),
        (["", None], "left out: no values"),
        ([None, math.nan], "left out: no values"),
        (pa.nulls(2), "left out: no values"),
        ([date(2020, 1, 1)] * 2, "left out: only one distinct date"),
        ([[1], [2]], "left out: not text, numbers, dates or Booleans"),
        ([1e15 + 0.25, 1e15 + 0.5], "left out: values too close together for cut points"),
    ],
)
def test_columns_that_are_left_out(values: Any, what: str) -> None:
    assert proposed(values) == (None, what)


def test_short_ranges_of_integers_are_cut_everywhere() -> None:
    attribute, what = proposed(["1", "5", "3"])
    cuts = (1.0, 2.0, 3.0, 4.0)
    assert attribute == Attribute(
        "x", Kind.NUMERIC, required=True, minimum=1, maximum=5, cuts=cuts, integer=True
    )
    assert what == f"integers; {READ}{SURE}"
    assert rule_of([1, 2, 5]) == "explicit"


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (RNG.normal(size=200), "equal-width"),
        (RNG.uniform(0, 1, size=2000), "equal-width"),
        (RNG.integers(0, 100, size=200), "equal-width"),
        (RNG.integers(1900, 2000, size=200), "equal-width"),
        (np.exp(RNG.normal(5, 3, size=500)), "decades"),
        (np.where(RNG.random(500) < 0.9, 0, RNG.integers(1, 90_000, 500)), "decades"),
        (np.append(RNG.integers(18, 70, 500), 38_822), "decades"),
        (RNG.normal(size=500) ** 9, "symmetric-decades"),
        (np.append(np.zeros(50), [-800, 164_220]), "symmetric-decades"),
        (10.0 ** np.arange(-150, 150), "equal-width"),
    ],
)
def test_rules(values: Any, rule: str) -> None:
    assert rule_of(values) == rule


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (0, 164_220, (0, 170_000)),
        (-0.123, 0.4567, (-0.13, 0.46)),
        (1, 5, (1, 5)),
        (1903, 1987, (1903, 1987)),
        (101.23, 987.6, (100, 990)),
        (-5.5e-7, -1e-9, (-5.5e-7, 0)),
        (-1e308, 1.7e308, (-8e307, 8e307)),
    ],
)
def test_bounds_are_rounded_outward(low: float, high: float, bounds: tuple[float, float]) -> None:
    assert outward(low, high) == bounds


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_bounds_contain_all_values_and_little_more(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    if high - low < 1e-300:
        return
    minimum, maximum = outward(low, high)
    assert minimum <= low < high <= maximum
    assert maximum - minimum <= 1.21 * (high - low)
    # Bounds have two digits of the range and reveal no more about the extremes.
    digit = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    assert minimum / digit == pytest.approx(round(minimum / digit), rel=1e-9, abs=1e-6)


def test_a_rule_without_usable_points_gives_way() -> None:
    wide = np.array([10.0**power for power in range(0, 301, 10)])
    ones = np.ones(len(wide), dtype=np.int64)
    assert choose_rule(wide, ones, 0, 1e300, integer=False).method == "equal-width"


def test_infinities_do_not_become_bounds() -> None:
    attribute, _ = proposed([0.5, 2.0, math.inf, -math.inf])
    assert attribute is not None
    assert (attribute.minimum, attribute.maximum) == (0.5, 2.0)


@pytest.mark.parametrize("marker", ["NA", "N/A", "NaN", "nan", "null", "?"])
def test_usual_markers_are_declared_where_they_occur(marker: str) -> None:
    found = drafted(["3.5", marker, "40", " 7 "])
    assert found.schema.left.missing_values == ("", marker)
    assert found.schema.right.missing_values == ("",)
    attribute = found.schema.left.attributes[0]
    assert (attribute.name, attribute.kind) == ("x", Kind.NUMERIC)
    assert not attribute.required


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("left", "right", "keys"),
    [
        ("a,ID,b\n1,2,3\n2,3,4\n", "id,c\n2,1\n3,2\n", ("ID", "id")),
        ("a,p,b\n1,2,3\n1,3,4\n", "b,p\n0,2\n0,3\n", ("p", "p")),
        ("b,q\n1,5\n2,6\n", "q,b\n5,2\n6,1\n", ("b", "b")),
    ],
)
def test_the_key_is_found(tmp_path: Path, left: str, right: str, keys: tuple[str, str]) -> None:
    found = draft(write(tmp_path, "l.csv", left), write(tmp_path, "r.csv", right)).schema
    assert (found.left.key, found.right.key) == keys
    assert keys[0] not in found.left.names


def test_the_key_is_given(tmp_path: Path) -> None:
    left = write(tmp_path, "l.csv", "id,p,b\n1,2,3\n2,3,4\n")
    assert draft(left, left, key="p").schema.left.key == "p"
    with pytest.raises(LoadError, match=r"l.csv: no key column nobody; check --key"):
        draft(left, left, key="nobody")
    named = write(tmp_path, "n.csv", "person,b\n2,3\n3,4\n")
    other = draft(left, named, key="p", right_key="person").schema
    assert (other.left.key, other.right.key) == ("p", "person")
    with pytest.raises(LoadError, match=r"n.csv: no key column p; check --key and --right-key"):
        draft(left, named, key="p")
    with pytest.raises(LoadError, match="right key without key"):
        draft(left, named, right_key="person")
    twice = write(tmp_path, "t.csv", "id,b\n1,3\n2,3\n")
    with pytest.raises(LoadError, match="line 3, column b: 1 row repeats a key"):
        draft(twice, left, key="b")


def test_no_key_is_found(tmp_path: Path) -> None:
    left = write(tmp_path, "l.csv", "a,b\n1,2\n1,2\n")
    right = write(tmp_path, "r.csv", "b,c\n1,2\n2,3\n")
    with pytest.raises(LoadError) as caught:
        draft(left, right)
    assert str(caught.value) == (
        f"{left} and {right}: no common column differs in nearly every row; name the entity "
        "key with --key and --right-key (key=, right_key=), or make the index of a frame a column"
    )


def test_nothing_to_mine(tmp_path: Path) -> None:
    left = write(tmp_path, "l.csv", "id,a\n1,x\n2,x\n")
    with pytest.raises(LoadError, match="no attributes besides the entity key"):
        draft(left, left)


@pytest.mark.parametrize("name", ["nowhere.csv", "left.xlsx"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(LoadError):
        draft(tmp_path / name, tmp_path / name)


def test_a_frame_without_rows() -> None:
    with pytest.raises(LoadError, match="left frame: no rows"):
        draft(pa.table({"id": pa.array([], pa.int8())}), pa.table({"id": [1]}))


LEFT = "id,sex,age,sick,note,paid\n" + "".join(
    f"p{i},{'fm'[i % 2]},{i * 3},{i % 3 == 0},note {i},{10 ** (i % 6)}\n" for i in range(60)
)
RIGHT = "id,height,x.y\n" + "".join(f"p{i},{1.5 + i / 100:.3f},{i % 5}\n" for i in range(60))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    write(tmp_path, "data/Some People.csv", LEFT)
    write(tmp_path, "right.csv", RIGHT)
    return "data/Some People.csv", "right.csv"


def test_a_saved_draft_is_the_drafted_schema(files: tuple[str, str]) -> None:
    found = draft(*files)
    found.save("datapackage.json")
    schema = Schema.read("datapackage.json")
    assert schema == found.schema
    assert schema.status is Status.DRAFT
    assert (schema.left.name, schema.right.name) == ("some-people", "right")
    assert (schema.left.path, schema.right.path) == files
    assert sorted(path.name for path in Path().iterdir()) == [
        "data",
        "datapackage.json",
        "right.csv",
    ]


# A column, one more value in it, and what the owner is asked to confirm then.
ONE_MORE: dict[str, tuple[list[str], str, str]] = {
    "fraction": ([str(i) for i in range(60)], "1.5", "left, x: type number"),
    "group": ([str(i) for i in range(60)], "1'234", 'left, x: groupChar "\'"'),
    "comma": ([f"{i}" for i in range(60)], "1,25", 'left, x: decimalChar ","'),
    "month first": (["01/02/2020", "03/04/2021"] * 9, "01/13/2020", "left, x: format %m/%d/%Y"),
    "time": (["2020-01-01", "2020-02-03"] * 9, "2020-01-01T05:00:00", "left, x: type datetime"),
    "month": (["2020-01", "2020-02"] * 9, "2026-01", "left, x: cut points: years"),
    "number": (["0", "1"] * 20, "2", "left, x: type integer"),
    "spelling": (["yes", "no"] * 20, "YES", "left, x: values that mean true: YES, yes"),
    "other spelling": (["yes", "no"] * 20, "NO", "left, x: values that mean false: NO, no"),
    "marker": (["yes", "no"] * 20, "?", "left: values that mean missing: ?"),
    "encoding": (["yes", "no"] * 20, "\xe9", "left: encoding latin-1"),
}


@pytest.mark.parametrize("name", ONE_MORE)
def test_what_one_more_value_changes_in_a_draft_is_noted_as_taken(
    tmp_path: Path, name: str
) -> None:
    values, more, words = ONE_MORE[name]

    def noted(column: list[str]) -> tuple[object, list[str]]:
        lines = ["id;x;y", *(f"{i};{text};{i % 2}" for i, text in enumerate(column))]
        (tmp_path / "left.csv").write_bytes("\n".join(lines).encode("latin-1"))
        right = pa.table({"id": list(range(len(column))), "z": [i % 2 for i in range(len(column))]})
        found = draft(tmp_path / "left.csv", right)
        listed = [str(one) for one in from_data(json.loads(found.to_json()))]
        assert listed == [str(one) for one in found.unchanged()]
        return found.schema.left, listed

    before, after = noted(values), noted([*values, more])
    assert before[0] != after[0]
    assert words in after[1]
    assert words not in before[1]
    assert 'left: delimiter ";"' in before[1]


def test_a_column_that_is_left_out_is_noted_until_it_is_used() -> None:
    found = drafted(["same"] * 9)
    assert "left, x: not used" in [str(one) for one in found.unchanged()]
    assert "left, x: not used" in [str(one) for one in found.unchanged(found.schema.accept())]
    package: Any = found.to_dict()
    field = {one["name"]: one for one in package["resources"][0]["schema"]["fields"]}["x"]
    field |= {"type": "string", "constraints": {"enum": ["same", "other"]}}
    field["redveil"]["use"] = True
    assert not [one for one in from_data(package) if one.attribute == "x"]


def test_a_key_that_was_found_by_its_values_is_noted() -> None:
    right = pa.table({"person": list(range(9)), "z": [i % 2 for i in range(9)]})
    left = right.rename_columns(["person", "y"])
    listed = [str(one) for one in draft(left, right).unchanged()]
    assert "left: entity key: person" in listed
    assert "right: entity key: person" in listed
    named = [str(one) for one in draft(left, right, key="person").unchanged()]
    assert not [one for one in named if "entity key" in one]
    assert not [str(one) for one in drafted(["a", "b"]).unchanged() if not one.attribute]


@pytest.mark.parametrize("values", [[9e307, 1e308, 1.1e308], [-1e308, -9e307, -8.5e307]])
def test_numbers_beyond_all_bounds_are_left_out(values: list[float]) -> None:
    assert proposed(values) == (None, "left out: numbers too large for bounds")


def test_large_integers_that_are_neighbours_can_be_read_again(tmp_path: Path) -> None:
    found = drafted([10**17, 10**17 + 16, 10**17 + 32])
    found.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == found.schema


def test_a_saved_draft_is_a_data_package(files: tuple[str, str]) -> None:
    found = draft(*files)
    assert list(Package.metadata_validate(found.to_dict())) == []


def test_a_draft_loads_the_data_it_was_made_from(files: tuple[str, str]) -> None:
    dataset = load(*files, draft(*files).schema)
    report = open_for_owner(dataset.report)
    assert report.lines() == [
        "60 entities in both views",
        "left, columns not in the schema: note",
    ]


def test_every_field_has_its_remark(files: tuple[str, str]) -> None:
    found = draft(*files)
    package: Any = found.to_dict()
    fields = {f["name"]: f for r in package["resources"] for f in r["schema"]["fields"]}
    assert fields["id"]["redveil"]["draft"] == {
        "remark": "entity key, different in every row",
        "taken": {},
    }
    assert fields["sex"]["redveil"]["draft"] == {
        "remark": "2 categories taken from the data" + SURE,
        "taken": {"type": "string", "enum": ["f", "m"], "required": True},
    }
    assert fields["paid"]["redveil"] == {
        "cuts": {"method": "decades"},
        "draft": {
            "remark": f"integers; {READ}{SURE}",
            "taken": {
                "type": "integer",
                "minimum": 0,
                "maximum": 100_000,
                "cuts": {"method": "decades"},
                "required": True,
            },
        },
    }
    assert fields["age"]["redveil"]["cuts"] == {"method": "equal-width", "count": 20}
    assert "cuts" not in fields["age"]["redveil"]["draft"]["taken"]
    assert fields["x.y"]["type"] == "integer"
    assert "cuts" not in fields["x.y"]["redveil"]
    assert fields["note"] == {
        "name": "note",
        "type": "any",
        "redveil": {
            "use": False,
            "draft": {"remark": "left out: too many distinct values", "taken": {"use": False}},
        },
    }
    columns = [(remark.side, remark.attribute) for remark in found.remarks]
    assert columns == [
        *((Side.LEFT, name) for name in LEFT.splitlines()[0].split(",")),
        *((Side.RIGHT, name) for name in RIGHT.splitlines()[0].split(",")),
    ]


def test_drafting_does_not_change_the_schema(files: tuple[str, str]) -> None:
    found = draft(*files)
    before = found.schema.digest
    assert found.to_dict() == found.to_dict()
    assert found.schema.digest == before
    json.dumps(found.to_dict())


def test_files_in_any_layout(tmp_path: Path) -> None:
    left = write(tmp_path, "l.csv", "id;größe\n1;1,5\n2;groß\n", "latin-1")
    right = write(tmp_path, "r.csv", "id\tx\n1\t0\n2\t1\n", "utf-16")
    found = draft(left, right).schema
    assert (found.left.delimiter, found.left.encoding) == (";", "latin-1")
    assert (found.right.delimiter, found.right.encoding) == ("\t", "utf-16")
    load(left, right, found)


def test_absolute_paths_are_not_written(tmp_path: Path) -> None:
    left = write(tmp_path, "l.csv", "id,a\n1,0\n2,1\n")
    found = draft(left, left).schema
    assert found.left.path == "l.csv"
    assert (found.left.name, found.right.name) == ("left", "right")


def test_frames_and_parquet(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2, 3], "x": [0.5, None, 7.25], "when": [date(2020, 1, 1)] * 3})
    parquet.write_table(table, tmp_path / "r.parquet")
    for left in (table, pd.DataFrame({"id": [1, 2, 3], "x": [1.5, 2, 9]})):
        for right in (table, tmp_path / "r.parquet"):
            found = draft(left, right)
            load(left, right, found.schema)
            assert Remark(Side.RIGHT, "when", "left out: only one distinct date") in found.remarks


cells = st.none() | st.floats() | st.integers(-(2**62), 2**62).map(float)
words = st.none() | st.text("aZ 0.,é?\n", max_size=3)


@settings(max_examples=100)
@given(st.lists(cells, min_size=2, max_size=8) | st.lists(words, min_size=2, max_size=8))
def test_any_column_can_be_drafted_and_loaded(values: list[Any]) -> None:
    ids = list(range(len(values)))
    left = pa.table({"id": ids, "x": values, "y": [0] * len(ids)})
    found = draft(left, left)
    package = found.to_dict()
    dataset = load(left, left, found.schema)
    assert package["name"] == "dataset"
    for counts in open_for_owner(dataset.report).attributes:
        infinite = sum(isinstance(v, float) and math.isinf(v) for v in values)
        far = sum(isinstance(v, float) and abs(v) > 8e307 for v in values)
        assert counts.outside <= max(infinite, far)
        assert counts.undeclared == 0


@pytest.mark.parametrize(
    ("data", "layout"),
    [
        (b"", Layout()),
        (b"id,age\n", Layout()),
        (b"\n\nid;a,b;c\n", Layout(";")),
        (b"\xef\xbb\xbfid|age\n", Layout("|")),
        ("id\tage".encode("utf-16"), Layout("\t", "utf-16")),
        (b"caf\xe9", Layout(encoding="latin-1")),
        (b"pay \x80;age", Layout(";", encoding="windows-1252")),
        (b"pay \x81;age", Layout(";", encoding="latin-1")),
    ],
)
def test_layouts_are_guessed(data: bytes, layout: Layout) -> None:
    assert guess_layout(data) == layout


def test_tabs_are_preferred_in_files_named_after_them() -> None:
    assert guess_layout(b"a,b,c\td", "\t") == Layout("\t")
    assert guess_layout(b"a;b;c", "\t") == Layout(";")


def test_a_few_repeated_keys_do_not_stop_a_draft() -> None:
    left = pa.table({"patient": [*range(299), 5], "age": range(300)})
    right = pa.table({"patient": range(300), "pulse": range(300)})
    found = draft(left, right)
    assert found.schema.left.key == "patient"
    assert str(found.remarks[0]) == (
        "left, patient: entity key; left out are 2 rows that repeat a key or have none"
    )
    assert found.notes[-1].is_warning
    assert str(found.notes[-1]) == (
        "298 of 300 keys are in both tables; 1 with several rows is left out"
    )


def test_a_named_key_identifies_at_least_half_of_the_rows() -> None:
    left = pa.table({"ward": [1, 1, 2, 2, 3], "age": range(5)})
    right = pa.table({"ward": range(5), "pulse": range(5)})
    with pytest.raises(LoadError, match="column ward: 2 rows repeat keys; keep one row per entity"):
        draft(left, right, key="ward")


@pytest.mark.parametrize("kept", [{"id": "7e57"}, {"budget": Fraction(3)}], ids=["id", "budget"])
def test_a_draft_does_not_replace_an_id_or_a_budget(tmp_path: Path, kept: dict[str, Any]) -> None:
    path = tmp_path / "datapackage.json"
    table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
    found = draft(table, table)
    found.save(path)
    found.save(path)
    path.unlink()
    replace(found.schema, **kept).save(path)
    with pytest.raises(InputError, match=r"not replaced, because its (id|budget) .*would be lost"):
        found.save(path)
    replace(found, schema=replace(found.schema, **kept)).save(path)
    assert Schema.read(path) == replace(found.schema, **kept)


def test_renaming_a_draft_does_not_give_back_what_it_spent(tmp_path: Path) -> None:
    """Runs with a draft were charged to the name "dataset" alone, and renaming it cleared them."""
    table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
    drafted = draft(table, table).schema
    ledger = tmp_path / "ledger.sqlite"
    with pytest.warns(LedgerWarning, match="new ledger begun"):
        charge(drafted, Loss(Fraction(5)), ledger, PaidFor("mine"))
    renamed = drafted.accept().replace(name="clinic", budget="1")
    assert renamed.id == drafted.id
    with pytest.raises(OverBudgetError, match="0 left of the budget of 1"):
        charge(renamed, Loss(Fraction(1)), ledger, PaidFor("mine"))
    # Another draft is another data set, until its owner says that it is not.
    assert draft(table, table).schema.id != drafted.id


def test_a_file_with_a_name_in_another_encoding_can_be_drafted(tmp_path: Path) -> None:
    table = tmp_path / "donn\udce9es.csv"
    table.write_text("id,x\n" + "".join(f"{n},{n % 7}\n" for n in range(30)))
    proposal = draft(table, table)
    assert proposal.schema.left.path == "donn\ufffdes.csv"
    proposal.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == proposal.schema
