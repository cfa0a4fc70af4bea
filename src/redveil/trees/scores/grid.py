"""The fixed-point grid on which scores are computed."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

# A score is an integer number of units of 2^-GRID_BITS, so sums of scores are exact.
GRID_BITS: Final = 12
UNIT: Final = Fraction(1, 2**GRID_BITS)
