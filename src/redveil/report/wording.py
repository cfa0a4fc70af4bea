"""How numbers, units and confirmation are worded, in every text format."""

from __future__ import annotations

from redveil.findings.statistics import Interval
from redveil.report.document import DiscoveryPart, IntervalPart, ResultDocument


def interval_text(interval: Interval | IntervalPart, digits: int) -> str:
    """Return an estimate with the ends of its interval.

    >>> interval_text(Interval(1234.5, 1000, 1500), 0)
    '1,234 [1,000, 1,500]'
    """
    low, high = f"{interval.low:,.{digits}f}", f"{interval.high:,.{digits}f}"
    return f"{interval.estimate:,.{digits}f} [{low}, {high}]"


def p_text(p_value: float) -> str:
    """Return a p-value as short text.

    >>> p_text(0.0), p_text(2e-30), p_text(0.0123)
    ('1e-300', '2e-30', '0.012')
    """
    if p_value < 1e-300:
        return "1e-300"
    return f"{p_value:.2g}" if p_value >= 1e-4 else f"{p_value:.0e}"


def is_confirmed(document: ResultDocument, number: int) -> bool:
    """Return whether a redescription, counted from 1, is confirmed, or was never in question."""
    known = document.false_discoveries
    return known is None or number - 1 not in known.unconfirmed


def all_confirmed(document: ResultDocument) -> bool:
    """Return whether no redescription is marked as not confirmed."""
    return document.false_discoveries is None or not document.false_discoveries.unconfirmed


def confirmation_text(known: DiscoveryPart, reported: int) -> str:
    """Return how many of the redescriptions are confirmed, in a line."""
    pairs = f"up to 10^{known.comparable:.0f} comparable pairs"
    text = f"{known.confirmed} of {reported} confirmed after correcting for {pairs}"
    if known.unconfirmed:
        return f"{text}; the others are not confirmed, and may still be real"
    return f"{text}; at most {100 * known.bound:.0f} % false discoveries expected"
