from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from redveil.errors import InputError
from redveil.report.document import AttributePart
from redveil_research.experiments.rows import Rows, TwoTables, literal_count

AGE = AttributePart(name="age", kind="numeric")
SICK = AttributePart(name="sick", kind="boolean")
RISK = AttributePart(name="risk", kind="ordinal", categories=("low", "mid", "high"))
CITY = AttributePart(name="city", kind="categorical", categories=("1", "2"))
DECLARED = {one.name: one for one in (AGE, SICK, RISK, CITY)}
ROWS = Rows(
    {
        "age": pa.array(["30", "", "50", "n/a"]),
        "sick": pa.array(["yes", "No", "TRUE", None]),
        "risk": pa.array(["mid", "high", "low", "unheard of"]),
        "city": pa.array([1, 2, 3, None]),
    },
    4,
)


def literal(attribute: str, op: str, value: float | str | None = None) -> dict[str, Any]:
    known = {} if op == "known" else {"value": value}
    return {"attribute": attribute, "op": op, **known}


OLD = literal("age", ">", 40.0)
ILL = {"attribute": "sick", "op": "=", "value": True}
WELL = {"attribute": "sick", "op": "=", "value": False}
NOT_ILL = {"attribute": "sick", "op": "!=", "value": True}


@pytest.mark.parametrize(
    ("query", "yes", "no"),
    [
        (OLD, "..x.", "x..."),
        (literal("age", "<=", 30.0), "x...", "..x."),
        (literal("age", "known"), "x.x.", ".x.x"),
        (ILL, "x.x.", ".x.."),
        (NOT_ILL, ".x..", "x.x."),
        (WELL, ".x..", "x.x."),
        (literal("risk", "<=", "mid"), "x.x.", ".x.."),
        (literal("risk", ">", "low"), "xx..", "..x."),
        (literal("city", "=", "1"), "x...", ".x.."),
        (literal("city", "!=", "1"), ".x..", "x..."),
        ({"not": OLD}, "x...", "..x."),
        ({"or": [OLD, ILL]}, "x.x.", "...."),
        # A conjunction ends at its first unknown part, whatever comes after it.
        ({"and": [ILL, OLD]}, "..x.", "xx.."),
        ({"and": [OLD, ILL]}, "..x.", "x..."),
        ({"not": {"and": [OLD, ILL]}}, "x...", "..x."),
    ],
)
def test_who_satisfies_a_query(query: dict[str, Any], yes: str, no: str) -> None:
    answers = ROWS.answers(query, DECLARED)
    shown = ["".join("x" if one else "." for one in side) for side in (answers.yes, answers.no)]
    assert shown == [yes, no]


def test_values_that_are_neither_numbers_nor_categories_are_refused() -> None:
    with pytest.raises(InputError, match="age: only numbers and categories can be judged"):
        ROWS.answers(literal("age", ">", "2001-01-01"), DECLARED)


def test_every_literal_has_to_be_read() -> None:
    assert literal_count({"not": {"and": [OLD, {"or": [ILL, {"not": OLD}]}]}}) == 3


def test_two_tables_are_joined_by_their_first_columns() -> None:
    left = pa.table({"id": [1, 2, 3], "a": ["x", "y", "z"]})
    right = pa.table({"key": ["3", "4", "1"], "b": [30, 40, 10]})
    first, second = TwoTables(left, right).views()
    assert (first.count, second.count) == (2, 2)
    assert first.columns["a"].to_pylist() == ["x", "z"]
    assert second.columns["b"].to_pylist() == [10, 30]


def test_shuffled_rows_keep_their_columns_together_and_lose_their_keys() -> None:
    table = pa.table({"id": [1, 2, 3], "a": [10, 20, 30], "b": ["x", "y", "z"]})
    right = TwoTables(table, table).unrelated(np.array([1, 2, 0])).right
    assert right.to_pydict() == {"id": [1, 2, 3], "a": [20, 30, 10], "b": ["y", "z", "x"]}


def test_files_are_read_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "left.csv").write_text('id,"a, b"\n1,007\n2,\n')
    with gzip.open(tmp_path / "right.csv.gz", "wt") as file:
        file.write("id,c\n2,yes\n1,no\n")
    left, right = TwoTables.read(tmp_path / "left.csv", tmp_path / "right.csv.gz").views()
    assert left.columns["a, b"].to_pylist() == ["007", ""]
    assert right.columns["c"].to_pylist() == ["no", "yes"]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv: cannot be read as CSV; check the path"):
        TwoTables.read(Path("nowhere.csv"), Path("nowhere.csv"))
