"""Dropping redescriptions that may be nothing but noise."""

from __future__ import annotations

from collections.abc import Iterable

from redveil.findings.redescription import Redescription


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
