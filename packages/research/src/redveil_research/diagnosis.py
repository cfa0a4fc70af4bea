"""For the data owner only: do walks converge on this data? NOT private; nothing is charged."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil import Dataset
from redveil.seam.results import Block, Displayed, Listing, Note
from redveil.seam.walks import walked, walking

WalkingName: TypeAlias = Literal["tree-pair", "alt-mcmc"]
Traces = NDArray[np.float64]

# Fewer independent scores than this say little about where a chain would go.
ENOUGH_SCORES: Final = 400
LARGEST_RHAT: Final = 1.01


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis(Displayed):
    """How some parallel walks went. NOT private.

    `print` shows the verdict and all numbers.

    rhat:       split-R̂ over the second halves of the walks; below 1.01 is good
    effective:  how many independent scores all walks together amount to; 400 or more is good
    acceptance: the share of proposals that were accepted
    traces:     the scores, float64[walks, walk_steps]

    >>> Diagnosis(1.002, 900, 0.25, np.zeros((4, 1000)))
    <Diagnosis of 4 walks: converged>
    """

    rhat: float
    effective: float
    acceptance: float
    traces: Traces

    @property
    def converged(self) -> bool:
        """Whether the second halves of the walks look alike."""
        return self.rhat < LARGEST_RHAT and self.effective >= ENOUGH_SCORES

    @property
    def verdict(self) -> str:
        """Whether the walks converged, and what to do if not."""
        if self.converged:
            return "converged"
        return "NOT converged: use longer walks, or an exact algorithm"

    def __repr__(self) -> str:
        return f"<Diagnosis of {len(self.traces)} walks: {self.verdict}>"

    def _shown(self) -> Iterator[Block]:
        yield Note("NOT PRIVATE: computed from the data without noise. For the data owner only.")
        yield Listing((), self._facts())

    def lines(self) -> list[str]:
        """Return the diagnosis as lines of text for the owner."""
        (walks, verdict), *others = self._facts()
        return [f"{walks}: {verdict}", *(f"{name} {fact}" for name, fact in others)]

    def _facts(self) -> list[tuple[str, str]]:
        walks, walk_steps = self.traces.shape
        late = walks * (walk_steps - walk_steps // 2)
        last, first = (float(np.median(self.traces[:, place])) for place in (-1, 0))
        good = f"(below {LARGEST_RHAT} is good), over the second halves"
        return [
            (f"{walks} walks of {walk_steps:,} steps", self.verdict),
            ("split-R̂", f"{self.rhat:.4f} {good}"),
            ("effective sample size", f"{self.effective:,.0f} of {late:,}"),
            ("acceptance rate", f"{100 * self.acceptance:.1f} %"),
            ("score at the end", f"{last:,.2f} (median), at the start {first:,.2f}"),
        ]


def diagnose(
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    algorithm: WalkingName = "tree-pair",
    walks: int = 4,
    target: str | None = None,
    **parameters: Any,
) -> Diagnosis:
    """Run parallel walks from random starts, and compare their scores. NOT private.

    The walks are those of the first tree, or pair of trees, of a run with these parameters and a
    random start. Early stopping is left out, so that all walks have one length.

    dataset:    what `redveil.load` returned
    epsilon:    the privacy loss ε of the run; a diagnosis itself is not charged
    algorithm:  tree-pair or alt-mcmc
    walks:      how many walks to compare, at least 2
    target:     the attribute that is the initial target, if the algorithm has one; random by
                default
    parameters: those of `redveil.mine` that the algorithm has, such as profile, depth, walk_steps

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(300), clinic_schema())
    >>> diagnose(dataset, 1, depth=1, walk_steps=400).traces.shape
    (4, 400)
    """
    wanted, price = walking(algorithm, epsilon, walks, **parameters)
    done = walked(dataset, wanted, price, walks, target)
    traces = np.array([one.trace for one in done])
    late = traces[:, wanted.walk_length // 2 :]
    return Diagnosis(
        split_rhat(late),
        effective_sample_size(late),
        float(np.mean([one.accepted for one in done])) / wanted.walk_length,
        traces,
    )


def split_rhat(traces: Traces) -> float:
    """Return split-R̂: near 1 when the halves of all walks look alike, above 1.01 when they do not.

    traces: float64[walks, walk_steps].

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
    """Return how many independent scores the walks together amount to.

    Autocorrelations are averaged over walks and added up in pairs until a pair is not positive.

    >>> independent = np.random.default_rng(2).normal(size=(4, 1000))
    >>> 3000 < effective_sample_size(independent) < 5000
    True
    """
    walks, walk_steps = traces.shape
    centred = traces - traces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * walk_steps, axis=1)
    covariance = (
        np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :walk_steps].mean(axis=0) / walk_steps
    )
    within = float(covariance[0]) * walk_steps / (walk_steps - 1)
    between = float(traces.mean(axis=1).var(ddof=1)) if walks > 1 else 0.0
    total = within * (walk_steps - 1) / walk_steps + between
    if total == 0:
        return float(walks)
    correlation = 1 - (within - covariance) / total
    pairs = correlation[1 : walk_steps - walk_steps % 2 - 1].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
    time = 1 + 2 * float(pairs[:stop].sum())
    draws = float(walks * walk_steps)
    return min(draws / max(time, 1e-12), draws * math.log10(draws))
