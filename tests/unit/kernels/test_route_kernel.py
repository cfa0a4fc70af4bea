"""One level down a tree, against testing every entity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.route import Ask, Question
from oracle.route import descend as ask_everybody
from redveil.kernels.route import AT_MOST, BIT, EQUAL, LEAF, descend
from strategies.arrays import (
    Codes,
    Flags,
    bits_arrays,
    code_columns,
    codes_array,
    flag_columns,
    row_counts,
    spread,
)

TESTS = {Ask.FLAG: BIT, Ask.AT_MOST: AT_MOST, Ask.EQUAL: EQUAL}


@st.composite
def questions(draw: st.DrawFn, flags: int, bins: list[int]) -> Question:
    """One question that the columns can answer."""
    asks = [Ask.FLAG] * (flags > 0) + [Ask.AT_MOST, Ask.EQUAL] * (len(bins) > 0)
    ask = draw(st.sampled_from(asks))
    if ask is Ask.FLAG:
        return Question(ask, draw(st.integers(0, flags - 1)))
    column = draw(st.integers(0, len(bins) - 1))
    return Question(ask, column, draw(st.integers(0, bins[column] - 1)))


def check(
    positions: list[int],
    first: int,
    nodes: int,
    asked: dict[int, Question],
    *,
    flags: Sequence[Flags] = (),
    codes: Sequence[Codes] = (),
) -> None:
    test = np.full(nodes, LEAF, np.int8)
    row = np.zeros(nodes, np.int32)
    code = np.zeros(nodes, np.uint32)
    for node, question in asked.items():
        test[node], row[node], code[node] = TESTS[question.ask], question.column, question.code
    at = np.array(positions, np.int16)
    packed = bits_arrays(flags, len(positions))
    columns = *packed, codes_array(codes, len(positions))
    descend(at, first, test, row, code, 0, *columns)
    expected = ask_everybody(positions, first, asked, flags, codes)
    assert at.tolist() == expected
    # A part of the entities, from the middle on.
    begin = len(positions) // 2
    part = np.array(positions[begin:], np.int16)
    descend(part, first, test, row, code, begin, *columns)
    assert part.tolist() == expected[begin:]


@settings(max_examples=100, deadline=None)
@given(st.data(), row_counts, st.lists(st.integers(1, 5) | st.just(255), max_size=3))
def test_one_step_is_what_every_entity_answers(
    data: st.DataObject, rows: int, bins: list[int]
) -> None:
    flags = data.draw(flag_columns(rows))
    codes = data.draw(code_columns(rows, bins))
    levels = data.draw(st.integers(1, 4))
    nodes = 2**levels - 1
    first = data.draw(st.sampled_from([2**level - 1 for level in range(levels)]))
    asked: dict[int, Question] = {}
    if flags or bins:
        question = questions(len(flags), bins)
        asked = data.draw(st.dictionaries(st.integers(0, nodes - 1), question))
    positions = data.draw(spread(st.integers(0, nodes - 1), rows))
    check(positions, first, nodes, asked, flags=flags, codes=codes)


def test_an_entity_above_the_first_node_is_stuck() -> None:
    ask = Question(Ask.FLAG, 0)
    check([0, 1, 2], 1, 3, {0: ask, 1: ask, 2: ask}, flags=[[True, True, False]])


def test_a_leaf_on_the_lowest_level_keeps_its_entities() -> None:
    check([1, 2, 1], 1, 3, {2: Question(Ask.FLAG, 0)}, flags=[[True, True, True]])


@pytest.mark.parametrize("ask", [Ask.AT_MOST, Ask.EQUAL])
@pytest.mark.parametrize("code", [0, 127, 128, 253, 254])
def test_codes_compare_as_bytes(ask: Ask, code: int) -> None:
    column: Codes = [*range(255), None]
    check([0] * 256, 0, 1, {0: Question(ask, 0, code)}, codes=[column])


@pytest.mark.parametrize("rows", [63, 64, 65, 128])
def test_the_edge_of_a_word_is_read_right(rows: int) -> None:
    true: Flags = [i in (0, 62, 63, 64, 127) for i in range(rows)]
    some: Flags = [None if i in (1, 63, 64) else True for i in range(rows)]
    for column in range(2):
        check([0] * rows, 0, 1, {0: Question(Ask.FLAG, column)}, flags=[true, some])
