"""Selection: what else a reader may ask of a list, once it has been mined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redveil.errors import InputError
from redveil.losses.loss import read_fraction

if TYPE_CHECKING:
    from redveil.findings.redescription import Redescription


@dataclass(frozen=True, slots=True)
class Selection:
    """What a redescription must satisfy to be listed, besides the constraints of the run.

    min_corrected: the smallest chance-corrected index, judged at the estimate
    confirmed:     whether to list only what is confirmed

    >>> Selection(min_corrected=2)
    Traceback (most recent call last):
    redveil.errors.InputError: min_corrected must lie between 0 and 1
    """

    min_corrected: float = 0.0
    confirmed: bool = False

    def __post_init__(self) -> None:
        least = read_fraction(self.min_corrected)
        if least is None or not 0 <= least <= 1:
            raise InputError("min_corrected must lie between 0 and 1")
        object.__setattr__(self, "min_corrected", float(least))
        if not isinstance(self.confirmed, bool):
            raise InputError("confirmed must be True or False")

    def allows(self, one: Redescription) -> bool:
        """Return whether a redescription may be listed, as far as its index tells."""
        # An index of 0 or less is no reason to hide what nobody asked about.
        asked = self.min_corrected > 0
        return not asked or one.statistics.corrected.estimate >= self.min_corrected
