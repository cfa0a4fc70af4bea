"""Pruning: dropping redescriptions that may be nothing but noise."""

from __future__ import annotations

from collections.abc import Iterable

from redveil.findings.redescription import Redescription
from redveil.findings.reporting import AUTO


def pruned_by_support(
    found: Iterable[Redescription], threshold: float | str | None
) -> tuple[list[Redescription], list[Redescription]]:
    """Return what is kept, and what is pruned because its noisy support is too small.

    A number is the paper's threshold, which a person reads off a scatter plot of support against
    Jaccard index. "auto" needs no plot: it prunes what the noise alone could explain, that is,
    where the interval of the overlap includes 0.
    """
    kept: list[Redescription] = []
    pruned: list[Redescription] = []
    for one in found:
        both = one.statistics.support_both
        enough = (
            threshold is None
            or (threshold == AUTO and both.low > 0)
            or (not isinstance(threshold, str) and both.estimate >= threshold)
        )
        (kept if enough else pruned).append(one)
    return kept, pruned
