"""A result as a fragment of a page, for notebooks."""

from __future__ import annotations

from dataclasses import replace

from redveil.display import Block, Code, Folded, Listing, Note, html
from redveil.findings.wording import interval_text, p_text
from redveil.privacy.plan import steps_listing
from redveil.report.document import IntervalPart, RedescriptionPart, ResultDocument
from redveil.report.wording import (
    all_confirmed,
    confirmation_text,
    is_confirmed,
    listing_text,
)
from redveil.schema.view import plural

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def fragment(document: ResultDocument) -> str:
    """Return a table of the redescriptions, and the certificate folded up below it."""
    promise = document.certificate
    notes = (document.warning, document.message, *promise.unmet)
    parts: list[Block] = [Note(note) for note in notes if note]
    found = document.redescriptions
    if found:
        parts.append(_listing(document))
    if document.false_discoveries:
        parts.append(confirmation_text(document.false_discoveries, len(found)))
    if (how := listing_text(document)) is not None:
        parts.append(how)
    summary = (
        f"Privacy certificate: {promise.promise}, {promise.guarantee}; {promise.neighbouring}; "
        f"{promise.algorithm}, schema {promise.schema_status}; {promise.software}"
    )
    facts = replace(promise.listing(document.entities), caption="")
    parts.append(Folded(summary, facts))
    parts.append(Folded("Steps and prices", steps_listing(promise.steps)))
    return html(*parts)


def _listing(document: ResultDocument) -> Listing:
    """Return the redescriptions as a table, best first."""
    unit = plural(document.certificate.unit)
    bracket = f"[95{NO_BREAK_SPACE}%]"
    heads = ["#", "left", "right", f"Jaccard {bracket}", "expected if unrelated"]
    heads += [f"corrected {bracket}", f"{unit} {bracket}", "p at most"]
    doubted = not all_confirmed(document)
    evaluated = any(one.true for one in document.redescriptions)
    heads += ["confirmed"] * doubted + ["true J", "true p"] * evaluated
    # A browser would break 1e-30 after its hyphen.
    unbroken = [number for number, head in enumerate(heads) if head in ("p at most", "true p")]
    rows = []
    for number, one in enumerate(document.redescriptions, start=1):
        row = [str(number), Code(one.left.text), Code(one.right.text), *_numbers(one)]
        if doubted:
            row.append("yes" if is_confirmed(document, number) else "not confirmed")
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
