"""What a browser would see of a fragment of a page."""

from __future__ import annotations

from html.parser import HTMLParser

OUR_TAGS = {
    *("div", "p", "strong", "code", "br", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
}
OUR_ATTRIBUTES = {
    ("class", "redveil"),
    ("scope", "col"),
    ("scope", "row"),
    ("style", "text-align:left;vertical-align:top"),
    ("style", "text-align:left;vertical-align:top;white-space:nowrap"),
    ("style", "text-align:right;vertical-align:top"),
    ("style", "text-align:right;vertical-align:top;white-space:nowrap"),
    ("style", "caption-side:top;text-align:left;color:inherit"),
}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><b onmouseover='x'>",
    "a & b &lt; c",
    "</code></td><td>",
    "'\"`",
]


class Page(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.codes: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(attrs)
        if tag != "br":
            self.open.append(tag)
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] == "code":
            self.codes[-1] += data


def must_be_ours(page: Page) -> None:
    """Nothing but our own tags and attributes, and every tag closed."""
    assert set(page.tags) <= OUR_TAGS
    assert page.attributes <= OUR_ATTRIBUTES
    assert page.open == []
