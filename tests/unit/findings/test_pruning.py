"""Dropping what may be nothing but noise."""

from __future__ import annotations

import pytest

from redveil.findings.pruning import Pruned, pruned_by_support
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import Interval, Statistics
from redveil.query.formula import Literal

INTERVALS = {
    "a": Interval(100.0, 90.0, 110.0),
    "b": Interval(100.0, 0.0, 900.0),
    "c": Interval(50.0, 0.5, 60.0),
    "d": Interval(2.0, 0.0, 6.0),
}


def supported(name: str, overlap: Interval) -> Redescription:
    """Return a redescription whose overlap has this interval; its supports are large."""
    large = Interval(1e12, 1e11, 1e13)
    half = Interval(0.5, 0.4, 0.6)
    statistics = Statistics(half, 0.1, half, large, large, overlap, 0.001, 0.002, 0.0001)
    query = Literal(name, "<=", 1)
    return Redescription(query, query, statistics, 0, (0,), (0,))


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [(None, "abcd"), (0, "abcd"), (50, "abc"), (50.5, "ab"), (1e9, ""), ("auto", "ac")],
)
def test_small_supports_are_pruned(threshold: float | str | None, kept: str) -> None:
    found = {name: supported(name, interval) for name, interval in INTERVALS.items()}
    remain, pruned = pruned_by_support(found.values(), threshold)
    assert remain == [found[name] for name in kept]
    assert pruned == [Pruned(INTERVALS[name].estimate, 0.5) for name in "abcd" if name not in kept]


def test_nothing_in_nothing_out() -> None:
    assert pruned_by_support([], "auto") == ([], [])
