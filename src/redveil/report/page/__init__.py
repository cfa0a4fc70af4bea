"""A result as one page: what was found, a workbench for it, what was promised, what it means.

The page needs nothing but itself: no network, no fonts, no library. Its text is written here, so
that it can be read and printed without scripts; the scripts add the workbench.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from redveil.base.file_kind import REPORT_MARK
from redveil.losses.promise import Guarantee
from redveil.report.document import ResultDocument
from redveil.report.page.bundle import policy, script, styles
from redveil.report.page.data import embedded, page_data
from redveil.report.page.findings import findings_section, spoken
from redveil.report.page.glossary import glossary_section, term
from redveil.report.page.markup import Html, element, joined
from redveil.report.page.promise import banners, promise_section
from redveil.report.page.sentences import CONDITIONS, Sentence, Teller
from redveil.schema import Side

#: What a data set is called if its schema does not say.
UNNAMED: Final = "dataset"
# By the guarantee of a promise that is not broken: what it rests on.
_HOLDS: Final[dict[Guarantee, str]] = {
    "exact": "it holds exactly, not only approximately",
    "asymptotic": "it holds if the random walks that chose the trees ran long enough",
}


def page(document: ResultDocument, digest: str | None = None) -> str:
    """Return a result as a self-contained HTML page.

    digest: of the result file, SHA-256
    """
    teller = Teller(document)
    title = f"What {teller.views[Side.LEFT]} and {teller.views[Side.RIGHT]} have in common"
    program, style = script(), styles()
    data = embedded(page_data(teller))
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{policy(program, style)}">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html('<meta name="referrer" content="no-referrer">'),
        element("title", f"{title} · redveil"),
        element("style", Html(style)),
    )
    main = element(
        "main",
        # On paper, the first page.
        element("div", *banners(teller), _header(teller), findings_section(teller), class_="front"),
        element("div", id="workbench", hidden=True),
        promise_section(teller),
        glossary_section(teller),
        _footer(teller, digest),
    )
    body = element(
        "body",
        main,
        element("p", id="live", class_="unseen", role="status", aria_live="polite"),
        element("script", data, id="result", type="application/json"),
        element("script", Html(program), type="module"),
    )
    return f"{REPORT_MARK}{element('html', head, body, lang='en')}\n"


def _header(teller: Teller) -> Html:
    left, right = (
        element("span", element("bdi", teller.views[side]), class_=side.value) for side in Side
    )
    return element(
        "header",
        element("h1", "What ", left, " and ", right, " have in common"),
        element("p", *_spaced([spoken(one) for one in teller.lead()]), class_="lead"),
        element("div", *_paragraphs(teller.caution()), class_="caution"),
        element("ul", *_facts(teller), class_="summary"),
    )


def _footer(teller: Teller, digest: str | None) -> Html:
    certificate = teller.document.certificate
    made = f"Made by {certificate.software}."
    if teller.is_private:
        made = f"{made} Promise: {certificate.promise}; {_HOLDS[certificate.guarantee]}."
    file = element("p", "SHA-256 of the result file: ", element("code", digest))
    return element("footer", element("p", made), None if digest is None else file)


def _paragraphs(said: Iterable[list[Sentence]]) -> list[Html]:
    return [element("p", *_spaced([spoken(one) for one in part])) for part in said]


def _spaced(parts: list[Html]) -> list[Html]:
    return [joined(part, " ") for part in parts]


def _facts(teller: Teller) -> list[Html]:
    document = teller.document
    certificate, known = document.certificate, document.false_discoveries
    facts = [
        element("li", term("epsilon", "Privacy"), " ", element("b", certificate.promise)),
    ]
    if teller.is_private:
        whom = element("b", f"any one {certificate.unit}")
        where = element("a", "on conditions", href=f"#{CONDITIONS}")
        facts.append(element("li", "Limits what it tells about ", whom, ", ", where))
    if known is not None and document.redescriptions:
        counted = f"{known.confirmed} of {len(document.redescriptions)}"
        facts.append(element("li", term("confirmed", "Confirmed"), " ", element("b", counted)))
    if certificate.schema_name != UNNAMED:
        facts.append(element("li", "Data ", element("b", certificate.schema_name)))
    return facts
