"""The sentence that explains an empty list."""

from __future__ import annotations

import math
from typing import Final

from redveil.findings.findings import NothingFound
from redveil.findings.required_budget import COMMON_SHARE, Match, RequiredBudget
from redveil.losses.loss import Loss
from redveil.schema.view import plural

REFUSED: Final = (
    "Redescriptions meet the constraints, but none has the attributes and the words that were "
    "asked for. The trees and their counts are released all the same: `redveil ask` lists them, "
    "and answers questions about them free of charge."
)

UNFINISHED: Final = (
    "The list has not been made, because the run ended before it was. `redveil show` and "
    "Result.filter make it from the tables, free of charge."
)


def explanation(nothing: NothingFound, loss: Loss, unit: str) -> str:
    """Say why the list is empty and what it would have taken, from released values only.

    unit: what one entity is called
    """
    if nothing.refused:
        return REFUSED
    noise = (
        "The noise is too large to show that any redescription meets the constraints. With about "
        f"{nothing.entities:,.0f} {plural(unit)}, ε = {float(loss.epsilon):g} leaves an error of "
        f"about {nothing.cell_error:,.0f} in every count that was measured."
    )
    if not nothing.noise_aware:
        return noise
    if nothing.match is None or nothing.required is None:
        return f"{noise} The data may hold nothing to find, or nothing that this search considers."
    return f"{noise} {_match(nothing.match, unit)} {_required(nothing.required, unit)}."


def _match(match: Match, unit: str) -> str:
    part = "half" if match.share == COMMON_SHARE else f"{100 * match.share:.0f} %"
    return (
        f"Two queries that each cover {part} of the {plural(unit)}, with a Jaccard index of "
        f"{match.jaccard:g},"
    )


def _required(required: RequiredBudget, unit: str) -> str:
    ways = []
    if not math.isinf(required.epsilon):
        ways.append(f"an ε of about {required.epsilon:.2g} at this size")
    if not math.isinf(required.size):
        ways.append(f"about {required.size:,.0f} {plural(unit)} at this ε")
    if not ways:
        return "could not have been reported under these constraints"
    return f"would have needed {', or '.join(ways)}"
