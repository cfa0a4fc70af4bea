"""What runs would detect, as a table and as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redveil.base.display import Block, Displayed, Listing
from redveil.findings.detection import SHARES, Detection, Limit
from redveil.findings.required_budget import Match
from redveil.findings.study import Part

EXPLAINED: Final = (
    "The smallest chance-corrected index (0 if unrelated, 1 if the same) of two queries, and in\n"
    "brackets their overlap. Rare: each covers 5 % of the entities; medium: 20 %; common: 50 %.\n"
    "It is found: chosen with odds of 9 : 1 and significant; and confirmed: significant among all\n"
    "comparable pairs. If that takes more, it stands after the semicolon. No data was used."
)


@dataclass(frozen=True, slots=True)
class Detectable(Displayed):
    """What runs with so many entities would detect, by ε; and a proposal for a study.

    `print` shows a table.

    >>> import redveil
    >>> redveil.detectable(1, entities=5_000).entities
    5000
    """

    entities: int
    detections: Sequence[Detection]
    study: Sequence[Part]

    def __repr__(self) -> str:
        return f"<Detectable: {self.entities:,} entities, {len(self.detections)} values of ε>"

    def _shown(self) -> Iterator[Block]:
        yield limits_listing(self.entities, self.detections)
        yield EXPLAINED
        yield study_listing(self.study)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain values.

        >>> import redveil
        >>> redveil.detectable(1, entities=5_000).plain()["detect"][0]["epsilon"]
        '1/100'
        """
        return {
            "entities": self.entities,
            "detect": [
                {"epsilon": str(one.loss.epsilon)} | _plain_limits(one.limits, self.entities)
                for one in self.detections
            ],
            "study": [
                {"part": one.name, "does": one.does, "epsilon": str(one.loss.epsilon)}
                | _plain_limits(one.limits, one.size)
                for one in self.study
            ],
        }


def limits_listing(entities: int, detections: Sequence[Detection]) -> Listing:
    """Return the smallest matches by ε, a row for each."""
    return Listing(
        ("ε", *SHARES),
        [
            (
                f"{float(one.loss.epsilon):g}",
                *(_both_cells(limit, entities) for limit in one.limits.values()),
            )
            for one in detections
        ],
        caption=f"What a run with {entities:,} entities would detect",
        right=tuple(range(1 + len(SHARES))),
    )


def study_listing(parts: Sequence[Part]) -> Listing:
    """Return the parts of a study, and what each would detect."""
    return Listing(
        ("part", "ε", *SHARES, "what it does"),
        [
            (
                one.name,
                f"{float(one.loss.epsilon):g}",
                *(_cell(limit.confirmed, one.size) for limit in one.limits.values()),
                one.does,
            )
            for one in parts
        ],
        caption="A proposal for a study, and what each part would confirm",
        right=tuple(range(1, 2 + len(SHARES))),
    )


def _both_cells(limit: Limit, size: float) -> str:
    """Return what is found and, if that is not enough to be confirmed, what is."""
    found, confirmed = _cell(limit.found, size), _cell(limit.confirmed, size)
    return confirmed if found == confirmed else f"{found}; {confirmed}"


def _cell(match: Match | None, size: float) -> str:
    return "–" if match is None else f"{match.corrected:.2f} ({match.both(size):,.0f})"


def _plain_limits(limits: Mapping[str, Limit], size: float) -> dict[str, Any]:
    return {
        word: {
            "share": limit.share,
            "found": _plain(limit.found, size),
            "confirmed": _plain(limit.confirmed, size),
        }
        for word, limit in limits.items()
    }


def _plain(match: Match | None, size: float) -> dict[str, float] | None:
    if match is None:
        return None
    return {
        "jaccard": match.jaccard,
        "corrected": round(match.corrected, 3),
        "overlap": round(match.both(size)),
    }
