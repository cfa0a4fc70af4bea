"""The attack on floating-point Laplace noise: some doubles can only come from one true answer.

Noise made as scale · ln(U) with U a multiple of 2⁻⁵³ reaches few of the doubles around an answer,
and which ones depends on the answer. A released double that one answer cannot give proves the
other, whatever ε says. The attack must succeed against such noise, or it would prove nothing when
it fails against ours.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import redveil
from redveil.privacy.mechanisms import count
from redveil.privacy.randomness import SystemRandomness
from redveil.sealed import Receipt, Sealed
from support.prepared import SOME_STEP
from support.seeded import SeededRandomness
from support.wall import marked

ANSWERS = (0, 1)
UNIT = 2**53
#: How far rounding can move the uniform number that explains an output.
REACH = 64
DRAWS = 200


def naive_noise(word: int) -> float:
    """Return Laplace noise of scale 1 as textbooks have it: a sign and the logarithm of U."""
    uniform = ((word >> 11) + 1) / UNIT
    return math.log(uniform) if word & 1 else -math.log(uniform)


def explains(answer: int, output: float) -> bool:
    """Whether any uniform number makes the naive mechanism turn this answer into this output."""
    noise = output - answer
    near = round(math.exp(-abs(noise)) * UNIT)
    tried = range(max(near - REACH, 1), min(near + REACH, UNIT) + 1)
    sign = 1 if noise < 0 else -1
    return any(answer + sign * math.log(k / UNIT) == output for k in tried)


def test_naive_noise_gives_the_answer_away() -> None:
    source = SeededRandomness(7)
    certain = 0
    for answer in ANSWERS:
        for word in source.words(DRAWS):
            possible = [a for a in ANSWERS if explains(a, answer + naive_noise(int(word)))]
            # The truth always explains what it led to, so a lone explanation is the truth.
            assert answer in possible
            certain += len(possible) == 1
    assert certain > DRAWS / 2


def released(answer: int, epsilon: Fraction, draws: int) -> list[object]:
    """Return many releases of one answer by our mechanism."""
    receipt = Receipt(SOME_STEP, "count", epsilon)
    true_counts = Sealed(np.full(draws, answer, dtype=np.int64))
    outputs = count(true_counts, receipt, SystemRandomness()).value
    assert outputs.dtype == np.int64
    return list(outputs.tolist())


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3)])
def test_our_noise_gives_neighbouring_answers_the_same_outputs(epsilon: Fraction) -> None:
    # The rarest of these outputs is expected more than 100 times: it is missed once in 10^43.
    outputs = [set(released(answer, epsilon, 20_000)) for answer in ANSWERS]
    near = set(range(-3, 5))
    assert near <= outputs[0]
    assert near <= outputs[1]
    assert {type(one) for one in outputs[0] | outputs[1]} == {int}


def test_our_noise_gives_large_neighbouring_answers_the_same_outputs() -> None:
    """Large answers have coarse doubles; whole numbers are as fine everywhere."""
    answer = 2**53
    outputs = [set(released(answer + one, Fraction(1), 20_000)) for one in ANSWERS]
    near = set(range(answer - 3, answer + 5))
    assert near <= outputs[0]
    assert near <= outputs[1]


def test_every_count_in_a_hardened_result_is_a_whole_number() -> None:
    result = redveil.mine(marked(), 1, depth=1, trials=1, counts="least-squares")
    table = result.document.tree_pairs[0].leaf_table
    assert table.left_margin is not None
    assert table.right_margin is not None
    counts = [*(n for row in table.cells for n in row), *table.left_margin, *table.right_margin]
    assert {type(number) for number in counts} == {int}


def test_the_published_profile_has_the_flaw_that_its_certificate_admits() -> None:
    result = redveil.mine(
        marked(), 1, algorithm="alt-expm", profile="published", depth=1, trials=1, alternations=1
    )
    cells = [n for row in result.document.tree_pairs[0].leaf_table.cells for n in row]
    assert not all(float(number).is_integer() for number in cells)
    assert result.certificate.conditions[0].startswith("NOT MET")
