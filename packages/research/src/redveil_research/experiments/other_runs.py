"""Runs that do not mine privately: baselines, and walks that are watched. Not private.

They are lines of the same journal. A baseline's findings have no noise; a walk has scores.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any, Final

import numpy as np

import redveil
from redveil_research import baseline, diagnose
from redveil_research.experiments.rank_tests import binomial_tail
from redveil_research.experiments.runs import LARGE_LIMITS, Finding, Run, code_name
from redveil_research.experiments.subjects import Loaded

BASELINE_NAMES: Final = ("split-trees", "layered-trees", "cartwheels")
WALK: Final = "walk:"
WALK_STEPS: Final = 100_000
SHOWN: Final = 1000
BINS: Final = 200
# The published tree share; a diagnosis takes the ε of a run, of which this share is the walk's.
SHARE: Final = 0.1


def is_other(algorithm: str) -> bool:
    """Return whether a name in a journal is that of a baseline or of a watched walk.

    >>> is_other("split-trees"), is_other("walk:Moose@3"), is_other("twin")
    (True, True, False)
    """
    return algorithm in BASELINE_NAMES or algorithm.startswith(WALK)


def other_settings(loaded: Loaded, algorithm: str, *, large: bool) -> str:
    """Return a short hash of everything that such a run depends on, except ε."""
    digest = loaded.dataset.schema.digest
    parts = [redveil.__version__, digest, algorithm, _baseline_limits(large=large), WALK_STEPS]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def perform_other(
    loaded: Loaded, data: str, algorithm: str, epsilon: str, number: int, *, large: bool
) -> Run:
    """Mine a baseline, or watch a walk over pairs of trees at some ε of its own.

    >>> from redveil_research.experiments.subjects import World
    >>> loaded = World("survey", 300).load()
    >>> perform_other(loaded, "survey", "layered-trees", "", 1, large=False).algorithm
    'layered-trees'
    """
    wall, cpu = time.perf_counter(), time.process_time()
    made = _walk(loaded, algorithm, epsilon) if algorithm.startswith(WALK) else {}
    if not made:
        made = {"findings": _baseline(loaded, algorithm, _baseline_limits(large=large))}
    spent = time.perf_counter() - wall, time.process_time() - cpu
    settings = other_settings(loaded, algorithm, large=large)
    row = data, algorithm, epsilon, number, settings, round(spent[0], 4), round(spent[1], 4)
    return Run(*row, code=code_name(), **made)


def _baseline_limits(*, large: bool) -> dict[str, Any]:
    """Return what a baseline must find: as much as a private run; insignificant ones, too."""
    return {"max_p_value": 1.0, **(LARGE_LIMITS if large else {})}


def _baseline(loaded: Loaded, method: Any, limits: dict[str, Any]) -> tuple[Finding, ...]:
    """Return what a baseline finds, each with its true values."""
    found = baseline(loaded.dataset, method, **limits).to_arrow()
    entities = max(loaded.views[0].count, 1)
    findings = []
    for one in found.to_pylist():
        both, left, right = (one[f"true_support_{part}"] for part in ("both", "left", "right"))
        p_value = binomial_tail(both, left, right, entities)
        findings.append(Finding(one["true_jaccard"], float(both), one["true_jaccard"], p_value))
    return tuple(findings)


def _walk(loaded: Loaded, algorithm: str, epsilon: str) -> dict[str, Any]:
    """Return the first, middle and last scores of a walk that is never stopped, and a histogram."""
    target, _, depth = algorithm.removeprefix(WALK).rpartition("@")
    watched = diagnose(
        loaded.dataset,
        float(epsilon) / SHARE,
        profile="published",
        target=target,
        depth=int(depth),
        trials=1,
        tree_share=SHARE,
        walk_steps=WALK_STEPS,
        # A diagnosis compares walks; the paper watches one.
        walks=2,
    )
    scores = watched.traces[0]
    middle = scores.size // 2
    parts = scores[:SHOWN], scores[middle : middle + SHOWN], scores[-SHOWN:]
    counts, _ = np.histogram(scores, bins=BINS, range=(0, 1))
    return {
        "scores": tuple(np.round(np.concatenate(parts), 4).tolist()),
        "histogram": tuple(counts.tolist()),
    }
