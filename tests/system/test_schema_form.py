"""The form of a schema in a real browser, and the command that serves it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from redveil.schema import Schema
from support.browser import chromium, visited
from support.forms import SCHEMA, asked, served, written

PHONE = {"width": 360, "height": 740}
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`&amp;<b>",
    "\N{RIGHT-TO-LEFT OVERRIDE}esrever",
    "l" + "o" * 398 + "g",
    "two\nlines",
    "__proto__",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path)


def line(page: Any, name: str) -> Any:
    """Return the line of a column, which opens its editor."""
    return page.locator(".line", has=page.locator(".name", has_text=re.compile(f"^{name}")))


def state(page: Any) -> Any:
    return page.locator("#state")


def said(page: Any, text: str) -> None:
    """Wait until the foot of the page says something; screen readers are told the same."""
    page.locator("#state", has_text=text).wait_for()
    assert text in page.locator("#live").inner_text()


def shown(page: Any, name: str, text: str) -> None:
    """Wait until the line of a column says something."""
    line(page, name).filter(has_text=text).wait_for()


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_column_is_edited_by_keyboard_previewed_and_saved(browser: Any, path: Path) -> None:
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        shown(page, "age", "3 from the data")
        line(page, "age").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "left-1-use"
        page.get_by_label("Least value").fill("0")
        page.get_by_label("Greatest value").fill("110")
        shown(page, "age", "0 to 110, 19 cut points")
        assert "19 cut points: 5, 11, 16" in page.locator(".scale p").inner_text()
        assert page.locator(".scale svg line").count() == 1 + 19
        assert "1 from the data" in line(page, "age").text_content()
        page.get_by_label("Cut", exact=True).focus()
        page.get_by_label("Cut", exact=True).select_option("explicit")
        assert page.evaluate("document.activeElement.id") == "left-1-rule"
        page.get_by_label("Cut points").fill("18, 40, 65")
        shown(page, "age", "0 to 110, 3 cut points")
        page.get_by_label("Title").fill("Age (years)")
        assert state(page).inner_text() == "1 column changed"
        page.keyboard.press("Control+s")
        said(page, "Saved.")
        # It stays open where it was, and Escape leads back to its line.
        page.get_by_label("Title").press("Escape")
        assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
        assert seen.complaints == []
    field = read(path)["resources"][0]["schema"]["fields"][1]
    assert field["constraints"] == {"minimum": 0, "maximum": 110}
    assert field["redveil"]["cuts"] == {"method": "explicit", "values": [18, 40, 65]}
    assert field["unit of measurement"] == "years"
    age = Schema.read(path).left.attributes[0]
    assert (age.title, age.cuts) == ("Age (years)", (18, 40, 65))


def test_every_kind_of_column_can_be_declared(browser: Any, path: Path) -> None:
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        line(page, "note").click()
        page.get_by_label("Use this column").check()
        alert = page.get_by_role("alert")
        assert "no categories; list them in constraints.enum" in alert.inner_text()
        for kind, label, value in (
            ("ordered", "Categories", "low\nhigh"),
            ("boolean", "Yes is written", "y"),
            ("number", "Least value", "-1"),
            ("date", "Least value", "2001-01-01"),
        ):
            page.get_by_label("Values are").select_option(kind)
            if kind == "boolean":
                page.get_by_text("How values are written").click()
            page.get_by_label(label).fill(value)
        page.get_by_label("Greatest value").fill("2004-12-31")
        page.get_by_label("Cut", exact=True).select_option("months")
        shown(page, "note", "2001-01-01 to 2004-12-31, 47 cut points")
        page.get_by_label("No value is missing").check()
        page.get_by_role("button", name="Save").click()
        said(page, "Saved.")
        assert seen.complaints == []
    note = read(path)["resources"][0]["schema"]["fields"][4]
    assert note == {
        "name": "note",
        "type": "date",
        "constraints": {"required": True, "minimum": "2001-01-01", "maximum": "2004-12-31"},
        "redveil": {"cuts": "months"},
    }


def test_problems_stand_at_their_row_and_nothing_is_saved(browser: Any, path: Path) -> None:
    before = path.read_bytes()
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        line(page, "acid").click()
        page.get_by_label("Least value").fill("20")
        alert = page.get_by_role("alert")
        alert.wait_for()
        assert alert.inner_text().startswith("the bounds are empty or too wide; declare a minimum")
        line(page, "acid").click()
        page.get_by_role("button", name="Save").click()
        said(page, "Not saved: the bounds are empty")
        assert "1 problem" in line(page, "acid").text_content()
        # It leads to the row.
        assert line(page, "acid").get_attribute("aria-expanded") == "true"
        page.get_by_role("button", name="Undo changes to this column").click()
        assert page.get_by_label("Least value").input_value() == "0"
        assert state(page).inner_text() == "Everything is saved."
        assert page.get_by_role("button", name="Save").is_disabled()
        page.get_by_label("Budget").fill("")
        page.get_by_role("button", name="Save").click()
        said(page, "Not saved: the budget would be lost")
        assert "the budget would be lost" in page.get_by_role("alert").inner_text()
        assert seen.complaints == []
    assert path.read_bytes() == before


def test_the_data_set_and_its_tables_are_edited(browser: Any, path: Path) -> None:
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        page.get_by_label("One entity is called").fill("person")
        page.get_by_label("Budget").fill("7/2")
        page.get_by_text("Columns that may not be matched").click()
        page.get_by_role("button", name="Add a group").click()
        page.get_by_label("Group 1").fill("age\nacid")
        page.get_by_text("What means “no value” in this table").first.click()
        page.get_by_label("An empty cell").first.uncheck()
        page.get_by_label("These texts").first.fill("?\nunknown")
        assert state(page).inner_text() == "tables or data set changed"
        page.get_by_role("button", name="Save").click()
        said(page, "Saved.")
        assert seen.complaints == []
    wanted = deepcopy(SCHEMA)
    wanted["redveil"] |= {"unit": "person", "budget": "7/2", "unmatched": [["age", "acid"]]}
    wanted["resources"][0]["schema"]["missingValues"] = ["?", "unknown"]
    assert read(path) == wanted


def test_a_file_that_was_changed_meanwhile_is_not_replaced(browser: Any, path: Path) -> None:
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        before = path.read_bytes()
        page.get_by_label("One entity is called").fill("person")
        page.get_by_role("button", name="Save").click()
        said(page, "changed since it was read; run the command again")
        assert path.read_bytes() == before


def test_the_page_ends_the_server_and_asks_before_it_loses_anything(
    browser: Any, path: Path
) -> None:
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        asked_for: list[str] = []

        def stay(dialog: Any) -> None:
            asked_for.append(dialog.message)
            dialog.dismiss()

        page.once("dialog", stay)
        page.get_by_label("One entity is called").fill("person")
        page.get_by_role("button", name="Done").click()
        assert asked_for == ["Some changes are not saved. Leave without them?"]
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Done").click()
        page.get_by_text("The form is closed").wait_for()
        assert "redveil schema accept" in page.locator("main").inner_text()
        assert page.get_by_role("button").count() == 0
        assert seen.complaints == []


def test_without_the_token_the_page_says_so(browser: Any, path: Path) -> None:
    with served(path) as server, visited(browser, f"{server.origin}/#nonsense") as seen:
        alert = seen.page.get_by_role("alert")
        alert.wait_for()
        assert alert.inner_text() == "no token; open the whole address that redveil printed"


def test_names_that_mean_harm_are_only_names(browser: Any, tmp_path: Path) -> None:
    hostile = deepcopy(SCHEMA)
    hostile["name"] = HOSTILE[0]
    hostile["resources"][0]["name"] = HOSTILE[1]
    fields = hostile["resources"][0]["schema"]["fields"]
    fields += [{"name": name, "type": "boolean", "title": name} for name in HOSTILE]
    fields.append({"name": "labels", "type": "string", "constraints": {"enum": list(HOSTILE)}})
    path = written(tmp_path, hostile)
    with (
        served(path) as server,
        visited(browser, server.address, viewport=PHONE) as seen,
    ):
        page = seen.page
        page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
        page.locator(".line").first.wait_for()
        names = page.locator(".name > bdi").all_text_contents()
        assert names[4 : 4 + len(HOSTILE)] == list(HOSTILE)
        for place in range(page.locator(".line").count()):
            page.locator(".line").nth(place).click()
        assert page.locator("main script, main img, main b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.locator("#left-12-categories").inner_text().startswith("Some of these have")
        page.locator("#left-5-title").fill("harmless")
        page.get_by_role("button", name="Save").click()
        said(page, "Saved.")
        assert seen.complaints == []
    fields[5]["title"] = "harmless"
    assert read(path)["resources"][0]["schema"]["fields"] == fields


def test_two_thousand_columns_are_found_and_edited(browser: Any, tmp_path: Path) -> None:
    wide = deepcopy(SCHEMA)
    for resource in wide["resources"]:
        number = {"type": "number", "constraints": {"minimum": 0, "maximum": 1}}
        resource["schema"]["fields"] += [{"name": f"c{n}", **number} for n in range(1000)]
    path = written(tmp_path, wide)
    with served(path) as server, visited(browser, server.address) as seen:
        page = seen.page
        page.get_by_text("2,006 columns").wait_for()
        page.get_by_label("Find a column").fill("C99")
        assert page.locator("#found").inner_text().startswith("22 columns of 2,006")
        assert page.locator(".line:visible").count() == 22
        page.locator(".line:visible").last.click()
        page.get_by_label("Title").fill("The last one")
        page.get_by_label("Which columns").select_option("changed")
        page.get_by_label("Find a column").fill("")
        assert page.locator(".line:visible").count() == 1
        page.get_by_label("Which columns").select_option("data")
        # The open one stays in sight.
        assert page.locator(".line:visible").count() == 2
        page.get_by_role("button", name="Save").click()
        said(page, "Saved.")
        assert seen.complaints == []
    assert read(path)["resources"][1]["schema"]["fields"][-1]["title"] == "The last one"


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_has_a_name_and_everything_fits(
    browser: Any, path: Path, width: int, scheme: str
) -> None:
    settings = {"viewport": {"width": width, "height": 740}, "color_scheme": scheme}
    with served(path) as server, visited(browser, server.address, **settings) as seen:
        page = seen.page
        page.locator(".line").first.wait_for()
        for place in range(page.locator(".line").count()):
            page.locator(".line").nth(place).click()
        for place in range(page.locator("details").count()):
            page.locator("details").nth(place).evaluate("one => { one.open = true; }")
        nameless = page.evaluate(
            """[...document.querySelectorAll("input, select, textarea, button")].filter(
                 (one) => !one.labels?.length && !one.ariaLabel && !one.textContent.trim()
               ).map((one) => one.outerHTML)"""
        )
        assert nameless == []
        doubled = page.evaluate(
            """[...document.querySelectorAll("[id]")].map((one) => one.id).filter(
                 (id, place, all) => all.indexOf(id) !== place)"""
        )
        assert doubled == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.complaints == []


def start(path: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the command without a browser; return it and the address that it prints."""
    command = [sys.executable, "-m", "redveil", "schema", "edit", str(path), "--no-browser"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = process.stderr.readline()
    return process, re.findall(r"http://127\.0\.0\.1:\d+/#[\w-]{40,}", first)[0]


def test_the_command_serves_until_the_page_is_done(path: Path) -> None:
    process, address = start(path)
    with process:
        origin, _, token = address.partition("/#")
        headers = {"X-Redveil-Token": token, "Origin": origin, "Content-Type": "application/json"}
        done = urllib.request.Request(f"{origin}/done", b"{}", headers)
        with urllib.request.urlopen(done, timeout=10) as answer:
            assert answer.status == 200
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert "next: redveil schema check" in process.stderr.read()


def test_ctrl_c_ends_the_command(path: Path) -> None:
    process, _ = start(path)
    with process:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert "stopped; what was not saved is lost" in process.stderr.read()


def test_the_form_counts_the_splits_that_the_program_counts(path: Path) -> None:
    with served(path) as server:
        _, _, told = asked(server, "/schema")
    attributes = Schema.read(path).left.attributes
    columns = {one["name"]: one for one in told["views"][0]["columns"]}
    assert [columns[one.name]["splits"] for one in attributes] == [one.splits for one in attributes]
