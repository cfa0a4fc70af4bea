"""How confirmation is worded, in every text format."""

from __future__ import annotations

from redveil.report.document import DiscoveryPart, ResultDocument


def is_confirmed(document: ResultDocument, number: int) -> bool:
    """Return whether a redescription, counted from 1, is confirmed, or was never in question."""
    return document.redescriptions[number - 1].confirmed is not False


def all_confirmed(document: ResultDocument) -> bool:
    """Return whether no redescription is marked as not confirmed."""
    return all(one.confirmed is not False for one in document.redescriptions)


def confirmation_text(known: DiscoveryPart, reported: int) -> str:
    """Return how many of the redescriptions are confirmed, in a line."""
    pairs = f"up to 10^{known.comparable:.0f} comparable pairs"
    text = f"{known.confirmed} of {reported} confirmed after correcting for {pairs}"
    if known.confirmed < reported:
        return f"{text}; the others are not confirmed, and may still be real"
    return f"{text}; at most {100 * known.bound:.0f} % false discoveries expected"
