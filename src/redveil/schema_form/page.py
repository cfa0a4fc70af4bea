"""The form's page: one document with its script and its styles, which loads nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from redveil.report.page.bundle import policy, script, styles
from redveil.report.page.markup import Html, element


@dataclass(frozen=True, slots=True)
class Page:
    """The page, and the content-security policy under which it is served."""

    html: bytes
    policy: str

    @classmethod
    def made(cls) -> Page:
        """Put the page together. It holds nothing of any schema; its script asks for that."""
        program, style = script("main", __package__), styles("form.css", __package__)
        head = element(
            "head",
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html('<meta name="color-scheme" content="light dark">'),
            # Otherwise browsers ask for one.
            Html('<link rel="icon" href="data:,">'),
            element("title", "Schema · redveil"),
            element("style", Html(style)),
        )
        body = element(
            "body",
            element("main", element("p", "Reading the schema …", class_="muted"), id="form"),
            element("p", id="live", class_="unseen", role="status", aria_live="polite"),
            element("noscript", element("p", "This form needs JavaScript.")),
            element("script", Html(program), type="module"),
        )
        html = f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
        return cls(html.encode(), f"{policy(program, style)}; connect-src 'self'; img-src data:")
