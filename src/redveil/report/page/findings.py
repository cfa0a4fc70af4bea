"""The findings of a result as part of the page: sentences, bars, intervals and queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from redveil.findings.wording import interval_text, p_text
from redveil.report.document import (
    CONFIRM,
    DiscoveryPart,
    IntervalPart,
    RedescriptionPart,
    ResultDocument,
)
from redveil.report.page.counts import Counts
from redveil.report.page.glossary import term
from redveil.report.page.markup import Html, element, joined
from redveil.report.page.sentences import Sentence, Teller, Words
from redveil.report.page.stories import DETAILS, DOUBTS, is_ranked, parts
from redveil.report.page.strength import is_doubtful, likeness
from redveil.report.wording import DETAIL, is_unvouched, listing_text
from redveil.schema import Side
from redveil.schema.view import plural

# Longer lists are drawn only where one looks.
MANY: Final = 30
# Up to this p-value a pair by itself is clearly more than chance.
CLEAR: Final = 0.01
# So many fit on paper, however long their names are.
FEW: Final = 2
#: Said where the printed counts could not follow the estimates; `question.js` says it, too.
ADJUSTED: Final = (
    "Noise made the overlap come out larger than one of the two groups, which cannot be. Overlap "
    "and index are as measured; the sizes of the groups were adjusted to them."
)
# One in a hundred each: for the noise, and for the search.
_SURE: Final = "In at least 98 of 100 runs, no confirmed finding is a coincidence."
_BRACKETS: Final = re.compile(r"([!(]*\[[^\[\]]*\]\)*)")
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_HEIGHTS: Final = {
    "left": {"y": "3", "height": "8"},
    "both": {"y": "0", "height": "14"},
    "right": {"y": "3", "height": "8"},
}


def findings_section(teller: Teller) -> Html:
    """Return what was found, or why nothing was."""
    document = teller.document
    found = document.redescriptions
    head = element("h2", "What was found" if found else "Nothing was found", id="found-title")
    shown: list[Html] = [head]
    if document.message:
        shown.append(element("p", document.message, class_="message"))
    if not found and not document.message:
        shown.append(element("p", "The list is empty.", class_="message"))
    if found:
        tools = element("div", id="tools", class_="tools")
        count = element("span", "", class_="count")
        summary = element("summary", "Sort, filter and copy", count)
        shown.append(
            element("details", summary, tools, id="toolbox", class_="toolbox", hidden=True)
        )
        if (order := _order(document)) is not None:
            shown.append(element("p", order, class_="aside order"))
        shown.append(_guide(teller))
        many = "many" if len(found) > MANY else None
        shown.append(element("div", *_cards(teller), id="findings", class_=many))
        shown.append(element("p", "", id="none-left", class_="message", hidden=True))
    if len(found) > FEW:
        shown.append(element("p", _paper(len(found)), class_="aside on-paper"))
    shown += [element("p", note, class_="aside") for note in _notes(document)]
    return element("section", *shown, id="found", aria_labelledby="found-title")


def _cards(teller: Teller) -> Iterator[Html]:
    """Yield the findings, and headings of the parts of the list."""
    titles = {part.first: part.title for part in parts(teller.document)}
    for number in range(1, len(teller.document.redescriptions) + 1):
        if number in titles:
            yield element("h3", titles[number], class_="part", data_first=str(number))
        yield finding(teller, number)


def _order(document: ResultDocument) -> str | None:
    """Return in which order the findings are, if redveil has chosen it."""
    if len(document.redescriptions) < FEW or not is_ranked(document):
        return None
    titles = [part.title for part in parts(document)]
    said = "Findings are in the order of how much each adds to those above it"
    if DETAILS in titles:
        said = f"{said}; then come details of single findings"
    if DOUBTS in titles:
        said = f"{said}; what is not confirmed comes last"
    return f"{said}."


def _guide(teller: Teller) -> Html:
    """Return what the numbers beside the findings mean, in a few words each."""
    units, found = teller.units, teller.document.redescriptions
    again = teller.document.certificate.algorithm == CONFIRM
    whom = f"on {teller.measured_again()}" if again else f"on these same {units}"
    said = {
        "Jaccard index": f"of the {units} that fit either description, the share that fits both",
        "if unrelated": "what the index would be by chance, for two descriptions of these sizes",
        "corrected": "how far the index is above chance: 0 if not at all, 1 if both fit the same",
    }
    if any(one.corrected.high > one.jaccard.high for one in found):
        said["corrected"] += (
            "; its range is computed separately, and may end higher than that of the index"
        )
    if any(one.confirmed is not None for one in found):
        said["confirmed"] = f"too strong for a coincidence, as tested {whom}"
    items = (element("li", element("b", word), f": {meaning}") for word, meaning in said.items())
    return element("ul", *items, class_="guide screen")


def finding(teller: Teller, number: int) -> Html:
    """Return one redescription, counted from 1."""
    one = teller.document.redescriptions[number - 1]
    # What matters most comes first and largest; on paper there is room for two or three.
    first, *others = teller.sentences(one)
    shown = 2 if teller.addition(one) else 1
    body = element(
        "div",
        _detail(one),
        element("p", spoken(first), class_="sentence"),
        *(element("p", spoken(each), class_="again") for each in others[:shown]),
        *(element("p", spoken(each), class_="again screen") for each in others[shown:]),
        _bar(teller, one),
        element("p", ADJUSTED, class_="adjusted") if Counts.of(one.support).adjusted else None,
        element(
            "p",
            term("query", "exactly"),
            ": ",
            element("code", *_unbroken(one.left.text), class_="left"),
            element("span", " ⟷ ", class_="arrow", role="img", aria_label="goes with"),
            element("code", *_unbroken(one.right.text), class_="right"),
            class_="queries",
        ),
        *_comparisons(teller, one),
        class_="body",
    )
    return element(
        "article",
        element("h3", element("span", "Finding ", class_="unseen"), str(number)),
        body,
        element("div", *_measure(teller, one), class_="measure"),
        id=f"finding-{number}",
        class_="finding",
        data_number=str(number),
    )


def _detail(one: RedescriptionPart) -> Html | None:
    """Return what a finding adds to, if it does."""
    if one.detail is None:
        return None
    link = element("a", f"finding {one.detail}", href=f"#finding-{one.detail}")
    return element("p", f"{DETAIL} adds to ", link, class_="detail")


def _unbroken(query: str) -> Iterator[Html | str]:
    """Yield a query in pieces: a condition goes to a new line rather than being broken.

    So does the "!" before it, which at the end of a line would be overlooked. `dom.js` does the
    same.
    """
    for piece in _BRACKETS.split(query):
        yield element("span", piece) if "[" in piece else piece


def spoken(sentence: Sentence) -> Html:
    """Return a sentence with what it says of each table marked."""
    return joined(*(_piece(piece) for piece in sentence))


def _piece(piece: Words) -> str:
    if piece.link is not None:
        return element("a", str(piece), href=f"#{piece.link}")
    if piece.side is not None:
        return element("b", element("bdi", str(piece)), class_=piece.side.value)
    return str(piece)


def range_text(interval: IntervalPart, digits: int = 2) -> str:
    """Return the ends of an interval."""
    return f"{interval.low:.{digits}f}–{interval.high:.{digits}f}"


def _notes(document: ResultDocument) -> Iterator[str]:
    if document.false_discoveries:
        yield _confirmation(document.false_discoveries, len(document.redescriptions))
    if is_unvouched(document.certificate) and any(one.confirmed for one in document.redescriptions):
        units = plural(document.certificate.unit)
        yield (
            f"What is said to be confirmed holds only if these {units} are others than those that "
            "the list was found on, and nobody has vouched for that."
        )
    if (how := listing_text(document)) is not None:
        yield f"{how}."


def _confirmation(known: DiscoveryPart, reported: int) -> str:
    """Return how many findings are confirmed, and what that means."""
    pairs = f"{ten_to(known.comparable)} pairs of descriptions that could have been found instead"
    if known.confirmed == 0:
        which = "The finding" if reported == 1 else f"None of the {reported} findings"
        isnt = "is not confirmed" if reported == 1 else "is confirmed"
        return (
            f"{which} {isnt}: with this much noise, the best of up to {pairs} might look like this "
            "by coincidence. What is not confirmed may still be real."
        )
    which = (
        f"{known.confirmed} of the {reported} findings {'is' if known.confirmed == 1 else 'are'}"
    )
    if known.confirmed == reported:
        which = "The finding is" if reported == 1 else f"All {reported} findings are"
    said = f"{which} confirmed: too strong for a coincidence, even as the best of up to {pairs}."
    others = " The others are not confirmed, and may still be real."
    return f"{said} {_SURE}{others if known.confirmed < reported else ''}"


def _paper(found: int) -> str:
    return f"On paper there are as many findings as fit on this page; the file has all {found:,}."


def _bar(teller: Teller, one: RedescriptionPart) -> Html:
    """Return how many satisfy only the left query, both, and only the right one."""
    counts = Counts.of(one.support)
    sizes = {"left": counts.only_left, "both": counts.both, "right": counts.only_right}
    whole = sum(sizes.values()) or 1
    rects: list[Html] = []
    start = 0.0
    for name, size in sizes.items():
        width = 100 * size / whole
        # What is in both is higher, and slivers of the ground are between: some see no colours.
        drawn = max(width - (0.4 if start + width < 99.9 else 0), 0.2)
        if size:
            place = {"x": f"{start:.2f}%", "width": f"{drawn:.2f}%"}
            rects.append(element("rect", class_=name, **place, **_HEIGHTS[name]))
        start += width
    middle = 100 * (counts.only_left + counts.both / 2) / whole
    # At the ends of the bar there is no room on both sides of the middle.
    anchor, at = (
        ("start", 0.0) if middle < 20 else ("end", 100.0) if middle > 80 else ("middle", middle)
    )
    label = element("text", f"both {counts.both:,}", x=f"{at:.2f}%", y="29", text_anchor=anchor)
    alone = (
        element(
            "span",
            element("bdi", f"{teller.views[side]} only {sizes[side.value]:,}"),
            class_=side.value,
        )
        for side in Side
    )
    left, right = alone
    # On paper there is no room for a line below the bar.
    both = element("span", f"both {counts.both:,}", class_="both paper", aria_hidden="true")
    return element(
        "figure",
        element("figcaption", left, both, right),
        element("svg", *rects, label, class_="bar"),
    )


def _measure(teller: Teller, one: RedescriptionPart) -> Iterator[Html]:
    """Yield the index with its interval, what chance would give, and whether it is confirmed."""
    may = "may " if is_doubtful(one) and one.corrected.estimate > 0 else ""
    yield element("p", f"{may}{likeness(one)}".format(units=teller.units), class_="alike")
    doubted = one.confirmed is False
    value = element("span", f"{one.jaccard.estimate:.2f}", class_="value")
    index = "index doubted" if doubted else "index"
    yield element("p", value, " ", term("jaccard", "Jaccard index"), class_=index)
    yield element(
        "p", term("range", "range"), " ", element("b", range_text(one.jaccard)), class_="between"
    )
    yield _scale(one)
    chance = element(
        "svg", element("path", d="M4 0v14", class_="chance"), class_="tick", aria_hidden="true"
    )
    yield element("p", chance, term("expected", "if unrelated"), f" {one.expected_jaccard:.2f}")
    ends = _ends_text(one.corrected)
    yield element("p", term("corrected", "corrected"), f" {one.corrected.estimate:.2f} ({ends})")
    if one.confirmed:
        yield element("p", "✓ ", term("confirmed", "confirmed"), class_="verdict confirmed")
    elif doubted:
        words = (
            "○ ",
            term("confirmed", "not confirmed"),
            element("span", _doubt(teller.document, one)),
        )
        yield element("p", *words, class_="verdict unconfirmed")


def _ends_text(interval: IntervalPart) -> str:
    """Return the ends of an interval that may begin below zero; `wording.js` does the same."""
    if interval.low >= 0:
        return range_text(interval)
    return f"{interval.low:.2f} to {interval.high:.2f}".replace("-", "−")


def _doubt(document: ResultDocument, one: RedescriptionPart) -> str:
    """Return why a finding is not confirmed, though its range may be far from chance."""
    known = document.false_discoveries
    among = "so many" if known is None else f"up to {ten_to(known.comparable)}"
    might = f"the best of {among} pairs that could have been found instead might look like this"
    if one.p_value <= CLEAR:
        return f": for this pair alone clearly more than chance, but {might} by coincidence"
    return f": given the noise, {might} by coincidence"


def ten_to(exponent: float) -> str:
    """Return a power of ten.

    >>> ten_to(12.8), ten_to(-112)
    ('10¹³', '10⁻¹¹²')
    """
    return f"10{str(round(exponent)).translate(_RAISED)}"


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
        element("text", "0", x="5", y="32", text_anchor="middle"),
        element("text", "1", x="195", y="32", text_anchor="middle"),
        viewBox="0 0 200 34",
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
