from __future__ import annotations

import json
from typing import Any

import pytest

import redveil
from redveil.base.display import text
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.findings.reporting import Constraints
from redveil.findings.statistics import Interval, Statistics
from redveil.report.compare import (
    OTHER_SCHEMAS,
    Compared,
    Comparison,
    Relation,
    Said,
    compare,
)
from redveil.report.document import RedescriptionPart
from redveil.report.result import Result
from support.clinic import NOTHING, mined_clinic
from support.named import HOSTILE_NAMES, mined_with
from support.page import Page, must_be_ours

MINED = mined_clinic(Constraints())
OTHER = mined_clinic(Constraints(), seed=2)


def pair(one: RedescriptionPart) -> tuple[str, str]:
    return one.left.text, one.right.text


def rows(first: Result, second: Result) -> list[Compared]:
    return list(compare(first, second))


def test_a_result_has_everything_in_common_with_itself() -> None:
    found = rows(MINED, MINED)
    assert [(row.left, row.right) for row in found] == [pair(one) for one in MINED]
    for place, row in enumerate(found, start=1):
        assert row.relation is Relation.SAME
        assert row.first is not None
        assert row.second is not None
        assert (row.first.place, row.second.place) == (place, place)
        assert row.first.statistics == row.second.statistics
        assert row.compatible is True


def test_complements_are_recognised_whatever_their_words() -> None:
    for first, second in ((MINED, MINED.complement()), (MINED.complement(), MINED)):
        found = rows(first, second)
        assert {row.relation for row in found} <= {Relation.COMPLEMENT, Relation.SAME}
        assert [row.counterpart for row in found if row.relation is Relation.COMPLEMENT]
        for place, row in enumerate(found, start=1):
            if row.relation is Relation.COMPLEMENT:
                assert row.counterpart == place
            # The other result's tables were asked about these very queries.
            assert row.compatible


def test_every_entry_of_either_list_is_there_once() -> None:
    found = compare(MINED, OTHER)
    listed = [(row.left, row.right) for row in found if row.first is not None and row.first.listed]
    assert listed == [pair(one) for one in MINED]
    places = [row.second.place for row in found if row.second is not None and row.second.listed]
    counterparts = [row.counterpart for row in found if row.relation is Relation.COMPLEMENT]
    told = {place for place in (*places, *counterparts) if place is not None}
    assert told == set(range(1, len(OTHER) + 1))
    assert len(found) == sum(found.count(relation) for relation in Relation)


def test_what_is_not_listed_is_asked_for() -> None:
    short = MINED.top(1)
    found = rows(MINED, short)
    assert found[0].relation is Relation.SAME
    for row, one in zip(found[1:], MINED.redescriptions[1:], strict=True):
        assert row.relation in (Relation.ONLY_FIRST, Relation.SAME_ATTRIBUTES)
        assert row.second is not None
        assert not row.second.listed
        answer = short.ask(*pair(one))
        assert row.second.statistics == answer.statistics
        assert row.compatible


def test_what_the_tables_cannot_tell_stays_unknown() -> None:
    stranger = mined_with("stranger")
    for row in rows(MINED, stranger):
        assert (row.first is None) != (row.second is None)
        assert row.relation in (Relation.ONLY_FIRST, Relation.ONLY_SECOND)
        assert row.compatible is None


def cut_at(glucose: float) -> Result:
    """Return what a clinic lists that cuts glucose at one point."""
    schema = clinic_schema().with_attribute("fasting glucose", cuts=[glucose])
    schema = schema.with_attribute("HbA1c", cuts=[14]).accept()
    return redveil.mine(redveil.load(*clinic_frames(2000), schema), 50, depth=1, trials=1)


def test_other_cuts_of_the_same_attributes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    first, second = cut_at(115), cut_at(120)
    found = rows(first, second)
    assert [row.relation for row in found] == [Relation.SAME_ATTRIBUTES] * 2
    assert [row.counterpart for row in found] == [1, 1]
    assert [(row.first is None, row.second is None) for row in found] == [
        (False, True),
        (True, False),
    ]
    shown = str(compare(first, second))
    assert "same attributes as entry 1 in second" in shown
    assert OTHER_SCHEMAS in shown


def said(low: float, high: float) -> Said:
    interval, few = Interval((low + high) / 2, low, high), Interval(60, 50, 70)
    always = Interval(0.5, 0.0, 1.0)
    return Said(Statistics(interval, 0.1, always, few, few, few, 1e-9, 1e-8, 1e-12), 1)


@pytest.mark.parametrize(
    ("second", "compatible"),
    [(said(0.3, 0.5), True), (said(0.6, 0.8), True), (said(0.61, 0.8), False), (None, None)],
)
def test_compatible_intervals_overlap(second: Said | None, *, compatible: bool | None) -> None:
    row = Compared("[a]", "[b]", Relation.SAME, said(0.4, 0.6), second)
    assert row.compatible is compatible


def test_two_runs_on_the_same_data_are_compatible_where_both_can_tell() -> None:
    told = [row.compatible for row in compare(MINED, OTHER) if row.compatible is not None]
    assert told
    assert all(told)


def test_nothing_can_be_compared_too() -> None:
    nothing = mined_clinic(NOTHING)
    found = compare(nothing, nothing)
    assert len(found) == 0
    assert "Neither result lists anything." in str(found)
    assert repr(found) == "<Comparison: nothing to compare>"
    assert {row.relation for row in compare(nothing, MINED)} == {Relation.ONLY_SECOND}


def test_it_is_shown_as_text_and_on_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    found = redveil.compare(MINED, MINED.top(1).complement(), names=("a.json", "b.json"))
    shown = str(found)
    assert "complement of entry 1 in b.json" in shown
    assert "only in a.json" in shown
    assert OTHER_SCHEMAS not in shown
    page = Page(found._repr_html_())
    must_be_ours(page)
    assert [code for code in page.codes if code] == [
        text for row in found for text in (row.left, row.right)
    ]
    assert OTHER_SCHEMAS in str(compare(MINED, mined_with("stranger")))


def test_json_holds_what_is_shown() -> None:
    found = compare(MINED, OTHER)
    plain: dict[str, Any] = json.loads(json.dumps(found.to_json()))
    assert plain["same_schema"] is True
    for row, one in zip(found, plain["rows"], strict=True):
        assert (one["left"], one["right"], one["compatible"]) == (
            row.left,
            row.right,
            row.compatible,
        )
        assert (one["second"] is None) == (row.second is None)
        if row.first is not None:
            assert one["first"]["place"] == row.first.place
            assert one["first"]["corrected"]["low"] == row.first.statistics.corrected.low


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_do_nothing_wherever_they_are_shown(name: str) -> None:
    found: Comparison = compare(mined_with(name), MINED, names=(name, "second"))
    must_be_ours(Page(found._repr_html_()))
    assert text(*found.blocks(narrow=True)).replace("\n", "").isprintable()
    assert str(found).replace("\n", "").isprintable()
