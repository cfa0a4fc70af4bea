from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from redveil.query.json_form import from_json
from redveil.query.text import to_text
from redveil.report.result import Result
from support.clinic import mined_clinic
from support.command_line import Command
from support.console import is_one_line
from support.results import document


def result() -> Result:
    return mined_clinic(algorithm="alt-expm")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    result().save(path)
    return path


def leaf(number: int, side: str, place: int) -> str:
    tree = getattr(result().document.tree_pairs[number], side)
    text: str = tree.ends[place].text
    return text


def test_an_answer_is_shown_with_its_intervals_and_no_price(file: Path, command: Command) -> None:
    left, right = leaf(2, "left", 0), f"!({leaf(2, 'right', 1)})"
    done = command("ask", file, left, right)
    found = result().ask(left, right)
    assert (done.code, done.err) == (0, "")
    shown = [line.strip() for line in done.out.splitlines()]
    assert shown[0].split(maxsplit=1) == ["left", left]
    known = found.statistics
    assert f"{known.jaccard.estimate:.2f} [{known.jaccard.low:.2f}, {known.jaccard.high:.2f}]" in (
        done.out
    )
    assert f"expected if unrelated {known.expected_jaccard:.2f}" in done.out
    assert f"{known.support_both.estimate:,.0f} [" in done.out
    assert f"table {found.table + 1} of 4" in done.out
    assert shown[-1].startswith("cost       nothing")


def test_an_answer_in_json_has_all_digits(file: Path, command: Command) -> None:
    left, right = leaf(1, "left", 0), leaf(1, "right", 0)
    found = result().ask(left, right)
    made = json.loads(command("ask", file, left, right, "--json").out)
    assert made["jaccard"]["low"] == found.statistics.jaccard.low
    assert made["support"]["right"]["estimate"] == found.statistics.support_right.estimate
    assert (made["p_value"], made["tree_pair"]) == (found.statistics.p_value, found.table)
    assert (made["left"], made["right"], made["cost"]) == (found.left, found.right, "0")


def test_without_queries_every_leaf_is_listed(file: Path, command: Command) -> None:
    done = command("ask", file)
    assert (done.code, done.err) == (0, "")
    pairs = result().document.tree_pairs
    for pair in pairs:
        for cell in (*pair.left.ends, *pair.right.ends):
            assert cell is None or cell.text in done.out
    listed = json.loads(command("ask", file, "--json").out)
    assert [len(one["left"]) for one in listed] == [4] * len(pairs)
    assert listed[0]["right"][0] == leaf(0, "right", 0)


def test_every_listed_leaf_can_be_asked(file: Path, command: Command) -> None:
    for pair in json.loads(command("ask", file, "--json").out):
        for left in pair["left"]:
            assert command("ask", file, left, pair["right"][0]).code == 0


def test_a_question_outside_says_where_to_look_in_one_line(file: Path, command: Command) -> None:
    refused = command("ask", file, leaf(2, "left", 0), "[uric acid <= 6.3125]")
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert "right query: [uric acid <= 6.3125] " in refused.err
    assert refused.err.endswith(f" (`redveil ask {file}` lists the leaves)\n")


def test_an_unknown_attribute_comes_with_a_similar_one(file: Path, command: Command) -> None:
    refused = command("ask", file, "[goutt]", "[uric acid > 7.5]")
    assert refused.code == 2
    assert "left query: no attribute goutt; did you mean gout?" in refused.err


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (["[gout"], "takes two queries"),
        (["[gout", "[uric acid > 7.5]"], "left query, position 6"),
        (["[gout]", "[uric acid < 7.5]"], "write <= or >"),
        (["", "[uric acid > 7.5]"], "left query, position 1"),
        (["[gout]", "[uric acid > 7.5]", "[age > 3]"], "--help"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    queries: list[str], message: str, file: Path, command: Command
) -> None:
    refused = command("ask", file, *queries)
    assert (refused.code, refused.out) == (2, "")
    assert is_one_line(refused.err)
    assert message in refused.err


def test_a_result_without_tables_is_no_crash(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "result.json"
    Result(document()).save(path)
    assert "nothing to ask" in command("ask", path).out
    assert json.loads(command("ask", path, "--json").out) == []
    refused = command("ask", path, "[a]", "[b]")
    assert refused.code == 2
    assert is_one_line(refused.err)


def rewritten(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a result; a query's notations are made again from its JSON."""
    if not {"text", "json"} <= part.keys():
        return part
    query = from_json(part["json"])
    return part | {"text": to_text(query)}


def test_names_that_look_like_markup_are_shown_as_they_are(
    tmp_path: Path, command: Command
) -> None:
    split = result().document.tree_pairs[2].left.splits[0]
    assert split is not None
    name = split["attribute"]
    plain = json.loads(result().to_json().replace(f'"{name}"', '"[b]g"'), object_hook=rewritten)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    left = leaf(2, "left", 0).replace(name, '"[b]g"')
    done = command("ask", path, left, leaf(2, "right", 0))
    assert done.code == 0
    assert left in done.out
    assert '"[b]g"' in left
    assert left in command("ask", path).out


def test_the_help_has_an_example(command: Command) -> None:
    shown = command("ask", "--help")
    assert shown.code == 0
    assert "redveil ask result.json '[gout]'" in shown.out


def test_where_nothing_can_be_asked_nothing_is_promised_to_be_listed(
    tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "bare.json"
    bare = {"tree_pairs": (), "redescriptions": (), "false_discoveries": None}
    Result(result().document.model_copy(update=bare)).save(path)
    refused = command("ask", path, "[gout]", "[uric acid > 7.5]")
    assert refused.code == 2
    assert refused.err == ("redveil: this result holds no leaf table, so there is nothing to ask\n")
