"""Runs of one variant, pooled: what the paper's tables and figures are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil_research.experiments.paper.agenda import BUILT, TWIN, Variant
from redveil_research.experiments.runs import Finding, Run

Floats = NDArray[np.float64]
LIMIT: Final = 0.01
# Γ.minJ, which a redescription must have by its noisy index.
LEAST: Final = 0.1


@dataclass(frozen=True, slots=True)
class Pooled:
    """All findings of some runs, those with too small a noisy support apart.

    >>> Pooled((), (Finding(0.5, 900, 0.4, 1e-9), Finding(0.9, 20, 0.0, 1)), 500).kept
    (Finding(noisy=0.5, noisy_support=900, true=0.4, p_value=1e-09),)
    """

    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]
    threshold: float

    @property
    def kept(self) -> tuple[Finding, ...]:
        """What is not pruned."""
        return tuple(one for one in self.findings if one.noisy_support >= self.threshold)

    @property
    def pruned(self) -> tuple[Finding, ...]:
        """What is."""
        return tuple(one for one in self.findings if one.noisy_support < self.threshold)

    @property
    def successes(self) -> int:
        """How many runs return anything, pruned or not."""
        return sum(bool(run.findings) for run in self.runs)

    def significant(self, least: float = 0.0) -> float:
        """Return the share of significant ones among those kept with at least some true index."""
        kept = [one for one in self.kept if one.true >= least]
        return share(one.p_value <= LIMIT for one in kept)


def share(flags: Iterable[bool]) -> float:
    """Return the share of true ones, NaN of none.

    >>> share([True, False])
    0.5
    """
    every = list(flags)
    return sum(every) / len(every) if every else float("nan")


@dataclass(frozen=True, slots=True)
class Known:
    """What is public about a data set, or said by its owner: its size, and the paper's settings."""

    rows: int
    left: int
    right: int
    large: bool
    prune: int


@dataclass(frozen=True, slots=True)
class Pool:
    """All runs of a journal, to be taken by data set, variant and ε.

    known: the data sets; timed: the numbers of rows of those whose runs are timed
    """

    runs: Sequence[Run]
    known: Mapping[str, Known]
    timed: Mapping[str, int] = field(default_factory=dict)

    def take(self, data: str, variant: Variant | str, epsilon: str, depth: int = BUILT) -> Pooled:
        """Return the pooled runs of a variant."""
        name = variant if isinstance(variant, str) else variant.at(depth)
        row = data, name, epsilon
        runs = tuple({run.number: run for run in self.runs if run.row == row}.values())
        ours = name.partition("~")[0].partition("@")[0] == TWIN.base
        # Ours has pruned nothing and needs no threshold: its list is the result.
        threshold = 0 if ours or data not in self.known else self.known[data].prune
        return Pooled(runs, tuple(one for run in runs for one in run.findings), threshold)

    @property
    def subjects(self) -> list[str]:
        """The data sets with runs of the variants, in the order of their first."""
        named = [run.data for run in self.runs if run.algorithm == f"tree-pair~0.5@{BUILT}"]
        return [name for name in self.known if name in named]


def column(findings: Iterable[Finding], name: str) -> Floats:
    """Return one number of every finding.

    >>> column([Finding(0.5, 900, 0.4, 1e-9)], "true").tolist()
    [0.4]
    """
    return np.array([getattr(one, name) for one in findings], dtype=np.float64)


def differences(findings: Iterable[Finding]) -> Floats:
    """Return how far noisy Jaccard indices are from the true ones.

    >>> differences([Finding(0.5, 900, 0.4, 1e-9)]).round(3).tolist()
    [0.1]
    """
    every = list(findings)
    return np.asarray(np.abs(column(every, "noisy") - column(every, "true")))
