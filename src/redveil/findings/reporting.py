"""What to report: the constraints on redescriptions, and how released tables are judged."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Final

from redveil.errors import InputError
from redveil.findings.selection import Selection
from redveil.findings.taste import Taste
from redveil.losses.loss import read_count, read_fraction
from redveil.losses.promise import Parameter
from redveil.losses.score import MOST_ENTITIES
from redveil.query.formula import Query
from redveil.schema import Side

AUTO: Final = "auto"


def read_prune(value: object) -> float | str | None:
    """Read a pruning threshold: a number of entities, auto, or None.

    >>> read_prune("200"), read_prune("auto")
    (200.0, 'auto')
    """
    if value is None or value == AUTO:
        return AUTO if value else None
    number = read_fraction(value)
    if number is None or number > MOST_ENTITIES:
        raise InputError("prune must be a number of entities, or auto")
    return float(number)


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a redescription must satisfy to be reported (Γ).

    In the hardened profile `max_p_value` must hold at the pessimistic end of the noise, in the
    published one at the estimates. The others are a matter of taste, and are judged at the
    estimates. `max_support` is the largest share of the (noisy) number of entities that either
    query may cover. `max_disjuncts` is the largest number of terms that a query may join. What
    nothing could satisfy is refused.

    >>> Constraints(min_jaccard=2)
    Traceback (most recent call last):
    redveil.errors.InputError: min_jaccard must lie between 0 and 1
    >>> Constraints(max_support=0)
    Traceback (most recent call last):
    redveil.errors.InputError: max_support must be above 0, or there is nothing to report
    """

    max_p_value: float = 0.01
    min_jaccard: float = 0.1
    min_support: int = 10
    max_support: float = 0.8
    max_disjuncts: int = 3

    def __post_init__(self) -> None:
        # As plain numbers: a certificate holds no others, such as NumPy's.
        for name in ("max_p_value", "min_jaccard", "max_support"):
            share = read_fraction(getattr(self, name))
            if share is None or not 0 <= share <= 1:
                raise InputError(f"{name} must lie between 0 and 1")
            object.__setattr__(self, name, float(share))
        for name in ("max_p_value", "max_support"):
            if getattr(self, name) == 0:
                raise InputError(f"{name} must be above 0, or there is nothing to report")
        for name in ("min_support", "max_disjuncts"):
            count = read_count(getattr(self, name))
            if count is None:
                raise InputError(f"{name} must be a whole number")
            object.__setattr__(self, name, count)
        if self.min_support < 0:
            raise InputError("min_support must not be negative")
        if self.min_support > MOST_ENTITIES:
            raise InputError(f"min_support must be a whole number up to {MOST_ENTITIES}")
        if not 1 <= self.max_disjuncts <= 10:
            raise InputError("max_disjuncts must lie between 1 and 10")


@dataclass(frozen=True, slots=True)
class Reporting:
    """What to report of released tables.

    prune:       drop redescriptions whose noisy support is below this number; "auto" drops those
                 whose overlap the noise alone could explain; None drops nothing
    taste:       what queries may say
    noise_aware: judge significance at the pessimistic end of the noise, rank by the corrected index
                 and novelty, and bound false discoveries; without it, everything is as in the paper
    selection:   what else was asked of the list, once the tables were released
    given:       the query that a person asked to describe, and its side, if one did

    >>> Reporting(prune="some")
    Traceback (most recent call last):
    redveil.errors.InputError: prune must be a number of entities, or auto
    """

    constraints: Constraints = field(default_factory=Constraints)
    prune: float | str | None = None
    noise_aware: bool = True
    taste: Taste = field(default_factory=Taste)
    selection: Selection = field(default_factory=Selection)
    given: tuple[Side, Query] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.prune, str) and self.prune != AUTO:
            raise InputError("prune must be a number of entities, or auto")

    def public(self) -> dict[str, Parameter]:
        """Return constraints, pruning and taste as plain values, for a certificate.

        >>> Reporting().public()["min_support"]
        10
        """
        return {"prune": self.prune, **asdict(self.constraints), **self.taste.public()}
