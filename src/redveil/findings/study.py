"""A study: how to divide a budget over exploring, refining and confirming, and what each detects.

A proposal, not a rule: exploring gets most, because it has to choose among all pairs of splits.
Refining chooses within one finding, and confirming chooses nothing: it measures a short list again,
which is compared with nothing but itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from redveil.findings.detection import Limit, detections, limits
from redveil.findings.released_table import SplitCounts
from redveil.findings.reporting import Constraints
from redveil.findings.required_budget import Choice, Design, Designer
from redveil.losses.loss import Loss
from redveil.trees.scores import CORRESPONDENCE

# How the budget is divided.
EXPLORE: Final = Fraction(3, 5)
REFINE: Final = Fraction(1, 5)
CONFIRM: Final = Fraction(1, 5)
# The share of the entities that a finding covers which is refined, and how many are confirmed.
REFINED_SHARE: Final = 0.2
CONFIRMED: Final = 5


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a study.

    name:   explore, refine or confirm
    does:   what it does, in words
    size:   how many entities it looks at
    limits: what it detects, for rare, medium and common matches among those entities
    """

    name: str
    does: str
    loss: Loss
    size: float
    limits: Mapping[str, Limit]


def study(
    designer: Designer, constraints: Constraints, splits: SplitCounts, size: float, whole: Loss
) -> tuple[Part, ...]:
    """Return a proposal for a study that loses so much in all; its parts add up exactly.

    designer: what a run would measure, by size and price
    """
    explore, refine, confirm = (_share(whole, share) for share in (EXPLORE, REFINE, CONFIRM))
    [mined] = detections(designer, constraints, splits, size, [explore])
    within = size * REFINED_SHARE
    # One pair of splits inside a finding: half for the choice, half for the table.
    half = refine.price / 2
    refined = limits(
        [Design(1, 1, half, Choice(half, CORRESPONDENCE))], constraints, splits, within
    )
    # A table for each pair; of all pairs of queries, only those on the list are compared.
    listed = [Design(1, CONFIRMED, confirm.price / CONFIRMED, None)]
    confirmed = limits(listed, constraints, splits, size, math.log10(CONFIRMED))
    return (
        Part("explore", "mine both views", explore, size, mined.limits),
        Part(
            "refine",
            f"deepen a finding of {REFINED_SHARE:.0%} of the entities",
            refine,
            within,
            refined,
        ),
        Part(
            "confirm",
            f"measure {CONFIRMED} findings on a new cohort",
            confirm,
            size,
            confirmed,
        ),
    )


def _share(whole: Loss, share: Fraction) -> Loss:
    return replace(whole, epsilon=whole.epsilon * share, delta=whole.delta * share)
