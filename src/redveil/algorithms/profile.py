"""A profile: how an algorithm is carried out. The hardened one is here, and is the default.

The published profile (`algorithms/published.py`) overrides what the paper does differently. Other
code calls a profile's methods, and never tests which profile it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from redveil.algorithms.targets import Target, attribute_target
from redveil.counting.prepared import PreparedData
from redveil.data.dataset import Dataset
from redveil.findings.reporting import Constraints, Reporting
from redveil.growing.rules import HARDENED_RULES, Rules
from redveil.losses.loss import Loss
from redveil.losses.promise import Guarantee
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.schema import Side

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm

# Makes an attribute a target: from prepared data, a side, and the attribute's number there.
Targets = Callable[[PreparedData, Side, int], Target]


@dataclass(frozen=True)
class Profile:
    """The hardened profile: private as proved.

    >>> HARDENED.name
    'hardened'
    """

    name: ClassVar[str] = "hardened"
    default_algorithm: ClassVar[str] = "twin"
    # What a redescription must satisfy, unless a user says otherwise.
    usual: ClassVar[Constraints] = Constraints()
    # Whether its promise is meant to hold: an audit that refutes it is an alarm.
    is_private: ClassVar[bool] = True
    # Whether it looks at the numbers themselves, and not only at their bins.
    needs_values: ClassVar[bool] = False
    # Whether the tuning rule sets what is not given.
    tunes: ClassVar[bool] = True
    # A warning to show before a run, if any.
    warning: ClassVar[str | None] = None

    @property
    def rules(self) -> Rules:
        """The rules by which trees are chosen."""
        return HARDENED_RULES

    def defaults(self, _algorithm: type[Algorithm]) -> dict[str, Any]:
        """Return parameters that differ from an algorithm's own defaults."""
        return {}

    def check(self, algorithm: Algorithm) -> None:
        """Refuse an algorithm that cannot be carried out this way."""

    def check_loss(self, loss: Loss) -> None:
        """Refuse a loss that cannot be accounted for this way."""

    def observed(self, dataset: Dataset) -> Dataset:
        """Return the data set under the schema whose splits trees are made of."""
        return dataset

    def targets(self, _dataset: Dataset) -> Targets:
        """Return what makes an attribute a target."""
        return attribute_target

    def first_side(self, attribute_side: Side) -> Side:
        """Return the view of an alternation's first tree, given that of the attribute it predicts.

        >>> HARDENED.first_side(Side.LEFT).value
        'right'
        """
        return attribute_side.other

    def randomness(self) -> Randomness:
        """Return a fresh stream of randomness."""
        return SystemRandomness()

    def reporting(self, constraints: Constraints | None, prune: float | str | None) -> Reporting:
        """Return what to report; None stands for the profile's default."""
        return Reporting(constraints or self.usual, prune)

    def constraints(self, **given: float | None) -> Constraints:
        """Return what a redescription must satisfy; None stands for the profile's default.

        >>> HARDENED.constraints(min_jaccard=0.5, max_disjuncts=None).max_disjuncts
        3
        """
        known: dict[str, Any] = {name: one for name, one in given.items() if one is not None}
        return replace(self.usual, **known)

    def guarantee(self, *, walks: bool) -> Guarantee:
        """Return how far the proof carries."""
        return "asymptotic" if walks else "exact"

    def conditions(self, algorithm: Algorithm) -> tuple[str, ...]:
        """Return what the promise rests on besides what every promise does."""
        if not algorithm.walks:
            return ()
        return (
            f"the Markov chains have converged after {algorithm.walk_length} steps; "
            "no bound is claimed",
        )

    def public(self) -> dict[str, float]:
        """Return the profile's own parameters, for a certificate."""
        return {}


HARDENED: Final = Profile()
