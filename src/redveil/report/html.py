"""A result as a fragment of a page, for notebooks. Names come from files: everything is escaped."""

from __future__ import annotations

from html import escape

from redveil.report.document import IntervalPart, RedescriptionPart, ResultDocument
from redveil.report.wording import confirmation_text, is_confirmed, p_text
from redveil.schema.view import plural


def fragment(document: ResultDocument) -> str:
    """Return a table of the redescriptions and a line about the promise."""
    promise = document.certificate
    evaluated = any(one.true for one in document.redescriptions)
    unit = escape(plural(promise.unit))
    heads = ["#", "left", "right", "Jaccard", "expected if unrelated", unit, "p at most"]
    heads += ["true J"] * evaluated
    head = "".join(f"<th style='text-align:left'>{name}</th>" for name in heads)
    body = "".join(
        _row(document, number, one, evaluated=evaluated)
        for number, one in enumerate(document.redescriptions, start=1)
    )
    lines = [
        f"{escape(promise.promise)} ({escape(promise.guarantee)}), "
        f"{escape(promise.neighbouring)}; {escape(promise.algorithm)}, "
        f"schema {escape(promise.schema_status)}; {escape(promise.software)}"
    ]
    notes = "".join(
        f"<p><b>{escape(note)}</b></p>"
        for note in (document.warning, document.message, *promise.unmet)
        if note
    )
    if document.false_discoveries:
        found = len(document.redescriptions)
        lines.insert(0, confirmation_text(document.false_discoveries, found))
    small = "".join(f"<p><small>{line}</small></p>" for line in lines)
    return (
        f"<div class='redveil'>{notes}<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{small}</div>"
    )


def _row(document: ResultDocument, number: int, one: RedescriptionPart, *, evaluated: bool) -> str:
    fields = [
        f"{number}{'' if is_confirmed(document, number) else ' <small>not confirmed</small>'}",
        f"<code>{escape(one.left.text)}</code>",
        f"<code>{escape(one.right.text)}</code>",
        _interval(one.jaccard, 2),
        f"{one.expected_jaccard:.2f}",
        _interval(one.support.both, 0),
        p_text(one.p_value),
    ]
    if evaluated:
        fields.append(f"{one.true.jaccard:.3f}" if one.true else "")
    return (
        "<tr>" + "".join(f"<td style='text-align:left'>{field}</td>" for field in fields) + "</tr>"
    )


def _interval(interval: IntervalPart, digits: int) -> str:
    low, high = f"{interval.low:,.{digits}f}", f"{interval.high:,.{digits}f}"
    return f"{interval.estimate:,.{digits}f} <small>[{low}, {high}]</small>"
