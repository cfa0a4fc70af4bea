"""The parts of a list: stories, the details that add to them, and what is not confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redveil.losses.promise import AS_PUBLISHED
from redveil.report.document import CONFIRM, RedescriptionPart, ResultDocument

#: The headings of the parts of a list; the first part has none.
DETAILS: Final = "Details of the findings above"
DOUBTS: Final = "Not confirmed"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a list: its heading, and the number of its first finding."""

    title: str
    first: int


def is_ranked(document: ResultDocument) -> bool:
    """Return whether a list is in the order of what adds most."""
    listing, certificate = document.listing, document.certificate
    ranked = listing is None or listing.sort == "rank"
    return ranked and certificate.algorithm != CONFIRM and certificate.guarantee != AS_PUBLISHED


def parts(document: ResultDocument) -> list[Part]:
    """Return the parts of a list that have a heading; none if it is sorted in another way."""
    if not is_ranked(document):
        return []
    kinds = [_kind(one) for one in document.redescriptions]
    if kinds != sorted(kinds):
        return []
    titles = {1: DETAILS, 2: DOUBTS}
    # A list of a single kind needs no heading: its findings say what they are.
    shown = [kind for kind in titles if kind in kinds] if len(set(kinds)) > 1 else []
    return [Part(titles[kind], kinds.index(kind) + 1) for kind in shown]


def _kind(one: RedescriptionPart) -> int:
    if one.confirmed is False:
        return 2
    return 1 if one.detail else 0
