"""How strong a promise and a finding are, in words for those who know neither ε nor an index."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from redveil.report.document import CertificatePart, RedescriptionPart
from redveil.schema.view import plural

# From these corrected indices on, two descriptions fit nearly or largely the same.
NEARLY: Final = 0.75
LARGELY: Final = 0.5
# Beyond this factor a promise is worth nothing, and its number says nothing.
_LARGEST_FACTOR: Final = 1e12


def likeness(one: RedescriptionPart) -> str:
    """Return how much alike two descriptions are, as far as the corrected index tells.

    It follows "the two descriptions"; `{units}` is to be filled in.
    """
    estimate = one.corrected.estimate
    if estimate >= NEARLY:
        return "fit nearly the same {units}"
    if estimate >= LARGELY:
        return "fit largely the same {units}"
    if estimate > 0:
        return "overlap more than by chance"
    return "overlap no more than by chance"


def is_doubtful(one: RedescriptionPart) -> bool:
    """Return whether what a finding says may be a coincidence."""
    return one.confirmed is False or (one.confirmed is None and one.corrected.low <= 0)


def times(certificate: CertificatePart) -> str:
    """Return how many times as likely one entity more or less can make a result: e^ε in words."""
    epsilon = float(Fraction(certificate.epsilon))
    if epsilon > math.log(_LARGEST_FACTOR):
        return "perhaps more than a million million times"
    factor = math.exp(epsilon)
    # Rounded upwards: "at most" must stay true.
    digits = 0 if factor >= 10 else 2
    return f"at most {upwards(factor, digits):,.{digits}f} times"


def strength(certificate: CertificatePart) -> str:
    """Return what ε means, in a sentence or two."""
    unit = certificate.unit
    failing = "" if certificate.delta == "0" else ", but for a probability of about δ"
    said = (
        f"{certificate.promise} means: with any one {unit} in the data or without, every possible "
        f"page is {times(certificate)} as likely as otherwise{failing}."
    )
    sure = surest(certificate)
    if sure is None:
        return said
    return (
        f"{said} So even someone who knows all other {plural(unit)} and gives it even odds that "
        f"one more is in the data can be at most {sure}\N{NO-BREAK SPACE}% sure after reading this "
        "page."
    )


def surest(certificate: CertificatePart) -> int | None:
    """Return how sure of one entity an even guess can become, in percent; None if of anything."""
    factor = math.exp(min(float(Fraction(certificate.epsilon)), 100.0))
    percent = round(upwards(100 * factor / (1 + factor), 0))
    return percent if percent < 100 and certificate.delta == "0" else None


def upwards(number: float, digits: int) -> float:
    """Return a number with some decimals, rounded upwards.

    >>> upwards(2.71828, 2), upwards(2.0, 0)
    (2.72, 2.0)
    """
    scale = 10.0**digits
    return math.ceil(round(number * scale, 6)) / scale
