"""Detection: the smallest match that a run would find, and confirm, for a number of entities and ε.

Everything is computed from public values: the schema's number of splits, the expected number of
entities and the plan. A match is tried as the required budget tries it: two splits among others
that are unrelated, measured without luck, good or bad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.findings.discovery import comparable_comparisons
from redveil.findings.released_table import SplitCounts
from redveil.findings.reporting import Constraints
from redveil.findings.required_budget import (
    Design,
    Designer,
    KnownValues,
    Match,
    is_chosen,
    is_confirmed,
    is_reported,
)
from redveil.findings.statistics import expected_jaccard
from redveil.losses.loss import Loss

# The share of the entities that each query of a match covers, in words.
SHARES: Final[Mapping[str, float]] = {"rare": 0.05, "medium": 0.2, "common": 0.5}
# How exactly a smallest Jaccard index is found.
PRECISION: Final = 0.002

Detects = Callable[[Match], bool]


@dataclass(frozen=True, slots=True)
class Limit:
    """The smallest matches of some share that a run would find, and confirm.

    share:     the share of the entities that each of the two queries covers
    found:     the match that is chosen with odds of 9 : 1 and reported; None if none is
    confirmed: the match that is also confirmed; None if none is
    """

    share: float
    found: Match | None
    confirmed: Match | None


@dataclass(frozen=True, slots=True)
class Detection:
    """What a run that loses so much would detect, for rare, medium and common matches."""

    loss: Loss
    limits: Mapping[str, Limit]


def detections(
    designer: Designer,
    constraints: Constraints,
    splits: SplitCounts,
    size: float,
    losses: Iterable[Loss],
) -> tuple[Detection, ...]:
    """Return what runs would detect.

    designer: what a run would measure, by size and price
    splits:   how many splits each view has to choose from
    size:     the expected number of entities
    losses:   what each run may lose
    """
    return tuple(
        Detection(loss, limits(designer(size, loss.price), constraints, splits, size))
        for loss in losses
    )


def limits(
    designs: Sequence[Design],
    constraints: Constraints,
    splits: SplitCounts,
    size: float,
    comparable: float | None = None,
) -> dict[str, Limit]:
    """Return the smallest matches that one of some designs would detect, by how common they are.

    comparable: the decimal logarithm of the number of pairs that a match is compared with; without
                it, all pairs of two comparisons
    """
    known: KnownValues = {}
    rivals = comparable_comparisons(splits) if comparable is None else comparable

    def finds(design: Design, match: Match) -> bool:
        return is_chosen(design.choice, splits, size, match) and is_reported(
            design, constraints, size, match, known
        )

    def limit(share: float) -> Limit:
        def found(match: Match) -> bool:
            return any(finds(design, match) for design in designs)

        def confirmed(match: Match) -> bool:
            return any(
                finds(design, match) and is_confirmed(design, rivals, size, match, known)
                for design in designs
            )

        return Limit(share, smallest_match(share, found), smallest_match(share, confirmed))

    return {word: limit(share) for word, share in SHARES.items()}


def smallest_match(share: float, detects: Detects) -> Match | None:
    """Return the smallest match of a share that is detected, or None if not even a perfect one is.

    What a match of some Jaccard index is enough for, a better one is enough for too.

    >>> smallest_match(0.5, lambda match: match.jaccard >= 0.7)
    Match(jaccard=0.701, share=0.5)
    """
    if not detects(Match(1.0, share)):
        return None
    low, high = expected_jaccard(share, share, 1.0), 1.0
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if detects(Match(middle, share)) else (middle, high)
    return Match(round(high, 3), share)
