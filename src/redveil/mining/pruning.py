"""From all redescriptions that were found to a list worth reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from redveil.mining.estimate import Estimate
from redveil.mining.query_text import to_text
from redveil.mining.redescription import Redescription

# Two redescriptions of one table that share this much of their entities say the same thing.
SAME = 0.8


def pruned_by_support(
    found: Iterable[Redescription], threshold: float | str | None
) -> tuple[list[Redescription], list[Redescription]]:
    """Return what is kept and what is pruned because its noisy support is too small.

    A number is the paper's threshold, read off a scatter plot of support against Jaccard index.
    "auto" needs no plot: it prunes what the noise law could have made of nothing, that is, where
    the interval of the overlap reaches down to 0.
    """
    kept: list[Redescription] = []
    pruned: list[Redescription] = []
    for one in found:
        enough = (
            threshold is None
            or (threshold == "auto" and one.support_both.low > 0)
            or (not isinstance(threshold, str) and one.support_both.estimate >= threshold)
        )
        (kept if enough else pruned).append(one)
    return kept, pruned


def without_redundancy(
    found: Iterable[Redescription], estimates: Sequence[Estimate]
) -> tuple[Redescription, ...]:
    """Rank by the lower bound of J and drop what an earlier redescription says already.

    Within a table, extents are compared by the estimated Jaccard similarity of what they cover
    (unless no estimates are given); between tables, where extents cannot be compared for free, by
    their wording.
    """
    ranked = sorted(found, key=lambda r: (-r.jaccard.low, r.literals, to_text(r.left)))
    kept: list[Redescription] = []
    wordings: set[tuple[str, str]] = set()
    for one in ranked:
        wording = to_text(one.left), to_text(one.right)
        if wording in wordings:
            continue
        if estimates and any(
            one.table == other.table and similarity(one, other, estimates[one.table]) >= SAME
            for other in kept
        ):
            continue
        wordings.add(wording)
        kept.append(one)
    return tuple(kept)


def similarity(one: Redescription, other: Redescription, table: Estimate) -> float:
    """Return the estimated Jaccard similarity of what two redescriptions of a table cover."""
    cells = np.maximum(table.cells, 0.0)
    first, second = np.zeros(cells.shape), np.zeros(cells.shape)
    first[np.ix_(one.left_cells, one.right_cells)] = 1.0
    second[np.ix_(other.left_cells, other.right_cells)] = 1.0
    either = float((np.maximum(first, second) * cells).sum())
    return float((first * second * cells).sum()) / either if either > 0 else 1.0
