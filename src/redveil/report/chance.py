"""What a Jaccard index would be by chance: large sets overlap, related or not."""

from __future__ import annotations

from redveil.report.document import ResultDocument


def jaccard_by_chance(left: float, right: float, entities: float) -> float:
    """Return the Jaccard index of two unrelated sets of given sizes.

    >>> jaccard_by_chance(50, 50, 100), round(jaccard_by_chance(10, 10, 100), 3)
    (0.3333333333333333, 0.053)
    >>> jaccard_by_chance(0, 10, 100)
    0.0
    """
    if min(left, right, entities) <= 0:
        return 0.0
    both = min(left * right / entities, left, right)
    return both / (left + right - both)


def by_chance(document: ResultDocument, left: float, right: float) -> float | None:
    """Return what two supports let expect, or None if the number of entities is unknown."""
    if document.entities is None:
        return None
    return jaccard_by_chance(left, right, document.entities.estimate)


def chance_text(document: ResultDocument, left: float, right: float) -> str:
    """Return it for people."""
    expected = by_chance(document, left, right)
    return "" if expected is None else f"{expected:.2f}"
