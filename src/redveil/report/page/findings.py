"""The findings of a result as part of the page: sentences, bars, intervals and queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from redveil.findings.wording import interval_text, p_text
from redveil.report.document import IntervalPart, RedescriptionPart, ResultDocument
from redveil.report.page.glossary import term
from redveil.report.page.markup import Html, element, joined
from redveil.report.page.sentences import Sentence, Teller, rounded_count
from redveil.report.wording import confirmation_text, listing_text
from redveil.schema import Side

# Longer lists are drawn only where one looks.
MANY: Final = 30


def findings_section(teller: Teller) -> Html:
    """Return what was found, or why nothing was."""
    document = teller.document
    found = document.redescriptions
    head = element("h2", "What was found" if found else "Nothing was found", id="found-title")
    parts: list[Html] = [head]
    if document.message:
        parts.append(element("p", document.message, class_="message"))
    if not found and not document.message:
        parts.append(element("p", "The list is empty.", class_="message"))
    if found:
        tools = element("div", id="tools", class_="tools")
        summary = element("summary", "Sort, filter and copy")
        parts.append(
            element("details", summary, tools, id="toolbox", class_="toolbox", hidden=True)
        )
        cards = (finding(teller, number) for number in range(1, len(found) + 1))
        many = "many" if len(found) > MANY else None
        parts.append(element("div", *cards, id="findings", class_=many))
        parts.append(element("p", "", id="none-left", class_="message", hidden=True))
    parts += [element("p", note, class_="aside") for note in _notes(document)]
    return element("section", *parts, id="found", aria_labelledby="found-title")


def finding(teller: Teller, number: int) -> Html:
    """Return one redescription, counted from 1."""
    one = teller.document.redescriptions[number - 1]
    told = teller.told(one)
    body = element(
        "div",
        element("p", spoken(told.first), class_="sentence"),
        element("p", spoken(told.second), class_="again"),
        _bar(teller, one),
        element(
            "p",
            element("code", one.left.text, class_="left"),
            element("span", " ⟷ ", class_="arrow", role="img", aria_label="goes with"),
            element("code", one.right.text, class_="right"),
            class_="queries",
        ),
        *_comparisons(teller, one),
        class_="body",
    )
    return element(
        "article",
        element("h3", str(number), aria_label=f"Finding {number}"),
        body,
        element("div", *_measure(one), class_="measure"),
        id=f"finding-{number}",
        class_="finding",
        data_number=str(number),
    )


def spoken(sentence: Sentence) -> Html:
    """Return a sentence with what it says of each table marked."""
    return joined(
        *(
            str(piece)
            if piece.side is None
            else element("b", element("bdi", str(piece)), class_=piece.side.value)
            for piece in sentence
        )
    )


def range_text(interval: IntervalPart, digits: int = 2) -> str:
    """Return the ends of an interval."""
    return f"{interval.low:.{digits}f}–{interval.high:.{digits}f}"


def _notes(document: ResultDocument) -> Iterator[str]:
    if document.false_discoveries:
        known = confirmation_text(document.false_discoveries, len(document.redescriptions))
        yield f"{known}."
    if (how := listing_text(document)) is not None:
        yield f"{how}."


def _bar(teller: Teller, one: RedescriptionPart) -> Html:
    """Return how many satisfy only the left query, both, and only the right one."""
    both = max(one.support.both.estimate, 0.0)
    only_left = max(one.support.left.estimate - both, 0.0)
    only_right = max(one.support.right.estimate - both, 0.0)
    whole = only_left + both + only_right or 1.0
    widths = [1000 * part / whole for part in (only_left, both, only_right)]
    rects, start = [], 0.0
    for name, width in zip(("left", "both", "right"), widths, strict=True):
        # What is in both is higher, and slivers of the ground are between: some see no colours.
        top, high = ("0", "14") if name == "both" else ("3", "8")
        drawn = f"{max(width - (4 if start + width < 999 else 0), 0):.1f}"
        rects.append(
            element("rect", x=f"{start:.1f}", y=top, width=drawn, height=high, class_=name)
        )
        start += width
    views = teller.views
    left, right = (f"{views[side]} only" for side in Side)
    spread = (one.support.both.high - one.support.both.low) / 2
    counts = [
        rounded_count(IntervalPart(estimate=part, low=part - spread, high=part + spread))
        for part in (only_left, both, only_right)
    ]
    texts = [f"{left} {counts[0]}", f"both {counts[1]}", f"{right} {counts[2]}"]
    picture = element(
        "svg",
        *rects,
        viewBox="0 0 1000 14",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )
    legend = element(
        "figcaption",
        *(
            element("span", element("bdi", text), class_=name)
            for name, text in zip(("left", "both", "right"), texts, strict=True)
        ),
    )
    return element("figure", picture, legend)


def _measure(one: RedescriptionPart) -> Iterator[Html]:
    """Yield the index with its interval, and what it would be by chance."""
    value = element("span", f"{one.jaccard.estimate:.2f}", class_="value")
    yield element("p", value, " ", term("jaccard", "Jaccard index"), class_="index")
    yield _scale(one)
    yield element("p", term("range", "range"), f" {range_text(one.jaccard)}")
    yield element("p", term("expected", "if unrelated"), f" {one.expected_jaccard:.2f}")
    if one.confirmed is not None:
        words = ("✓ ", term("confirmed", "confirmed"))
        if not one.confirmed:
            words = ("○ ", term("confirmed", "not confirmed"))
        kind = "confirmed" if one.confirmed else "unconfirmed"
        yield element("p", *words, class_=f"verdict {kind}")


def _scale(one: RedescriptionPart) -> Html:
    """Return the index and its interval between 0 and 1, and a mark where chance would be."""
    low, high, at, chance = (
        f"{5 + 190 * min(max(value, 0.0), 1.0):.1f}"
        for value in (
            *(one.jaccard.low, one.jaccard.high),
            *(one.jaccard.estimate, one.expected_jaccard),
        )
    )
    return element(
        "svg",
        element("line", x1="5", x2="195", y1="12", y2="12", class_="axis"),
        element("path", d="M5 8v8M100 10v4M195 8v8", class_="axis"),
        element("line", x1=low, x2=high, y1="12", y2="12", class_="interval"),
        element("path", d=f"M{chance} 3v18", class_="chance"),
        element("circle", cx=at, cy="12", r="5", class_="point"),
        viewBox="0 0 200 24",
        class_="scale",
        aria_hidden="true",
    )


def _comparisons(teller: Teller, one: RedescriptionPart) -> Iterator[Html]:
    """Yield what an earlier result said, and what is true, if it is known."""
    if one.before is not None:
        change = one.before.difference
        ends = f"between {_signed(change.low)} and {_signed(change.high)}"
        within = " This is within the noise." if change.low <= 0 <= change.high else ""
        yield element(
            "p",
            f"An earlier result said {interval_text(one.before.jaccard, 2)}. The difference is "
            f"{_signed(change.estimate)} ({ends}).{within}",
            class_="before",
        )
    if one.true is not None:
        support, views = one.true.support, teller.views
        yield element(
            "p",
            element("b", "NOT PRIVATE. "),
            f"True Jaccard index {one.true.jaccard:.3f}; true counts: {views[Side.LEFT]} "
            f"{support.left:,}, both {support.both:,}, {views[Side.RIGHT]} {support.right:,}; "
            f"true p {p_text(one.true.p_value)}.",
            class_="true",
        )


def _signed(change: float) -> str:
    return f"{change:+.2f}".replace("-", "−")
