from __future__ import annotations

import csv
import io
import sys
from collections.abc import Hashable

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.base.csv_text import csv_text
from redveil.errors import InputError
from redveil.query.formula import Known, Not
from redveil.report.arrow import to_arrow
from redveil.report.document import RedescriptionPart
from redveil.report.result import Result
from support.results import TRUE, document, redescription, redescription_of

PRIVATE_COLUMNS = [
    "left",
    "right",
    "jaccard",
    "jaccard_low",
    "jaccard_high",
    "corrected",
    "corrected_low",
    "corrected_high",
    "support_both",
    "support_both_low",
    "support_both_high",
    "support_left",
    "support_left_low",
    "support_left_high",
    "support_right",
    "support_right_low",
    "support_right_high",
    "p_value",
    "expected_jaccard",
    "confirmed",
    "leaf_table",
    "detail",
]
TRUE_COLUMNS = ["true_jaccard", "true_support_both", "true_p_value"]


def test_that_a_value_is_known_is_written_as_elsewhere() -> None:
    one = redescription_of(Known("a is known"), Not(Known("b")))
    table = to_arrow(document(one))
    assert table["left"].to_pylist() == ['["a is known" is known]']
    assert table["right"].to_pylist() == ["![b is known]"]
    assert '"[""a is known"" is known]"' in csv_text(table)


@pytest.mark.parametrize("count", [0, 1, 7])
def test_one_row_a_redescription_and_always_the_same_columns(count: int) -> None:
    found = [redescription(f"left {i}", f"right {i}") for i in range(count)]
    table = to_arrow(document(*found))
    assert table.column_names == PRIVATE_COLUMNS
    assert table["left"].to_pylist() == [f"[left {i}]" for i in range(count)]
    assert table["right"].to_pylist() == [f"[right {i}]" for i in range(count)]
    kinds = [pa.string()] * 2 + [pa.float64()] * 17 + [pa.bool_(), pa.int64(), pa.int64()]
    assert table.schema.types == kinds


def test_numbers_stand_in_the_column_of_their_name() -> None:
    (row,) = to_arrow(document(redescription())).to_pylist()
    del row["left"], row["right"]
    assert list(row.values()) == [
        *(0.5, 0.25, 0.75),
        *(0.48, 0.22, 0.74),
        *(1234.0, 1200.0, 1268.0),
        *(60.0, 50.0, 70.0),
        *(65.0, 55.0, 75.0),
        1e-30,
        # 60 and 65 of 1000 would have 3.9 in common.
        pytest.approx(3.9 / (125 - 3.9)),
        None,
        1,
        None,
    ]


def test_a_detail_has_the_number_of_its_story() -> None:
    story = redescription("a")
    detail = redescription("b").model_copy(update={"detail": 1})
    assert to_arrow(document(story, detail))["detail"].to_pylist() == [None, 1]


def test_what_is_confirmed_is_known_where_somebody_asked() -> None:
    asked: tuple[bool | None, ...] = True, False, None
    found = [redescription(f"a{i}", confirmed=known) for i, known in enumerate(asked)]
    assert to_arrow(document(*found))["confirmed"].to_pylist() == [True, False, None]


def test_the_expected_index_does_not_need_the_number_of_entities() -> None:
    unknown = document(redescription()).model_copy(update={"entities": None})
    assert to_arrow(unknown)["expected_jaccard"].to_pylist() == [redescription().expected_jaccard]


def test_an_owners_values_are_added_where_they_are_known() -> None:
    found: tuple[RedescriptionPart, ...] = (redescription(true=TRUE), redescription("gout"))
    table = to_arrow(document(*found))
    assert table.column_names == PRIVATE_COLUMNS + TRUE_COLUMNS
    known = [tuple(row.values()) for row in table.select(TRUE_COLUMNS).to_pylist()]
    assert known == [(0.625, 50, 0.00125), (None, None, None)]


RESULT = Result(document(redescription(true=TRUE), redescription("gout")))


def rows_of_pandas(frame: pd.DataFrame) -> list[dict[Hashable, object]]:
    missing_as_none = frame.astype(object).where(frame.notna(), None)
    return missing_as_none.to_dict("records")


def test_frames_of_both_libraries_hold_the_table() -> None:
    rows = RESULT.to_arrow().to_pylist()
    assert RESULT.to_arrow().equals(to_arrow(RESULT.document))
    assert RESULT.to_polars().to_dicts() == rows
    assert rows_of_pandas(RESULT.to_pandas()) == rows


@pytest.mark.parametrize("result", [RESULT, Result(document())], ids=["two", "none"])
def test_libraries_take_a_result_as_it_is(result: Result) -> None:
    expected = result.to_arrow()
    assert pa.table(result).equals(expected)
    assert pl.DataFrame(result).to_dicts() == expected.to_pylist()
    assert pl.DataFrame(result).columns == expected.column_names


@pytest.mark.skipif(not hasattr(pd.DataFrame, "from_arrow"), reason="since pandas 3")
def test_pandas_takes_a_result_as_it_is() -> None:
    taken = pd.DataFrame.from_arrow(RESULT)  # type: ignore[attr-defined]
    assert rows_of_pandas(taken) == RESULT.to_arrow().to_pylist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_absent_is_named_with_its_remedy(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    message = f"^{library} is not installed; run pip install 'redveil\\[{library}\\]', or use"
    with pytest.raises(InputError, match=message):
        getattr(RESULT, f"to_{library}")()


def test_csv_holds_the_table() -> None:
    table = RESULT.to_arrow()
    text = csv_text(table)
    assert pl.read_csv(io.StringIO(text), schema=pl.DataFrame(table).schema).to_dicts() == (
        table.to_pylist()
    )
    # Very small numbers apart, which Polars may write as 0.00001 instead of 1e-05.
    assert text == pl.DataFrame(table).write_csv()


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.text(), st.booleans() | st.none())))
def test_any_table_comes_back_from_its_csv(rows: list[tuple[float, str, bool | None]]) -> None:
    columns = {f"column, {i}": [row[i] for row in rows] for i in range(3)}
    header, *lines = csv.reader(io.StringIO(csv_text(pa.table(columns)), newline=""))
    assert header == list(columns)
    truth = {"true": True, "false": False, "": None}
    assert [(float(a), b, truth[c]) for a, b, c in lines] == rows
