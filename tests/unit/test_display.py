"""What notebooks and terminals show of every public object, whatever names it holds."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import redveil
from redveil.base.display import (
    MOST_ROWS,
    Code,
    Displayed,
    Folded,
    Listing,
    Note,
    html,
    rendered,
    text,
)
from redveil.data.dataset import Dataset
from redveil.data.report import AttributeCounts, LoadReport, Slip, ViewCounts
from redveil.data.table import Table
from redveil.findings.questions import Answer
from redveil.findings.statistics import Interval, Statistics
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.report.compare import Comparison
from redveil.report.result import Result
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Sealed
from support.clinic import mined_clinic
from support.page import HOSTILE, Page, must_be_ours
from support.results import CERTIFICATE, document, redescription

CONTROL = "a\x1b[31mred\x07"
MARKUP = "[bold]x[/bold] [link=http://x]y[/link] :smile:"
NAMES = [*HOSTILE, CONTROL, MARKUP]


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")


def without_control(name: str) -> str:
    return "".join(" " if unicodedata.category(c) == "Cc" and c not in "\n\t" else c for c in name)


def schema_with(name: str) -> Schema:
    left = View(
        name,
        f"{name} key",
        (
            Attribute(name, Kind.CATEGORICAL, categories=(name, "other")),
            Attribute("age", Kind.NUMERIC, minimum=0, maximum=110, cuts=(18.0, 65.0)),
        ),
    )
    return Schema(name, left, View("right", "id", (Attribute("b", Kind.BOOLEAN),)), unit=name)


def draft_with(name: str) -> redveil.Draft:
    left = pa.table({"id": [1, 2, 3], name: [name, "other", name]})
    return redveil.draft(left, pa.table({"id": [1, 2, 3], "b": [True, False, True]}))


def answer_with(name: str) -> Answer:
    half = Interval(0.5, 0.4, 0.6)
    return Answer(
        name, name, Statistics(half, 0.1, half, half, half, half, 1e-9, 1e-8, 1e-12), 0, unit=name
    )


SHOWN: dict[str, Callable[[str], Displayed]] = {
    "schema": schema_with,
    "draft": draft_with,
    "data set": lambda name: Dataset(
        schema_with(name), Sealed(Table(0, {}, {})), Sealed(LoadReport(0))
    ),
    "load report": lambda name: LoadReport(
        3,
        left=ViewCounts(only=1, ignored=(name,)),
        attributes=(AttributeCounts(Side.LEFT, name, missing=1),),
        slips=(Slip("not a number", "missing", "correct it", 1, (name,)),),
        unit=name,
    ),
    "plan": lambda name: Plan(
        Fraction(1), (Step(StepKey(StepKind.LEAF_TABLE, part=name), "choose", Fraction(1)),)
    ),
    "certificate": lambda name: CERTIFICATE.model_copy(
        update={"unit": name, "protects": name, "schema_name": name, "conditions": (name,)}
    ),
    "answer": answer_with,
    "comparison": lambda name: Comparison((), (name, name), (name, name)),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", SHOWN)
def test_names_are_shown_and_do_nothing_on_a_page(kind: str, name: str) -> None:
    page = Page(SHOWN[kind](name)._repr_html_())
    must_be_ours(page)
    assert without_control(name) in page.text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", SHOWN)
def test_names_are_shown_and_do_nothing_on_a_terminal(kind: str, name: str) -> None:
    seen = str(SHOWN[kind](name))
    assert "".join(c if c.isprintable() else " " for c in name) in seen
    assert seen.replace("\n", "").isprintable()


@pytest.mark.parametrize("kind", SHOWN)
def test_a_representation_is_one_short_line(kind: str) -> None:
    shown = repr(SHOWN[kind]("gout"))
    assert "\n" not in shown
    assert len(shown) < 120


@given(st.text(), st.text())
def test_any_text_comes_out_as_it_went_in(one: str, other: str) -> None:
    listing = Listing((one, other), [(Code(one), Note(other))], caption=one, footer=(other, one))
    page = Page(html(one, Note(other), Folded(one, listing)))
    must_be_ours(page)
    given = one + other + one + one + one + other + one + other + other + one
    assert page.text == without_control(given)


@pytest.mark.parametrize("kind", SHOWN)
def test_names_do_nothing_if_a_page_is_looked_at_on_a_terminal(kind: str) -> None:
    page = SHOWN[kind](CONTROL)._repr_html_()
    assert not {c for c in page if unicodedata.category(c) == "Cc"} - {"\n"}


def test_text_rendered_by_rich_has_no_control_characters() -> None:
    assert rendered(["a\x1b[31mb"]).isprintable()


@given(st.text(), st.text())
def test_text_has_no_control_characters(one: str, other: str) -> None:
    listing = Listing((one, other), [(Code(one), Note(other))], caption=one, footer=(other, one))
    shown = text(one, Note(other), Folded(one, listing))
    assert shown.replace("\n", "").isprintable()


def test_heads_and_names_of_facts_are_marked_for_screen_readers() -> None:
    table = Listing(("step", "ε"), [("size", "1")], caption="Plan", footer=("sum", "1")).html()
    assert table.startswith("<table><caption")
    assert table.count("<th scope=col ") == 2
    assert "<tfoot>" in table
    facts = Listing((), [("unit", "patient"), ("conditions", "a"), ("", "b")]).html()
    assert facts.count("<th scope=row ") == 2
    assert ">a<br>b</td>" in facts


def test_nothing_has_a_colour_of_its_own() -> None:
    # On a dark theme, black text or a white background would be unreadable.
    for kind, make in SHOWN.items():
        shown = make("gout")._repr_html_()
        assert "background" not in shown, kind
        assert shown.count("color:") == shown.count("color:inherit"), kind


def test_a_plan_lists_its_steps_with_prices_and_their_sum() -> None:
    lines = str(redveil.plan(1, entities=1000)).splitlines()
    assert [line.split() for line in (lines[0], lines[1], lines[-1])] == [
        ["step", "mechanism", "ε"],
        ["size", "count", "1/100"],
        ["sum", "1"],
    ]
    assert "ρ" in str(redveil.plan(1, delta=1e-6))


def test_a_long_schema_is_shortened() -> None:
    many = tuple(Attribute(f"b{number}", Kind.BOOLEAN) for number in range(MOST_ROWS + 40))
    plain = schema_with("x")
    schema = replace(plain, left=replace(plain.left, attributes=many))
    shown = str(schema)
    assert f"b{MOST_ROWS - 1}" in shown
    assert f"b{MOST_ROWS} " not in shown
    assert "… and 40 more" in shown
    assert "100 attributes" in shown


def test_a_draft_shows_every_column_and_says_that_it_is_not_private() -> None:
    shown = str(draft_with("ward"))
    assert shown.startswith("draft: NOT private")
    assert "2 categories taken from the data" in " ".join(shown.split())
    assert "entity key, different in every row" in shown
    assert str(draft_with("ward").schema).startswith("draft: NOT private")
    assert "NOT private" not in str(schema_with("ward"))


def test_a_result_prints_as_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    result = mined_clinic()
    shown = str(result)
    assert "Privacy certificate" in shown
    assert "corrected [95 %]" in shown
    first = result.redescriptions[0]
    assert f"{first.jaccard.estimate:.2f} [" in shown
    assert repr(result) == f"<Result: {len(result)} redescriptions, ε = 3, exact, alt-expm>"
    assert repr(Result(document(redescription()))).startswith("<Result: 1 redescription, ")


def test_a_redescription_prints_its_queries_and_its_index() -> None:
    one = redescription("gout", "uric acid")
    assert str(one).startswith("[gout] ⟷ [uric acid]: Jaccard 0.50 [0.25, 0.75] (expected if")
    assert repr(one) == f"<Redescription {one}>"


def test_a_load_report_is_marked_as_not_private_and_warns() -> None:
    report = LoadReport(100, attributes=(AttributeCounts(Side.LEFT, "age", unreadable=9),))
    page = Page(report._repr_html_())
    assert page.text.startswith("NOT PRIVATE")
    assert "warning: left, age: 9.0 % of the values are unreadable" in page.text
    assert "NOT private" in repr(report)
