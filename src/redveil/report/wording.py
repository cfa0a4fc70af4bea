"""How confirmation, and the way a list was made, are worded in every text format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from redveil.findings.selection import Selection
from redveil.report.document import CONFIRM, CertificatePart, RedescriptionPart, ResultDocument
from redveil.schema.view import plural

#: Stands before a redescription that adds detail to another.
DETAIL: Final = "↳"
#: Keeps what a run or an earlier filter would prune.
KEEP_ALL: Final = "none"


def is_confirmed(document: ResultDocument, number: int) -> bool:
    """Return whether a redescription, counted from 1, is confirmed, or was never in question."""
    return document.redescriptions[number - 1].confirmed is not False


def all_confirmed(document: ResultDocument) -> bool:
    """Return whether no redescription is marked as not confirmed."""
    return all(one.confirmed is not False for one in document.redescriptions)


def has_details(document: ResultDocument) -> bool:
    """Return whether an entry adds detail to another."""
    return any(one.detail for one in document.redescriptions)


def marked(one: RedescriptionPart) -> str:
    """Return what stands before a redescription that adds detail to another, or nothing."""
    return f"{DETAIL}{one.detail} " if one.detail else ""


def detail_text(document: ResultDocument) -> str | None:
    """Return what the mark of details means, in a line; None if there are no details."""
    if not has_details(document):
        return None
    return f"{DETAIL}1 adds detail to entry 1"


def is_unvouched(certificate: CertificatePart) -> bool:
    """Return whether a list was measured again on entities that nobody vouches are others.

    What is confirmed then is so only if they are.
    """
    return certificate.algorithm == CONFIRM and not certificate.others


def confirmation_text(document: ResultDocument) -> str | None:
    """Return how many of the redescriptions are confirmed, in a line; None if nobody asked."""
    known, reported = document.false_discoveries, len(document.redescriptions)
    if known is None:
        return None
    pairs = f"up to 10^{known.comparable:.0f} comparable pairs"
    units = plural(document.certificate.unit)
    only = f", if these are other {units}," if is_unvouched(document.certificate) else ""
    text = f"{known.confirmed} of {reported} confirmed{only} after correcting for {pairs}"
    if known.confirmed < reported:
        return f"{text}; the others are not confirmed, and may still be real"
    return f"{text}; at most {100 * known.bound:.0f} % false discoveries expected"


def listing_text(document: ResultDocument) -> str | None:
    """Return in a line how the list differs from what was mined; None if it does not."""
    listing = document.listing
    if listing is None:
        return None
    words = differences(document.certificate.parameters, listing.constraints)
    if listing.complement:
        words.append("complements")
    if listing.sort != "rank":
        words.append(f"sorted by {listing.sort}")
    if listing.top is not None:
        words.append(f"the first {listing.top}")
    return f"Listed again from released tables, at no cost: {'; '.join(words) or 'as mined'}"


def differences(mined: Mapping[str, Any], listed: Mapping[str, Any]) -> list[str]:
    """Return the constraints that differ from those of the run, in words."""
    usual = asdict(Selection()) | dict(mined)
    return [
        _in_words(name, value)
        for name, value in listed.items()
        if name not in usual or usual[name] != value
    ]


def _in_words(name: str, value: object) -> str:
    """Return a constraint in words.

    >>> _in_words("max_support", 0.5), _in_words("prune", "auto"), _in_words("confirmed", True)
    ('support at most 0.5', 'prune auto', 'confirmed only')
    """
    if name == "confirmed":
        return "confirmed only" if value else "confirmed or not"
    shown = KEEP_ALL if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    bounds = {"max": "at most ", "min": "at least "}
    bound, _, quantity = name.partition("_")
    if bound not in bounds:
        return f"{name} {shown}"
    return f"{quantity.replace('_', ' ')} {bounds[bound]}{shown}"
