"""Answers to free questions, as text and as JSON."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from redveil.findings.questions import Answer
from redveil.findings.statistics import Interval, Statistics
from redveil.report.answer import answer_json, leaf_texts, leaves_view
from support.clinic import mined_clinic

STATISTICS = Statistics(
    jaccard=Interval(0.5, 0.25, 0.75),
    expected_jaccard=0.125,
    corrected=Interval(0.4, 0.2, 0.7),
    support_left=Interval(60, 50, 70),
    support_right=Interval(65, 55, 75),
    support_both=Interval(1234, 1200, 1268),
    p_value=1e-30,
    p_value_confirming=1e-28,
    p_value_estimate=1e-40,
)
ANSWER = Answer("[gout]", "[uric acid > 7]", STATISTICS, table=1, tables=3, unit="patient")


def seen(view: RenderableType) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    console.print(view)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_an_answer_is_shown_fact_by_fact() -> None:
    lines = [line.split(maxsplit=1) for line in str(ANSWER).splitlines()]
    facts = [(name, rest[0].strip() if rest else "") for name, *rest in lines]
    assert facts[:2] == [("left", "[gout]"), ("right", "[uric acid > 7]")]
    assert facts[2] == ("Jaccard", "0.50 [0.25, 0.75] (expected if unrelated 0.12)")
    assert facts[3] == ("corrected", "0.40 [0.20, 0.70]")
    assert facts[4] == ("patients", "1,234 [1,200, 1,268] in both")
    text = str(ANSWER)
    assert "60 [50, 70] left, 65 [55, 75] right" in text
    assert "p at most  1e-30" in text
    assert "leaf table 2 of 3" in text
    assert "nothing: computed from released counts, not from rows" in text


@pytest.mark.parametrize("name", ["[bold]x[/bold]", "[/nothing]", ":smile:", "\\[red]"])
def test_queries_and_units_that_look_like_markup_are_shown_literally(name: str) -> None:
    answer = Answer(name, name, STATISTICS, 0, unit=name)
    for shown in (str(answer), seen(answer.listing().rich())):
        assert shown.count(name) == 3
        assert f"{name}s" in shown


def test_a_result_s_answer_has_its_unit_and_tables() -> None:
    result = mined_clinic()
    trees = result.document.tree_pairs[0]
    answer = result.ask(trees.left.ends[0].text, trees.right.ends[0].text)  # type: ignore[union-attr]
    assert answer.unit == "patient"
    assert answer.tables == len(result.document.tree_pairs)
    assert "\n" not in repr(answer)


def test_an_answer_as_json_has_the_names_of_a_result_file() -> None:
    made = answer_json(ANSWER)
    kept = mined_clinic().redescriptions[0].model_dump(by_alias=True)
    assert made.keys() - kept.keys() == {"tree_pair", "cost"}
    assert kept.keys() - made.keys() == {"before", "confirmed", "detail", "source", "true"}
    assert made["support"].keys() == kept["support"].keys()
    assert made["jaccard"] == {"estimate": 0.5, "low": 0.25, "high": 0.75}
    assert made["support"]["both"] == {"estimate": 1234, "low": 1200, "high": 1268}
    assert made["corrected"] == {"estimate": 0.4, "low": 0.2, "high": 0.7}
    assert (made["expected_jaccard"], made["p_value"]) == (0.125, 1e-30)
    assert made["p_value_confirming"] == 1e-28
    assert (made["tree_pair"], made["cost"]) == (1, "0")


def test_the_leaves_that_can_be_asked_about_are_listed() -> None:
    pairs = mined_clinic().document.tree_pairs
    shown = "".join(seen(leaves_view(pairs)).split())
    for pair in pairs:
        for tree in (pair.left, pair.right):
            assert len(leaf_texts(tree)) == len(tree.ends) - len(tree.stuck_at)
            for text in leaf_texts(tree):
                assert "".join(text.split())[:12] in shown
