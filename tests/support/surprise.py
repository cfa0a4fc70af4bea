"""How surprising outcomes are under an exact law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from scipy.stats import chi2

# One run in a million may fail for no reason; seeded ones either always or never do.
FALSE_ALARM = 1e-6


def surprise(seen: Counter[Hashable], law: Mapping[Hashable, float]) -> float:
    """Return the χ² p-value of outcomes under a law; cells that expect fewer than 5 are pooled."""
    if any(law.get(outcome, 0.0) <= 0 for outcome in seen):
        return 0.0
    draws, cells, pool = seen.total(), [], [0.0, 0.0]
    for outcome, chance in sorted(law.items(), key=lambda item: item[1]):
        pool[0] += seen[outcome]
        pool[1] += draws * chance
        if pool[1] >= 5:
            cells.append(pool)
            pool = [0.0, 0.0]
    cells[-1] = [a + b for a, b in zip(cells[-1], pool, strict=True)]
    statistic = sum((found - expected) ** 2 / expected for found, expected in cells)
    return float(chi2.sf(statistic, len(cells) - 1))
