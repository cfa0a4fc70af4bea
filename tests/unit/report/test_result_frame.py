from __future__ import annotations

import polars as pl
import pytest

from redveil.report.document import DiscoveryPart, RedescriptionPart
from redveil.report.frame import to_frame
from redveil.report.result import Result
from support.results import TRUE, document, redescription

PRIVATE_COLUMNS = [
    "left",
    "right",
    "jaccard",
    "jaccard_low",
    "jaccard_high",
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
]
TRUE_COLUMNS = ["true_jaccard", "true_support_both", "true_p_value"]


@pytest.mark.parametrize("count", [0, 1, 7])
def test_one_row_a_redescription_and_always_the_same_columns(count: int) -> None:
    found = [redescription(f"left {i}", f"right {i}") for i in range(count)]
    frame = to_frame(document(*found))
    assert frame.columns == PRIVATE_COLUMNS
    assert frame["left"].to_list() == [f"[left {i}]" for i in range(count)]
    assert frame["right"].to_list() == [f"[right {i}]" for i in range(count)]
    assert frame.dtypes == [pl.String] * 2 + [pl.Float64] * 14 + [pl.Boolean]


def test_numbers_stand_in_the_column_of_their_name() -> None:
    row = to_frame(document(redescription())).row(0, named=True)
    del row["left"], row["right"]
    assert list(row.values()) == [
        *(0.5, 0.25, 0.75),
        *(1234.0, 1200.0, 1268.0),
        *(60.0, 50.0, 70.0),
        *(65.0, 55.0, 75.0),
        1e-30,
        # 60 and 65 of 1000 would have 3.9 in common.
        pytest.approx(3.9 / (125 - 3.9)),
        None,
    ]


def test_what_is_confirmed_is_known_where_false_discoveries_were_bounded() -> None:
    known = DiscoveryPart(bound=0.39, confirmed=2, comparable=9.0, unconfirmed=(1,))
    found = (redescription(), redescription("gout"), redescription("asthma"))
    bounded = document(*found).model_copy(update={"false_discoveries": known})
    assert to_frame(bounded)["confirmed"].to_list() == [True, False, True]
    assert to_frame(document(*found))["confirmed"].to_list() == [None] * 3


def test_the_expected_index_does_not_need_the_number_of_entities() -> None:
    unknown = document(redescription()).model_copy(update={"entities": None})
    assert to_frame(unknown)["expected_jaccard"].to_list() == [redescription().expected_jaccard]


def test_an_owners_values_are_added_where_they_are_known() -> None:
    found: tuple[RedescriptionPart, ...] = (redescription(true=TRUE), redescription("gout"))
    frame = to_frame(document(*found))
    assert frame.columns == PRIVATE_COLUMNS + TRUE_COLUMNS
    assert frame.select(TRUE_COLUMNS).rows() == [(0.625, 50, 0.00125), (None, None, None)]


def test_a_result_gives_the_same_frame_and_pandas_takes_it() -> None:
    one = document(redescription())
    frame = Result(one).to_frame()
    assert frame.equals(to_frame(one))
    assert list(frame.to_pandas().columns) == PRIVATE_COLUMNS
