"""A score and what its privacy rests on: how much one entity can move it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

# The proofs of the scores' fixed-point arithmetic go up to here (privacy/proofs).
MOST_ENTITIES: Final = 2**30


@dataclass(frozen=True, slots=True)
class Score:
    """A utility for private selection, evaluated on a public grid of whole units.

    `change` is the width of the interval that holds every candidate's change when one entity is
    added: with exponent ε·q / width, selection is ε-private (privacy/choose.md). A monotone score
    moves one way only, so its change is as wide as its sensitivity; any other score's is twice
    that. `rounding` bounds |value on the grid − true value| and is paid for in `width`.

    >>> score = Score("toy", Fraction(1), True, 10, Fraction(1, 2048), "privacy/choose.md")
    >>> score.width
    Fraction(513, 512)
    """

    name: str
    change: Fraction
    monotone: bool
    grid_bits: int
    rounding: Fraction
    proof: str

    @property
    def width(self) -> Fraction:
        """The width of the change as computed: rounding moves both values at both ends."""
        return self.change + 4 * self.rounding

    def rate(self, epsilon: Fraction) -> Fraction:
        """Return the exponent per grid unit that spends exactly ε."""
        return epsilon / (self.width * (1 << self.grid_bits))
