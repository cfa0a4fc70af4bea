"""Runs that are tuned by their private size find something at ε = 1 if there are enough entities.

The sizes lie just above the thresholds of the tuning rule, where entities are scarcest.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest
from redveil.algorithms.parameters import Parameters

from redveil.algorithms.run import run
from redveil.experiments.generators import build
from support.seeded import SeededRandomness

RUNS = 5


@pytest.mark.parametrize("algorithm", ["twin", "alt-expm", "alt-mcmc"])
@pytest.mark.parametrize(
    ("world", "size", "alternations"),
    [("survey", 1_400, 0), ("claims", 1_200, 0), ("survey", 5_500, 1), ("survey", 9_200, 2)],
)
def test_no_run_is_empty(algorithm: str, world: str, size: int, alternations: int) -> None:
    data, streams, wanted = build(world, size, 3), count(1), Parameters.of(algorithm=algorithm)
    for _ in range(RUNS):
        mined = run(data, wanted, Fraction(1), lambda _: SeededRandomness(next(streams)), workers=1)
        assert mined.redescriptions
        if wanted.algorithm.alternates:
            assert mined.parameters.alternations == alternations
