"""Loading packed: the bins of what is loaded with all values, and the same report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import redveil
from redveil.data import csv_file, frame
from redveil.data.binning import bin_table
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.data.table import BinnedColumn, FlagColumn, NumericColumn, Table
from redveil.errors import InputError, QueryError
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import open_for_owner
from support.pieces import same_view

LEFT = View(
    "left",
    "id",
    (
        Attribute("flag", Kind.BOOLEAN),
        Attribute("number", Kind.NUMERIC, minimum=0, maximum=10, cuts=(2.0, 5.0)),
        Attribute("needed", Kind.BOOLEAN, required=True),
        Attribute("colour", Kind.CATEGORICAL, categories=("red", "blue")),
    ),
    missing_values=("", "-1"),
)
RIGHT = View(
    "right",
    "id",
    (
        Attribute("size", Kind.ORDINAL, categories=("s", "m", "l")),
        Attribute(
            "many", Kind.NUMERIC, minimum=0, maximum=999, cuts=tuple(map(float, range(1, 400)))
        ),
    ),
)
SCHEMA = Schema("packed", LEFT, RIGHT)

numbers = st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 2.0, 2.5, 5.0, 11.0, float("nan")]))
lefts = st.fixed_dictionaries(
    {
        "id": st.integers(0, 12),
        "flag": st.sampled_from([None, 0, 1, 2]),
        "number": numbers,
        "needed": st.sampled_from([None, 0, 1, 1, 1]),
        "colour": st.sampled_from([None, "red", "blue", "green"]),
    }
)
rights = st.fixed_dictionaries(
    {
        "id": st.integers(0, 12),
        "size": st.sampled_from([None, "s", "m", "l", "xl"]),
        "many": st.sampled_from([None, 0.0, 3.0, 398.5, 2000.0]),
    }
)
LEFT_TYPES = pa.schema(
    [("id", pa.int64()), ("flag", pa.int8()), ("number", pa.float32()), ("needed", pa.int64()),
     ("colour", pa.string())]
)  # fmt: skip
RIGHT_TYPES = pa.schema([("id", pa.int32()), ("size", pa.string()), ("many", pa.float64())])


def must_agree(left: object, right: object, schema: Schema = SCHEMA) -> Table:
    """Load with all values and packed, compare, and return what was packed."""
    valued, packed = (
        redveil.load(left, right, schema, few_in_common=True, packed=one) for one in (False, True)
    )
    assert open_for_owner(packed.report) == open_for_owner(valued.report)
    table = open_for_owner(packed.table)
    binned = bin_table(open_for_owner(valued.table), schema)
    assert table.binned is not None
    for side in Side:
        same_view(table.binned.view(side), binned.view(side))
        # Column by column, as if some attributes were left out.
        again = bin_table(Table(table.rows, table.left, table.right), schema)
        same_view(again.view(side), binned.view(side))
    return table


@settings(max_examples=60, deadline=None)
@given(st.lists(lefts, max_size=14), st.lists(rights, max_size=14))
def test_packed_columns_are_the_bins_of_the_values(
    left: list[dict[str, object]], right: list[dict[str, object]]
) -> None:
    must_agree(
        pa.Table.from_pylist(left, schema=LEFT_TYPES),
        pa.Table.from_pylist(right, schema=RIGHT_TYPES),
    )


def test_files_in_pieces_are_the_files_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = clinic_frames(700)
    paths = tmp_path / "left.parquet", tmp_path / "right.parquet"
    parquet.write_table(left, paths[0], row_group_size=90)
    # The rows of the right view in another order, some without a partner.
    parquet.write_table(right.take(np.random.default_rng(1).permutation(700)[:650]), paths[1])
    texts = [path.with_suffix(".csv") for path in paths]
    for path, text in zip(paths, texts, strict=True):
        redveil_csv(parquet.read_table(path), text)
    whole = must_agree(paths[0], paths[1], clinic_schema())
    monkeypatch.setattr(frame, "_PIECE_ROWS", 100)
    monkeypatch.setattr(csv_file.open_csv, "__defaults__", (4096,))
    for one, other in (paths, texts):
        table = must_agree(one, other, clinic_schema())
        assert table.binned is not None
        assert whole.binned is not None
        for side in Side:
            same_view(table.binned.view(side), whole.binned.view(side))


def redveil_csv(table: pa.Table, path: Path) -> None:
    """Write a table as CSV, with quotation marks around texts."""
    from pyarrow import csv

    csv.write_csv(table, path)


def test_packed_columns_answer_queries_at_cut_points_only() -> None:
    codes = np.array([0, 1, 2, 255], np.uint8)
    number = BinnedColumn(LEFT.attributes[1], codes)
    exact = NumericColumn(LEFT.attributes[1], np.array([1.0, 3.0, 7.0, np.nan]))
    for op in ("<=", ">"):
        for found, expected in zip(number.test(op, 2.0), exact.test(op, 2.0), strict=True):
            assert found.tolist() == expected.tolist()
    keep = np.array([True, False, True, True])
    assert number.only(keep).codes.tolist() == [0, 2, 255]
    for op, value in (("<=", 3.0), ("=", 2.0), ("<=", True)):
        with pytest.raises(QueryError, match="was loaded packed"):
            number.test(op, value)
    flags = FlagColumn(LEFT.attributes[0], 4, np.array([5], np.uint64), np.array([2], np.uint64))
    assert flags.codes.tolist() == [1, 255, 1, 0]
    assert flags.known.tolist() == [True, False, True, True]
    assert flags.only(keep).codes.tolist() == [1, 1, 0]


def test_what_needs_values_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    dataset = redveil.load(*clinic_frames(300), clinic_schema(), packed=True)
    ledger = tmp_path / "ledger.jsonl"
    with pytest.raises(InputError, match="published profile needs all values"):
        redveil.mine(dataset, 1, profile="published", ledger=ledger)
    with pytest.raises(InputError, match=r"\[HbA1c\] was loaded packed"):
        redveil.mine(dataset, 1, within="[HbA1c > 6.123]", ledger=ledger)
    with pytest.raises(InputError, match=r"\[HbA1c\] was loaded packed"):
        redveil.describe(dataset, "[HbA1c > 6.123]", 1, ledger=ledger)
    assert not ledger.exists()


def test_a_packed_part_is_mined_like_any_other() -> None:
    dataset = redveil.load(*clinic_frames(2000), clinic_schema(), packed=True)
    cut = next(one for one in clinic_schema().right.attributes if one.name == "HbA1c").cuts[2]
    result = redveil.mine(dataset, 5, within=f"[HbA1c > {cut}]", depth=1, trials=1)
    assert result.certificate.within is not None
    assert len(redveil.truth(result, dataset).redescriptions) == len(result)
