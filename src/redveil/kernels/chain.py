"""The parts common to all walks: proposals, acceptance and the published stopping rule."""

from __future__ import annotations

from typing import NamedTuple

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
    """Return True with probability min(1, exp(rate · change)), using 53 random bits."""
    if change >= 0:
        return True
    uniform = np.float64(word >> np.uint64(11)) * 2.0**-53
    return bool(uniform < np.exp(rate * change))


class Ending(NamedTuple):
    """When a walk ends before its last step.

    stop: uint8[1], read before each step; another thread sets it to 1 to end the walk (Ctrl-C)
    window, threshold: the published rule: end when the variance of the last `window` scores falls
        below `threshold`. As in the paper's listings, the score of a tree counts once a step has
        been taken from it. The rule depends on the data, so private runs must not use it; a
        threshold of -1 switches it off
    """

    stop: NDArray[np.uint8]
    window: int
    threshold: float


@kernel
def ends(trace: NDArray[np.float64], step: int, ending: Ending) -> bool:
    """Return whether a walk ends before a step; trace: float64[walk_steps], the scores so far."""
    if ending.stop[0] != 0:
        return True
    if ending.threshold < 0 or step < ending.window:
        return False
    origin = trace[step - 1]
    total, squares = 0.0, 0.0
    for k in range(step - ending.window, step):
        difference = trace[k] - origin
        total += difference
        squares += difference * difference
    return bool(squares / ending.window - (total / ending.window) ** 2 < ending.threshold)
