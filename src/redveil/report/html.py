"""A result as a fragment of a page: a table, or the sentences of the report for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from redveil.base.display import MOST_ROWS, Block, Code, Folded, Listing, Note, html
from redveil.findings.wording import interval_text, p_text
from redveil.losses.plan import steps_listing
from redveil.losses.promise import UNRECORDED
from redveil.report.document import IntervalPart, RedescriptionPart, ResultDocument
from redveil.report.page.sentences import Teller
from redveil.report.wording import (
    DETAIL,
    all_confirmed,
    confirmation_text,
    has_details,
    is_confirmed,
    listing_text,
)
from redveil.schema.view import plural

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def fragment(document: ResultDocument) -> str:
    """Return a table of the redescriptions, and the certificate folded up below it."""
    listing = [_listing(document)] if document.redescriptions else []
    return html(*_notes(document), *listing, *_below(document))


def compact(document: ResultDocument, remarks: Iterable[Note] = ()) -> str:
    """Return what the report says first: sentences and indices. Everything else is folded up.

    remarks: what is said below it, and is not in it
    """
    teller = Teller(document)
    parts: list[Block] = list(_notes(document))
    if document.redescriptions:
        parts.append("".join(next(teller.lead())))
        parts.append(_told(teller))
        parts.append(Folded("Queries and all numbers", _listing(document)))
    return html(*parts, *_below(document), *remarks)


def _notes(document: ResultDocument) -> Iterator[Block]:
    """Yield what must not be overlooked."""
    promise = document.certificate
    unrecorded = [one for one in promise.conditions if one == UNRECORDED]
    notes = (document.warning, document.message, *promise.unmet, *unrecorded)
    yield from (Note(note) for note in notes if note)


def _below(document: ResultDocument) -> Iterator[Block]:
    """Yield what stands below the list: how it was made, and what was promised."""
    promise = document.certificate
    if (confirmed := confirmation_text(document)) is not None:
        yield confirmed
    if (how := listing_text(document)) is not None:
        yield how
    summary = (
        f"Privacy certificate: {promise.promise}, {promise.guarantee}; {promise.neighbouring}; "
        f"{promise.algorithm}, schema {promise.schema_status}; {promise.software}"
    )
    facts = replace(promise.listing(document.entities), caption="")
    yield Folded(summary, facts)
    yield Folded("Steps and prices", steps_listing(promise.steps))


def _told(teller: Teller) -> Listing:
    """Return the redescriptions in sentences, the first ones."""
    document = teller.document
    rows = []
    for number, one in enumerate(document.redescriptions[:MOST_ROWS], start=1):
        adds = f"{DETAIL} adds to {one.detail}: " if one.detail else ""
        said = f"{adds}{''.join(teller.sentences(one)[0])}"
        doubt = "" if is_confirmed(document, number) else " (not confirmed)"
        rows.append((str(number), f"{said}{doubt}", _interval(one.jaccard, 2)))
    more = len(document.redescriptions) - len(rows)
    footer = ("", f"and {more:,} more below", "") if more else ()
    heads = ("#", "what was found", f"Jaccard [95{NO_BREAK_SPACE}%]")
    return Listing(heads, rows, footer=footer, right=(0,))


def _listing(document: ResultDocument) -> Listing:
    """Return the redescriptions as a table, best first."""
    unit = plural(document.certificate.unit)
    bracket = f"[95{NO_BREAK_SPACE}%]"
    heads = ["#", "left", "right", f"Jaccard {bracket}", "expected if unrelated"]
    heads += [f"corrected {bracket}", f"{unit} {bracket}", "p at most"]
    doubted = not all_confirmed(document)
    evaluated = any(one.true for one in document.redescriptions)
    detailed = has_details(document)
    heads += ["confirmed"] * doubted + ["detail of"] * detailed + ["true J", "true p"] * evaluated
    # A browser would break 1e-30 after its hyphen.
    unbroken = [number for number, head in enumerate(heads) if head in ("p at most", "true p")]
    rows = []
    for number, one in enumerate(document.redescriptions, start=1):
        row = [str(number), Code(one.left.text), Code(one.right.text), *_numbers(one)]
        if doubted:
            row.append("yes" if is_confirmed(document, number) else "not confirmed")
        if detailed:
            row.append(str(one.detail or ""))
        if evaluated:
            row += [f"{one.true.jaccard:.3f}", p_text(one.true.p_value)] if one.true else ["", ""]
        rows.append(row)
    return Listing(heads, rows, right=(0,), unbroken=unbroken)


def _numbers(one: RedescriptionPart) -> list[str]:
    return [
        _interval(one.jaccard, 2),
        f"{one.expected_jaccard:.2f}",
        _interval(one.corrected, 2),
        _interval(one.support.both, 0),
        p_text(one.p_value),
    ]


def _interval(interval: IntervalPart, digits: int) -> str:
    """Return an interval that is broken before its bracket, if anywhere."""
    estimate, bracket = interval_text(interval, digits).split(" ", maxsplit=1)
    return f"{estimate} {bracket.replace(' ', NO_BREAK_SPACE)}"
