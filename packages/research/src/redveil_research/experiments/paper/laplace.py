"""The simulation of appendix C: sums of Laplace noise. It meets no data."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

DRAWS: Final = 1_000_000
SCALE: Final = 160.0
# How many terms, and how far from 0: the paper's bound for a depth, then √2·λ of exact counts.
BOUNDS: Final = ((15, (1810.0, math.sqrt(2) * 2720)), (63, (7241.0, math.sqrt(2) * 10400)))


def far_sums(draws: int) -> list[tuple[int, float, int]]:
    """Return how many sums of so many terms lie beyond each bound.

    >>> [(terms, round(bound)) for terms, bound, _ in far_sums(10)]
    [(15, 1810), (15, 3847), (63, 7241), (63, 14708)]
    """
    # Always the same, so that the page is.
    source = np.random.default_rng(20221213)
    found = []
    for terms, bounds in BOUNDS:
        sums = np.zeros(draws)
        for _ in range(terms):
            sums += source.laplace(0, SCALE, draws)
        found += [(terms, bound, int((np.abs(sums) > bound).sum())) for bound in bounds]
    return found
