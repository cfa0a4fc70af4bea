"""Has a Markov chain settled? Diagnostics over parallel walks, from their scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Traces = NDArray[np.float64]


def split_rhat(traces: Traces) -> float:
    """Return split-R̂: near 1 when the halves of all walks look alike, above 1.01 when they do not.

    traces: float64[walks, steps].

    >>> settled = np.random.default_rng(1).normal(size=(4, 1000))
    >>> split_rhat(settled) < 1.01
    True
    >>> split_rhat(settled + 3 * np.arange(4)[:, None]) > 2
    True
    """
    half = traces.shape[1] // 2
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = half * float(halves.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else math.inf
    return math.sqrt(((half - 1) / half * within + between / half) / within)


def effective_sample_size(traces: Traces) -> float:
    """Return how many independent scores the walks are worth together.

    Autocorrelations are averaged over walks and added up in pairs until a pair is not positive.

    >>> independent = np.random.default_rng(2).normal(size=(4, 1000))
    >>> 3000 < effective_sample_size(independent) < 5000
    True
    """
    walks, steps = traces.shape
    centred = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * steps, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :steps].mean(axis=0) / steps
    within = float(covariance[0]) * steps / (steps - 1)
    between = float(traces.mean(axis=1).var(ddof=1)) if walks > 1 else 0.0
    total = within * (steps - 1) / steps + between
    if total == 0:
        return float(walks)
    correlation = 1 - (within - covariance) / total
    pairs = correlation[1 : steps - steps % 2 - 1].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
    time = 1 + 2 * float(pairs[:stop].sum())
    draws = float(walks * steps)
    return min(draws / max(time, 1e-12), draws * math.log10(draws))
