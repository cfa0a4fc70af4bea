"""What every walk needs: proposals, acceptance, and the published rule for stopping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

WORDS_PER_STEP = 3


@kernel
def below(word: np.uint64, bound: int) -> int:
    """Return the low half of a word scaled to 0 … bound − 1; the bias is below bound / 2^32."""
    half = word & np.uint64(0xFFFFFFFF)
    # np.int64 first: to the compiler, int of an unsigned number stays unsigned.
    return int(np.int64((half * np.uint64(bound)) >> np.uint64(32)))


@kernel
def propose_split(word: np.uint64, first_split: NDArray[np.int32]) -> int:
    """Return a uniform split of a uniform attribute.

    first_split: int32[attributes + 1], attribute a has the splits first_split[a] … [a + 1] − 1.
    """
    chosen = below(word >> np.uint64(32), first_split.shape[0] - 1)
    choices = first_split[chosen + 1] - first_split[chosen]
    return int(first_split[chosen]) + below(word, int(choices))


@kernel
def accepts(word: np.uint64, rate: float, change: float) -> bool:
    """Decide min(1, exp(rate · change)) with 53 random bits."""
    if change >= 0:
        return True
    uniform = np.float64(word >> np.uint64(11)) * 2.0**-53
    return bool(uniform < np.exp(rate * change))


@kernel
def has_settled(trace: NDArray[np.float64], step: int, window: int, threshold: float) -> bool:
    """Return whether the variance of the last `window` scores up to a step is below a threshold.

    Data-dependent, so nothing private may use it; a negative threshold switches it off.
    """
    if threshold < 0 or step + 1 < window:
        return False
    origin = trace[step]
    total, squares = 0.0, 0.0
    for k in range(step - window + 1, step + 1):
        difference = trace[k] - origin
        total += difference
        squares += difference * difference
    return bool(squares / window - (total / window) ** 2 < threshold)
