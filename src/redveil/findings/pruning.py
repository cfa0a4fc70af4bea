"""Pruning: dropping redescriptions that may be nothing but noise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from redveil.findings.redescription import Redescription


@dataclass(frozen=True, slots=True)
class Pruned:
    """Where a redescription stood that was pruned: its noisy support and Jaccard index."""

    support: float
    jaccard: float


def is_kept(support: float, low: float, threshold: float | str | None) -> bool:
    """Return whether a redescription is kept, given its noisy support and the lower end of that.

    A number is the paper's threshold, which a person reads off a scatter plot of support against
    Jaccard index. "auto" needs no plot: it prunes what the noise alone could explain, that is,
    where the interval of the overlap includes 0.

    >>> is_kept(40.0, 5.0, "auto"), is_kept(40.0, 5.0, 50), is_kept(0.0, 0.0, None)
    (True, False, True)
    """
    if threshold is None:
        return True
    return low > 0 if isinstance(threshold, str) else support >= threshold


def pruned_by_support(
    found: Iterable[Redescription], threshold: float | str | None
) -> tuple[list[Redescription], list[Pruned]]:
    """Return what is kept, and what is pruned because its noisy support is too small."""
    kept: list[Redescription] = []
    pruned: list[Pruned] = []
    for one in found:
        both = one.statistics.support_both
        if is_kept(both.estimate, both.low, threshold):
            kept.append(one)
        else:
            pruned.append(Pruned(both.estimate, one.statistics.jaccard.estimate))
    return kept, pruned
