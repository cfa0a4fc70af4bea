"""Cut points that were bought: what they cost, and whose they are. Public, like all of a schema."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redveil.schema.model import Side


@dataclass(frozen=True, slots=True)
class Purchase:
    """One purchase: these attributes' cut points were learned from the rows, for this much ε.

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
