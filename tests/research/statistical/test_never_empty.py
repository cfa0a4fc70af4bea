"""Runs that are tuned by their private size find something at ε = 1 if there are enough entities.

The sizes lie just beyond the thresholds of the rule, where the data supports it least.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest

from redveil.algorithms.alternation import AltExpM, AltMCMC
from redveil.algorithms.catalogue import make_algorithm
from redveil.findings.reporting import Reporting
from redveil.losses.loss import Loss
from redveil.mining import mine
from redveil_research.experiments.generators import generate
from support.seeded import SeededRandomness

RUNS = 5


@pytest.mark.parametrize("algorithm", ["twin", "alt-expm", "alt-mcmc"])
@pytest.mark.parametrize(
    ("generator", "size", "alternations"),
    [("survey", 1_400, 0), ("claims", 1_200, 0), ("survey", 5_500, 1), ("survey", 9_200, 2)],
)
def test_no_run_is_empty(algorithm: str, generator: str, size: int, alternations: int) -> None:
    data, streams, wanted = generate(generator, size, 3).load(), count(1), make_algorithm(algorithm)
    for _ in range(RUNS):
        mined = mine(
            data,
            wanted,
            Reporting(),
            Loss(Fraction(1)),
            lambda _: SeededRandomness(next(streams)),
            workers=1,
        )
        assert mined.findings.redescriptions
        tuned = mined.run.algorithm
        if isinstance(tuned, AltExpM | AltMCMC):
            assert tuned.alternations == alternations
