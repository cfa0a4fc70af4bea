"""Sampling the exponential mechanism's law exactly.

The law is P(i) ∝ base[i] · exp(rate · units[i]). A uniform real number U is compared with the
cumulative weights. Double precision decides almost always, with a proven margin; when U comes
closer to a boundary than the margin, the same U is continued with fresh bits and compared by
interval arithmetic until the answer is certain. No approximation remains (proofs/choose.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.errors import PlanError
from redveil.privacy.randomness import Randomness

Integers = NDArray[np.int64]

# |computed − true| share of a cumulative weight, per unit in the last place of a double: exponents
# reach 745 before weights vanish, exp errs by a few units, each addition by half of one.
_UNIT: Final = 2.0**-52
_EXPONENT_ERROR: Final = 2 * 745 + 8
_LARGEST_BASE: Final = 2**53


def draw(units: Integers, rate: Fraction, base: Integers, randomness: Randomness) -> int:
    """Draw an index with P(i) ∝ base[i] · exp(rate · units[i]).

    units, base: int64[candidates], base not negative, 0 leaves a candidate out.

    >>> from redveil.privacy.randomness import SystemRandomness
    >>> one_allowed = np.array([0, 5, 0])
    >>> draw(np.array([9, 1, 9]), Fraction(1), one_allowed, SystemRandomness())
    1
    """
    if base.min(initial=0) < 0 or base.max(initial=0) >= _LARGEST_BASE or not base.any():
        raise PlanError("nothing to choose from, or a base measure out of range")
    gaps = units[base > 0].max() - units
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        weights = np.where(base > 0, base * np.exp(-float(rate) * gaps), 0.0)
    cumulative = np.cumsum(weights)
    total = float(cumulative[-1])
    word = int(randomness.words(1)[0])
    margin = total * _UNIT * (_EXPONENT_ERROR + units.size)
    low, high = total * (word / 2**64) - margin, total * ((word + 1) / 2**64) + margin
    index = int(np.searchsorted(cumulative, low, side="right"))
    floor = float(cumulative[index - 1]) if index else -margin
    if floor + margin <= low and high <= float(cumulative[index]) - margin:
        return index
    return decide_exactly(gaps, rate, base, word, randomness)


def decide_exactly(
    gaps: Integers, rate: Fraction, base: Integers, word: int, randomness: Randomness
) -> int:
    """Continue the uniform number that starts with `word` until interval arithmetic is certain.

    gaps: int64[candidates], top score minus score, not negative where base > 0.
    """
    bits, digits = word, 64
    while True:
        precision = 2 * digits + 64
        boundaries = list(_boundaries(gaps, rate, base, precision))
        total_low, total_high = boundaries[-1][1], boundaries[-1][2]
        low, high = bits * total_low, (bits + 1) * total_high
        before_high = 0
        for index, cumulative_low, cumulative_high in boundaries:
            if before_high << digits <= low and high <= cumulative_low << digits:
                return index
            before_high = cumulative_high
        bits = bits << 64 | int(randomness.words(1)[0])
        digits += 64


def _boundaries(
    gaps: Integers, rate: Fraction, base: Integers, precision: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (index, cumulative weight from below, from above) in units of 2^-precision."""
    from mpmath.ctx_iv import MPIntervalContext

    iv = MPIntervalContext()
    iv.prec = precision + 32
    step = iv.mpf(rate.numerator) / rate.denominator
    scale = iv.mpf(2) ** precision
    known = {0: (1 << precision, 1 << precision)}
    low = high = 0
    for index in np.flatnonzero(base):
        gap = int(gaps[index])
        if gap not in known:
            weight = iv.exp(-step * gap) * scale
            known[gap] = (max(int(weight.a) - 1, 0), int(weight.b) + 1)
        low += int(base[index]) * known[gap][0]
        high += int(base[index]) * known[gap][1]
        yield int(index), low, high
