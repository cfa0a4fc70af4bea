"""Records of bought cut points. Public, like the whole schema."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redveil.schema.view import Side


@dataclass(frozen=True, slots=True)
class Purchase:
    """One purchase: the attributes whose cut points were chosen privately, and the price in ε.

    >>> from redveil.schema import Side
    >>> Purchase(Fraction(1, 10), right=("cost",)).names(Side.RIGHT)
    ('cost',)
    """

    epsilon: Fraction
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    software: str = ""

    def names(self, side: Side) -> tuple[str, ...]:
        """Return the attributes of one view whose cut points were bought."""
        return self.left if side.value == "left" else self.right
