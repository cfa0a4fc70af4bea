from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from redveil.errors import InputError, SchemaError
from redveil.schema import Schema
from redveil.schema_form.form import Form, UnreadableError
from support.forms import SCHEMA, written


def column(form: Form, side: str, number: int) -> dict[str, Any]:
    view = next(one for one in form.shown()["views"] if one["side"] == side)
    found: dict[str, Any] = next(one for one in view["columns"] if one["number"] == number)
    return found


def change(form: Form, side: str, number: int, **changes: Any) -> dict[str, Any]:
    """Return a row of the form with some parts changed, as the page sends it."""
    row = deepcopy(column(form, side, number)["row"])
    for key, value in changes.items():
        row[key] = {**row[key], **value} if isinstance(row[key], dict) else value
    return {"side": side, "number": number, "row": row}


def test_everything_is_shown_but_the_key_and_no_data(tmp_path: Path) -> None:
    # The table is there, and nobody looks at it.
    (tmp_path / "diagnoses.csv").write_text("patient,age\nSECRET,77\n", encoding="utf-8")
    shown = Form(written(tmp_path)).shown()
    assert shown["name"] == "clinic"
    assert shown["id"] == "7e57"
    assert shown["isDraft"]
    package = {"name": "clinic", "unit": "patient", "budget": "3", "budget_delta": ""}
    assert shown["package"] == package
    assert [one["name"] for one in shown["views"][0]["columns"]] == ["age", "gout", "sex", "note"]
    assert shown["views"][0]["key"] == shown["views"][1]["key"] == "patient"
    assert shown["problems"] == []
    age = shown["views"][0]["columns"][0]
    assert age["summary"] == "18 to 101, 19 cut points"
    assert age["points"][:3] == ["22", "26", "30"]
    assert age["fromData"] == ["minimum 18", "maximum 101", "type integer"]
    assert shown["views"][1]["columns"][1]["points"] == [str(year) for year in range(2010, 2019)]
    assert "SECRET" not in json.dumps(shown)


def test_an_edit_is_previewed_and_nothing_is_written(tmp_path: Path) -> None:
    path = written(tmp_path)
    form, before = Form(path), path.read_bytes()
    told = form.preview(change(form, "left", 1, maximum="110", minimum="0"))
    assert told["summary"] == "0 to 110, 19 cut points"
    assert told["fromData"] == ["type integer"]
    told = form.preview(change(form, "left", 1, minimum="200"))
    assert told["problems"] == [
        "the bounds are empty or too wide; declare a minimum below the maximum, both finite"
    ]
    assert told["points"] == []
    assert path.read_bytes() == before


def test_saving_keeps_everything_else(tmp_path: Path) -> None:
    path = written(tmp_path)
    form, before = Form(path), path.read_bytes()
    saved = form.save(
        {
            "version": form.version,
            "rows": [change(form, "left", 1, minimum="0"), change(form, "right", 1, title="Acid")],
            "missingValues": {"left": ["", "?"]},
            "package": {"name": "ward", "unit": "person", "budget": "5", "budget_delta": ""},
            "unmatched": [["age", "acid"], []],
        }
    )
    assert saved.problems == []
    assert saved.kept is not None
    assert saved.kept.read_bytes() == before
    wanted = deepcopy(SCHEMA)
    wanted["resources"][0]["schema"]["fields"][1]["constraints"]["minimum"] = 0
    wanted["resources"][1]["schema"]["fields"][1]["title"] = "Acid"
    wanted["resources"][0]["schema"]["missingValues"] = ["", "?"]
    wanted["name"] = "ward"
    wanted["redveil"] |= {"unit": "person", "budget": "5", "unmatched": [["age", "acid"]]}
    assert json.loads(path.read_text(encoding="utf-8")) == wanted
    read = Schema.read(path)
    assert (read.id, read.unit) == ("7e57", "person")
    # And once more, from what was saved.
    assert form.save({"version": form.version, "rows": [change(form, "left", 2, title="Gout")]})
    assert json.loads(path.read_text(encoding="utf-8"))["redveil"] == wanted["redveil"]


def test_saving_nothing_new_means_the_same(tmp_path: Path) -> None:
    path = written(tmp_path)
    form, shown = Form(path), Form(path).shown()
    rows = [
        {"side": view["side"], "number": one["number"], "row": one["row"]}
        for view in shown["views"]
        for one in view["columns"]
    ]
    missing = {view["side"]: view["missingValues"] for view in shown["views"][:1]}
    everything = {"package": shown["package"], "unmatched": shown["unmatched"]}
    form.save({"version": form.version, "rows": rows, "missingValues": missing, **everything})
    assert json.loads(path.read_text(encoding="utf-8")) == SCHEMA


def test_problems_are_told_where_they_are_and_nothing_is_written(tmp_path: Path) -> None:
    path = written(tmp_path)
    form, before = Form(path), path.read_bytes()
    saved = form.save(
        {
            "version": form.version,
            "rows": [
                change(form, "left", 1, minimum="x"),
                change(form, "left", 3, categories=["f"]),
                change(form, "right", 1, maximum="-1"),
            ],
        }
    )
    assert [(one["side"], one["number"], one["text"]) for one in saved.problems] == [
        ("left", 1, "the minimum is not a number; write it as in 12.5"),
        (
            "left",
            3,
            "1 categories; list 2 to 255, merging rare ones, or set redveil.use to false",
        ),
        (
            "right",
            1,
            "the bounds are empty or too wide; declare a minimum below the maximum, both finite",
        ),
    ]
    saved = form.save({"version": form.version, "package": {"budget": "much"}})
    assert saved.problems[0]["side"] == ""
    assert "redveil.budget is not a positive number" in saved.problems[0]["text"]
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_budget_cannot_be_lost(tmp_path: Path) -> None:
    path = written(tmp_path)
    form, before = Form(path), path.read_bytes()
    saved = form.save({"version": form.version, "package": {"budget": " "}})
    assert "the budget would be lost" in saved.problems[0]["text"]
    assert path.read_bytes() == before


def test_a_file_that_was_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = written(tmp_path)
    form = Form(path)
    other = deepcopy(SCHEMA)
    other["redveil"]["budget"] = "1"
    written(tmp_path, other)
    with pytest.raises(InputError, match="changed since it was read"):
        form.save({"version": form.version, "rows": [change(form, "left", 1, minimum="0")]})
    assert json.loads(path.read_text(encoding="utf-8")) == other


def test_a_window_that_is_older_than_the_last_save_is_refused(tmp_path: Path) -> None:
    form = Form(written(tmp_path))
    first = form.version
    form.save({"version": first, "rows": [change(form, "left", 1, minimum="0")]})
    with pytest.raises(InputError, match="saved from another window since"):
        form.save({"version": first, "rows": [change(form, "left", 1, minimum="5")]})


def test_a_schema_with_problems_can_be_repaired(tmp_path: Path) -> None:
    broken = deepcopy(SCHEMA)
    del broken["resources"][1]["schema"]["fields"][1]["constraints"]
    path = written(tmp_path, broken)
    form = Form(path)
    shown = form.shown()
    problem = "no bounds; declare constraints.minimum and constraints.maximum"
    assert shown["problems"] == [{"side": "right", "number": 1, "text": problem}]
    assert shown["views"][1]["columns"][0]["problems"] == [problem]
    row = change(form, "right", 1, minimum="0", maximum="9")
    assert form.save({"version": form.version, "rows": [row]}).problems == []
    assert Schema.read(path).right.attributes[0].maximum == 9


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"resources": []}, "0 resources; list exactly two"),
        ({"resources": [{"schema": {"fields": [{}]}}] * 2}, "a field without a name"),
        ({"resources": [{"schema": {"fields": [{"name": "a"}] * 2}}] * 2}, "declared twice"),
        ([1], "not a JSON object"),
    ],
)
def test_what_the_form_cannot_show_is_refused(
    tmp_path: Path, content: object, problem: str
) -> None:
    with pytest.raises(SchemaError, match=problem):
        Form(written(tmp_path, content))


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"side": "middle", "number": 1},
        {"side": "left", "number": "1"},
        {"side": "left", "number": True},
        {"side": "left", "number": 99},
        {"side": "left", "number": -1},
        {"side": "left", "number": 1},
        {"side": "left", "number": 1, "row": {"use": True}},
    ],
)
def test_what_is_no_row_is_refused(tmp_path: Path, asked: dict[str, Any]) -> None:
    form = Form(written(tmp_path))
    with pytest.raises(UnreadableError, match="reload the page"):
        form.preview(asked)
    with pytest.raises(UnreadableError, match="reload the page"):
        form.save({"version": form.version, "rows": [asked]})


@pytest.mark.parametrize(
    ("key", "value"), [("title", 3), ("use", "yes"), ("categories", "f"), ("categories", [1])]
)
def test_parts_of_a_row_are_of_their_kind(tmp_path: Path, key: str, value: object) -> None:
    form = Form(written(tmp_path))
    with pytest.raises(UnreadableError, match="reload the page"):
        form.preview(change(form, "left", 1, **{key: value}))
