"""The report in a real browser: every interaction, every size, and names that mean harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import redveil
from redveil.algorithms.catalogue import make_algorithm
from redveil.report.document import AttributePart, AttributesPart, ResultDocument
from redveil.report.page.stories import DETAILS
from redveil.report.result import Result
from support.browser import chromium, opened
from support.clinic import ANYTHING, NOTHING, clinic, mined, mined_clinic

PHONE = {"width": 360, "height": 740}
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'`&amp;<b>",
    "\N{RIGHT-TO-LEFT OVERRIDE}esrever \N{RIGHT-TO-LEFT MARK}",
    "l" + "o" * 398 + "g",
    "line\u2028separator",
    "${alert(1)}",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


def written(file: Path, result: Result) -> Path:
    file.write_text(result.report(), encoding="utf-8")
    return file


def found() -> Result:
    return mined_clinic(algorithm="twin", trials=3)


def changed(**parts: Any) -> Result:
    document: ResultDocument = found().document
    return Result(document.model_copy(update=parts))


@cache
def hostile() -> Result:
    rows = 400
    flags = [[(row >> place) % 2 == 1 for row in range(rows)] for place in range(len(HOSTILE))]
    numbers = [[row >> place for row in range(rows)] for place in range(len(HOSTILE))]
    keys = [str(row) for row in range(rows)]
    left = pa.table({"id": keys, **dict(zip(HOSTILE, flags, strict=True))})
    right = pa.table(
        {"id": keys, **{f"{name}2": n for name, n in zip(HOSTILE, numbers, strict=True)}}
    )
    schema = redveil.draft(left, right, key="id").schema
    for name in schema.left.names:
        schema = schema.with_attribute(name, title=name)
    schema = schema.replace(unit="<i>unit</i>").accept()
    dataset = redveil.load(left, right, schema)
    algorithm = make_algorithm(algorithm="twin", depth=2, trials=4)
    reporting = algorithm.profile.reporting(ANYTHING, None)
    return mined(dataset, algorithm, reporting, Fraction(50), seed=1)


def width_of(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


def unfold_tools(page: Any) -> None:
    """Open what sorts and filters; findings come first, so it is folded."""
    page.click("#toolbox > summary")


def visible(page: Any) -> list[str]:
    cards = page.locator(".finding:visible")
    return [cards.nth(at).get_attribute("data-number") for at in range(cards.count())]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE])
def test_all_parts_are_there_and_fit(
    browser: Any, file: Path, viewport: dict[str, int], scheme: str
) -> None:
    with opened(browser, written(file, found()), viewport=viewport, color_scheme=scheme) as page:
        heads = page.locator("h2").all_text_contents()
        assert heads == [
            *("What was found", "All findings at a glance", "How the two tables meet"),
            *("Ask more of the counts", "What was promised", "What it means"),
        ]
        assert width_of(page) == viewport["width"]
        assert page.locator(".finding").count() == len(found())
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(252, 251, 248)") == (scheme == "light")
        assert page.locator("#answer .value").is_visible()


def test_it_prints_on_two_pages(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        # A page tree lists its pages; nothing else in the file is of this type.
        assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 2
        page.emulate_media(media="print")
        assert not page.locator("#ask").is_visible()
        assert page.locator("#promised").is_visible()


def test_a_long_list_prints_whole_findings_only(browser: Any, file: Path) -> None:
    result = changed(redescriptions=(found().document.redescriptions * 40)[:40])
    with opened(browser, written(file, result), viewport={"width": 688, "height": 900}) as page:
        assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 2
        page.emulate_media(media="print")
        boxes = page.evaluate(
            """() => {
              const box = (one) => one.getBoundingClientRect();
              const [list, ...cards] = ["#findings", ".finding"].flatMap((name) =>
                [...document.querySelectorAll(name)].map(box));
              const seen = cards.filter((card) => card.right > list.left);
              return [seen.length, Math.max(...seen.map((card) => card.bottom)) - list.bottom];
            }"""
        )
        assert 2 < boxes[0] < 40
        assert boxes[1] < 1
        assert width_of(page) == 688
        assert "the file has all 40" in page.locator(".on-paper").inner_text()


def test_it_can_be_read_without_scripts(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found()), java_script_enabled=False) as page:
        assert page.locator(".finding .sentence").first.is_visible()
        assert page.locator(".promise").is_visible()
        assert not page.locator("#toolbox").is_visible()
        assert not page.locator("#workbench").is_visible()


def test_headings_stay_before_their_findings(browser: Any, file: Path) -> None:
    first = found().redescriptions[0].model_copy(update={"confirmed": True})
    story, detail = (first.model_copy(update={"detail": number}) for number in (None, 1))
    made = changed(redescriptions=(story, detail, detail))
    with opened(browser, written(file, made)) as page:
        heading = page.locator("#findings .part")
        after = "e => e.nextElementSibling.dataset.number"
        assert heading.inner_text() == DETAILS
        assert heading.evaluate(after) == "2"
        unfold_tools(page)
        page.select_option("#sort-order", "number in both")
        assert not heading.is_visible()
        page.select_option("#sort-order", "as listed")
        assert heading.evaluate(after) == "2"
        assert page.locator("#finding-2 .detail").inner_text() == "↳ adds to finding 1"
        page.click("nav.jumps a:last-child")
        assert page.url.endswith("#means")


def test_the_list_is_sorted_filtered_and_cut(browser: Any, file: Path) -> None:
    entries = found().redescriptions
    by_support = sorted(range(len(entries)), key=lambda n: -entries[n].support.both.estimate)
    with opened(browser, written(file, found())) as page:
        assert page.locator("#sort-order").is_hidden()
        unfold_tools(page)
        page.select_option("#sort-order", "number in both")
        assert visible(page) == [str(number + 1) for number in by_support]
        page.select_option("#sort-order", "as listed")
        name = entries[0].left.text.strip("[]! ").split("]")[0].split(" <")[0].split(" >")[0]
        page.fill("#search", name.upper())
        kept = visible(page)
        assert "1" in kept
        page.fill("#search", "no such attribute")
        assert visible(page) == []
        assert page.locator("#none-left").is_visible()
        for said in ("#live", "#toolbox .count"):
            assert page.locator(said).text_content() == f"0 of {len(entries)} shown"
        page.fill("#search", "")
        least = int(entries[by_support[0]].support.both.estimate)
        page.locator("#least-support").fill(str(least))
        assert visible(page) == [str(by_support[0] + 1)]
        page.locator("#least-support").fill("0")
        page.locator("#least-corrected").fill("0.5")
        strong = [str(n + 1) for n, one in enumerate(entries) if one.corrected.estimate >= 0.5]
        assert visible(page) == strong


def test_only_what_is_confirmed_can_be_shown(browser: Any, file: Path) -> None:
    first, *others = found().redescriptions
    doubted = first.model_copy(update={"confirmed": False})
    result = changed(redescriptions=(doubted, *others))
    with opened(browser, written(file, result)) as page:
        assert page.locator("#finding-1 .verdict").inner_text().startswith("○ not confirmed")
        unfold_tools(page)
        page.check("#confirmed-only")
        assert "1" not in visible(page)


def test_every_point_has_its_number_and_its_own_chance(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        dots = page.locator(".dot")
        # Points are drawn as soon as the width of their figure is known.
        dots.first.wait_for()
        assert dots.count() == len(found())
        assert page.locator(".dot text").all_text_contents() == [
            str(number) for number in range(1, len(found()) + 1)
        ]
        boxes = [one.bounding_box() for one in page.locator(".dot text").all()]
        for at, one in enumerate(boxes):
            for other in boxes[:at]:
                apart = abs(one["x"] - other["x"]) >= min(one["width"], other["width"]) - 1
                assert apart or abs(one["y"] - other["y"]) >= one["height"] - 4
        heights = [
            float(one.get_attribute("d").split()[1].split("h")[0])
            for one in page.locator(".dot .own-chance").all()
        ]
        expected = [one.expected_jaccard for one in found()]
        # Further down is less.
        assert sorted(range(len(heights)), key=lambda n: -heights[n]) == sorted(
            range(len(expected)), key=lambda n: expected[n]
        )


def test_groups_say_their_whole_path_and_borders_are_explained(browser: Any, file: Path) -> None:
    trees = [
        (number, pair.right)
        for number, pair in enumerate(found().document.tree_pairs)
        if any(node > 0 for node in pair.right.stuck_at)
    ]
    number, tree = trees[0]
    with opened(browser, written(file, found())) as page:
        page.select_option("#pair", str(number))
        buttons = page.locator(".heat th.right button").all()
        heads = [one.get_attribute("title") for one in buttons]
        unknown = [head for head in heads if head.endswith(" unknown")]
        assert len(unknown) == len(tree.stuck_at)
        assert sum(", " in head for head in unknown) == sum(node > 0 for node in tree.stuck_at)
        assert len(set(heads)) == len(heads)
        *borders, shade = page.locator("#ask .keys li").all_inner_texts()
        assert borders == [
            *("chosen in both", "chosen in diagnoses only", "chosen in laboratory only")
        ]
        assert " ".join(shade.split()).startswith("shade: from 0 to ")
        negative = min(map(min, found().document.tree_pairs[number].leaf_table.fitted)) <= -0.5
        assert page.locator(".below-zero").is_visible() == negative


def test_the_threshold_is_dragged_in_the_plot(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        plot = page.locator(".plot svg")
        plot.scroll_into_view_if_needed()
        knob, box = page.locator(".knob").bounding_box(), plot.bounding_box()
        page.mouse.move(knob["x"] + 5, knob["y"] - 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.9, knob["y"] - 40, steps=4)
        page.mouse.up()
        assert 0 < len(visible(page)) < len(found())
        assert page.locator(".dot.gone").count() == len(found()) - len(visible(page))
        assert int(page.locator("#least-support").input_value()) > 0


def test_the_points_are_reached_by_keys_and_lead_to_findings(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        page.locator(".dot[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        focused = page.locator(".dot:focus")
        number = focused.get_attribute("href").removeprefix("#finding-")
        assert page.locator(f"#finding-{number}.lit").count() == 1
        assert focused.get_attribute("aria-label").startswith(f"Finding {number}: ")
        page.keyboard.press("Enter")
        assert page.url.endswith(f"#finding-{number}")


def answer_shown(page: Any) -> tuple[str, list[str]]:
    codes = page.locator("#answer code").all_text_contents()
    return page.locator("#answer .value").text_content(), codes


def test_a_finding_is_shown_below_as_it_is_listed(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        for number, one in enumerate(found().redescriptions, start=1):
            page.click(f"#finding-{number} .actions button >> nth=0")
            value, codes = answer_shown(page)
            assert value == f"{one.jaccard.estimate:.2f}"
            assert codes == [one.left.text, one.right.text]
            assert page.evaluate("document.activeElement.id") == "meeting-title"


def test_questions_are_asked_by_leaves_and_cells(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        cells = page.locator(".cell")
        # The page may begin with the first cell, and choosing it again would give it up.
        cells.nth(1).click()
        cells.nth(0).click()
        value, codes = answer_shown(page)
        said = found().ask(*codes)
        assert value == f"{said.statistics.jaccard.estimate:.2f}"
        assert page.locator(".cell[aria-pressed='true']").count() == 1
        # Shift adds a row and a column; the same cell again gives all up.
        cells.nth(cells.count() - 1).click(modifiers=["Shift"])
        assert page.locator(".cell[aria-pressed='true']").count() == 4
        cells.nth(1).click()
        cells.nth(1).click()
        assert page.locator("#answer").inner_text().startswith("Choose a group in diagnoses and")
        # Leaves of the trees and heads of the table are the same groups.
        page.locator(".tree.left .end").nth(0).click()
        assert page.locator("#answer").inner_text() == "Choose a group in laboratory."
        page.locator(".heat th.right button").nth(0).focus()
        page.keyboard.press("Enter")
        value, codes = answer_shown(page)
        assert value == f"{found().ask(*codes).statistics.jaccard.estimate:.2f}"
        assert page.locator("#live").text_content().startswith(f"Jaccard index {value}")
        assert "in the groups chosen in diagnoses" in page.locator("#answer").inner_text()
        assert page.locator(".tree.right .end[aria-pressed='true']").count() == 1


def test_counts_are_rounded_alike_in_the_table_and_in_the_answer(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        page.locator(".cell").last.click()
        for at in range(page.locator(".cell").count()):
            cell = page.locator(".cell").nth(at)
            cell.click()
            shown = cell.locator("b").inner_text(), cell.locator("small").inner_text()
            answered = page.locator("#answer .numbers dt:text-is('in both') + dd").inner_text()
            assert answered == f"{shown[0]} ({shown[1]})"
            counts = page.locator("#answer figcaption span").all_inner_texts()
            assert [count.rsplit(" ", 1)[0] for count in counts] == [
                *("diagnoses only", "laboratory only")
            ]


def first_branch(node: int) -> int:
    while node > 2:
        node = (node - 1) // 2
    return node


def test_the_selector_names_the_branches_that_are_chosen(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        data = json.loads(page.locator("#result").text_content())
        for one in data["findings"]:
            page.click(f"#finding-{one['number']} .actions button >> nth=0")
            named = page.locator("#pair option:checked").text_content()
            for at, side in enumerate(("left", "right")):
                tree = data["pairs"][one["pair"]][side]
                branches = {first_branch(tree["ends"][end]["node"]) for end in one["ends"][at]}
                words = {each["node"]: each["words"] for each in tree["nodes"]}
                if len(branches) == 1 and 0 not in branches:
                    assert words[branches.pop()] in named


def test_columns_of_deep_trees_say_once_what_they_share(browser: Any, file: Path) -> None:
    deep = mined_clinic(algorithm="twin", depth=2, trials=3)
    with opened(browser, written(file, deep), viewport=PHONE) as page:
        groups = page.locator(".heat th.group").all()
        heads = page.locator(".heat th.right button").all()
        assert groups
        for head in heads:
            spoken = head.get_attribute("aria-label") or head.inner_text()
            assert spoken.endswith(head.get_attribute("title"))
        spans = [int(one.get_attribute("colspan")) for one in page.locator(".heat .group").all()]
        assert sum(spans) == len(heads)


def test_cells_are_moved_among_by_keys(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        page.locator(".cell").nth(0).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        assert page.locator(".cell[tabindex='0']").count() == 1
        page.keyboard.press("Space")
        assert page.locator(".cell:focus").get_attribute("aria-pressed") == "true"


def test_what_is_pointed_at_is_lit_everywhere(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        page.locator("#finding-1").hover()
        assert page.locator(".dot.lit").get_attribute("href") == "#finding-1"
        one = found().redescriptions[0]
        ends = len(one.source.left_ends), len(one.source.right_ends)
        assert page.locator(".cell.lit").count() == ends[0] * ends[1]
        assert page.locator(".tree.left .end.lit").count() == ends[0]
        page.locator(".heat th.left button").nth(1).hover()
        columns = page.locator(".heat th.right button").count()
        assert page.locator(".cell.lit").count() == columns
        page.locator(".cell").nth(0).hover()
        assert page.locator(".cell.lit").count() == 1
        assert page.locator(".ribbon.lit").count() <= 1
        page.locator("h1").hover()
        assert page.locator(".lit").count() == 0


def test_a_question_about_everybody_is_refused(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        for head in page.locator(".heat th.left button").all():
            if head.get_attribute("aria-pressed") == "false":
                head.click()
        assert page.locator("#answer").inner_text().startswith("This cannot be asked: one side")


def test_it_says_what_else_can_be_asked(browser: Any, file: Path) -> None:
    first = found().document.tree_pairs[0].left.splits[0]
    assert first is not None
    unused = "depression"
    used = json.dumps([pair.left.splits for pair in found().document.tree_pairs])
    assert unused not in used
    with opened(browser, written(file, found())) as page:
        page.fill("#about", first["attribute"])
        assert page.locator(".where button").first.inner_text() == "Pair 1"
        page.locator(".where button").first.click()
        assert page.locator("#pair").input_value() == "0"
        page.fill("#about", unused)
        assert f"redveil describe '[{unused}]'" in page.locator(".where").inner_text()
        assert "redveil refine" in page.locator(".where").inner_text()
        page.fill("#about", "nothing like it")
        assert "No attribute" in page.locator(".where").inner_text()


def test_findings_and_answers_are_copied(browser: Any, file: Path) -> None:
    one = found().redescriptions[0]
    allowed = ["clipboard-read", "clipboard-write"]
    with opened(browser, written(file, found()), permissions=allowed) as page:
        clipboard = "navigator.clipboard.readText()"
        page.click("#finding-1 .actions button >> nth=1")
        text = page.evaluate(clipboard)
        assert text.startswith(f"{one.left.text} ⟷ {one.right.text}: Jaccard ")
        unfold_tools(page)
        page.select_option("#copy-format", "JSON")
        page.click("text=Copy list")
        copied = json.loads(page.evaluate(clipboard))
        assert [entry["left"] for entry in copied] == [one.left.text for one in found()]
        assert page.locator("#live").text_content() == "List copied"
        page.locator(".cell").nth(1).click()
        page.click("#answer button >> text=JSON")
        (entry,) = json.loads(page.evaluate(clipboard))
        said = found().ask(entry["left"], entry["right"]).statistics
        assert entry["jaccard"]["low"] == pytest.approx(said.jaccard.low, rel=1e-9)
        assert entry["p_value"] == pytest.approx(said.p_value, rel=1e-6)


def test_words_are_explained_on_hover_and_on_focus(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        word = page.locator("#finding-1 .measure a.term").first
        word.hover()
        note = page.locator("#note")
        assert note.is_visible()
        assert "share that fits both" in note.inner_text()
        page.keyboard.press("Escape")
        assert not note.is_visible()
        page.locator("h1").hover()
        word.focus()
        assert note.is_visible()
        assert word.get_attribute("aria-describedby") == "note"
        word.press("Enter")
        assert page.url.endswith("#term-jaccard")


def test_the_certificate_is_unfolded(browser: Any, file: Path) -> None:
    with opened(browser, written(file, found())) as page:
        page.click("text=The certificate")
        facts = page.locator(".facts").inner_text()
        assert found().certificate.schema_digest in facts
        page.click("text=Every step of the run")
        assert page.locator(".steps tbody tr").count() == len(found().certificate.steps)


def test_hostile_names_are_shown_and_do_nothing(browser: Any, file: Path) -> None:
    result = hostile()
    assert len(result)
    with opened(browser, written(file, result), viewport=PHONE) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        assert page.locator("img, i").count() == 0
        assert page.locator("script").count() == 2
        assert width_of(page) == PHONE["width"]
        assert [code.split("\n")[0] for code in page.locator("#finding-1 code").all_text_contents()]
        widths: list[float] = []
        names: list[str] = []
        for at in range(page.locator("#pair option").count()):
            page.select_option("#pair", str(at))
            page.locator(".cell").nth(0).click()
            assert page.locator("#answer .value").is_visible()
            widths += [
                one.bounding_box()["width"] for one in page.locator(".heat th:not(.group)").all()
            ]
            names += [one.get_attribute("title") for one in page.locator(".heat .head").all()]
        # A name of 400 letters is folded, and does not push the others away.
        assert max(map(len, names)) > 400
        assert max(widths) < 200
        for name in HOSTILE:
            page.fill("#about", name)
        text = page.locator("body").inner_text()
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text


def test_two_thousand_attributes_forty_pairs_and_two_hundred_findings(
    browser: Any, file: Path
) -> None:
    document = found().document
    many = tuple(AttributePart(name=f"attribute {n}", kind="boolean") for n in range(1000))
    declared = document.attributes
    result = changed(
        redescriptions=(document.redescriptions * 200)[:200],
        tree_pairs=(document.tree_pairs * 40)[:40],
        attributes=AttributesPart(left=declared.left + many, right=declared.right + many),
    )
    with opened(browser, written(file, result)) as page:
        assert page.locator(".finding").count() == 200
        assert page.locator("#pair option").count() == 40
        page.select_option("#pair", "39")
        page.locator(".cell").nth(0).click()
        assert page.locator("#answer .value").is_visible()
        page.click("[aria-label='Previous pair of trees']")
        assert page.locator("#pair").input_value() == "38"
        unfold_tools(page)
        page.locator("#least-corrected").fill("0.5")
        strong = [one for one in result if one.corrected.estimate >= 0.5]
        assert page.locator(".finding:visible").count() == len(strong)
        page.fill("#about", "attribute 999")
        assert "redveil describe" in page.locator(".where").inner_text()


def test_an_empty_result_says_what_it_would_have_taken(browser: Any, file: Path) -> None:
    nothing = mined_clinic(NOTHING)
    with opened(browser, written(file, nothing)) as page:
        assert "Nothing was found" in page.locator("h2").all_text_contents()
        assert page.locator(".message").first.inner_text() == nothing.message
        page.locator(".cell").nth(0).click()
        assert page.locator("#answer .value").is_visible()


def test_true_values_are_loud(browser: Any, file: Path) -> None:
    evaluated = redveil.truth(found(), clinic())
    with opened(browser, written(file, evaluated), viewport=PHONE) as page:
        banner = page.locator(".banner")
        assert banner.inner_text().startswith("NOT PRIVATE")
        assert banner.bounding_box()["y"] < 100
        assert page.locator("#finding-1 .true").inner_text().startswith("NOT PRIVATE")
        assert "limits what can be learned" not in page.locator(".caution").inner_text()
