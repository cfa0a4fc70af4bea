"""A score for private selection, and how much one entity can change it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

# The proofs of the scores' integer arithmetic hold up to this many entities (trees/scores).
MOST_ENTITIES: Final = 2**30


@dataclass(frozen=True, slots=True)
class Score:
    """A score for private selection, computed in integer units of a public grid.

    `change` is the width of the interval that contains the change of every candidate's score when
    one entity is added. With the exponent ε·q / width, selection is ε-private (privacy/choose.md).
    A monotone score changes in one direction only, so `change` is its sensitivity; otherwise it is
    at most twice that. `rounding` bounds |value on the grid − true value|, and `width` includes it.
    `proof` is the path of the proof in the package.

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
        """The width of the computed change: rounding moves both values at both ends."""
        return self.change + 4 * self.rounding

    def rate(self, epsilon: Fraction) -> Fraction:
        """Return the exponent per grid unit for the price ε."""
        return epsilon / (self.width * (1 << self.grid_bits))
