"""From a noisy histogram to a few bins that hold about equally many: public arithmetic."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

# How far neighbours are averaged over, in bins; the noise decides which.
_WIDTHS: Final = (0.1, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)
# A bin that stands out from its neighbours by this many standard errors is a value of its own.
_STANDS_OUT: Final = 4.0
# Shares are tried from small to large, in steps of this ratio.
_COARSER: Final = 1.05
_SMALLEST_SHARE: Final = 1e-6


def smoothed(noisy: Floats, variance: float) -> Floats:
    """Estimate a histogram from noisy counts: neighbours are averaged as far as the noise asks.

    noisy: float64[bins], each count with noise of this variance. Bins that stand out, such as the
    many who paid exactly 0, are left as they are and out of their neighbours' averages. The width
    of the averages is the one with the smallest unbiased estimate of the error.

    >>> smoothed(np.array([500.0, 10, 10, 10, 10]), variance=2.0).tolist()
    [500.0, 10.0, 10.0, 10.0, 10.0]
    """
    place = np.flatnonzero(~_stands_out(noisy, variance))
    estimate = noisy.astype(np.float64)
    counts = estimate[place]
    distance = place[:, None] - place[None, :]
    best = np.inf
    for width in _WIDTHS:
        kernel = np.exp(-0.5 * (distance / width) ** 2)
        kernel /= kernel.sum(axis=1, keepdims=True)
        guess = kernel @ counts
        risk = float(((guess - counts) ** 2).sum() + 2 * variance * np.trace(kernel))
        if risk < best:
            best, estimate[place] = risk, guess
    return np.clip(estimate, 0.0, None)


def even_cuts(mass: Floats, most: int) -> tuple[int, ...]:
    """Return the bins after which to cut, so that at most `most` cuts make masses about equal.

    mass: float64[bins], not negative. A bin that is heavier than the others can be made stays
    alone, and the cuts it saves go to the rest. There is always at least one cut.

    >>> even_cuts(np.ones(8), 3)
    (1, 3, 5)
    >>> even_cuts(np.array([90.0, 1, 1, 1, 1]), 2)
    (0, 2)
    """
    mass = mass if mass.sum() > 0 else np.ones(mass.size)
    # The heaviest bins may stay alone; what they leave is shared by no more than all the bins.
    rest = float(np.sort(mass)[: max(mass.size - most, 1)].sum())
    share = max(rest / (2 * most + 2), float(mass.sum()) * _SMALLEST_SHARE)
    while len(cuts := _greedy(mass, share)) > most:
        share *= _COARSER
    return cuts or (int(np.searchsorted(np.cumsum(mass[:-1]), mass[:-1].sum() / 2)),)


def _stands_out(noisy: Floats, variance: float) -> NDArray[np.bool_]:
    """Return which bins are far above the mean of their neighbours, bool[bins]."""
    wide = np.pad(noisy.astype(np.float64), 1, mode="reflect")
    excess = noisy - (wide[:-2] + wide[2:]) / 2
    return np.asarray(excess > _STANDS_OUT * np.sqrt(2 * variance))


def _greedy(mass: Floats, share: float) -> tuple[int, ...]:
    """Cut from the left whenever a bin comes closer to the share without the next one."""
    cuts: list[int] = []
    held = float(mass[0])
    for place, extra in enumerate(mass[1:].tolist()):
        if held + extra - share > share - held:
            cuts.append(place)
            held = 0.0
        held += extra
    return tuple(cuts)
