"""Charges: what was paid, for what, and to which data set."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from redveil.errors import InputError
from redveil.losses.loss import Loss
from redveil.schema import Side
from redveil.schema.purchase import Purchase

MINE: Final = "mine"
DESCRIBE: Final = "describe"
REFINE: Final = "refine"
CONFIRM: Final = "confirm"
BUY_CUTS: Final = "buy-cuts"
# A charge of nothing: a server counts all others from now on, and nothing is charged here.
TAKEN_OVER: Final = "taken over"


@dataclass(frozen=True, slots=True)
class PaidFor:
    """What a charge pays for. Public values only; known before the run.

    purpose:    the command: "mine", "describe", "refine", "confirm" or "buy-cuts"
    result:     the name under which the result is kept, if it is known
    algorithm:  the algorithm, of a run
    parameters: its parameters, as plain values; of a purchase, the columns

    >>> PaidFor("mine", "result.json", "twin", {"depth": 2}).algorithm
    'twin'
    """

    purpose: str
    result: str | None = None
    algorithm: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take a path as its text, and refuse anything else before it is charged for."""
        if isinstance(self.result, os.PathLike):
            object.__setattr__(self, "result", str(self.result))
        if not isinstance(self.result, str | None):
            raise InputError('result_name must be a text, as in "table 2"')

    def without(self, names: Collection[str]) -> PaidFor:
        """Return it without parameters that are not known before the run.

        >>> PaidFor("mine", None, "twin", {"depth": 2, "counts": "cells"}).without(["depth"])
        PaidFor(purpose='mine', result=None, algorithm='twin', parameters={'counts': 'cells'})
        """
        known = {name: value for name, value in self.parameters.items() if name not in names}
        return replace(self, parameters=known)

    def with_part(self, within: Sequence[str]) -> PaidFor:
        """Return it with the queries that tell which entities a run is about, if not all.

        >>> PaidFor("mine").with_part(["[sex = F]"]).parameters
        {'within': '[sex = F]'}
        """
        if not within:
            return self
        return replace(self, parameters={**self.parameters, "within": " and ".join(within)})

    @classmethod
    def taken_over(cls, ledger: str) -> PaidFor:
        """Return what marks charges that a server's ledger has taken over.

        >>> PaidFor.taken_over("7e57").purpose
        'taken over'
        """
        return cls(TAKEN_OVER, parameters={"ledger": ledger})

    @classmethod
    def cut_points(cls, one: Purchase) -> PaidFor:
        """Return what a purchase of cut points pays for.

        >>> PaidFor.cut_points(Purchase(Fraction(1, 10), right=("cost",))).parameters
        {'columns': {'left': [], 'right': ['cost']}}
        """
        columns = {"left": list(one.left), "right": list(one.right)}
        return cls(BUY_CUTS, None, None, {"columns": columns})


@dataclass(frozen=True, slots=True)
class Charge:
    """One recorded charge to a data set, which has a name and, once accepted, an identifier.

    >>> Charge("clinic", Loss(Fraction(1)), PaidFor("mine"), "2026-01-01T12:00:00+00:00").name
    'clinic'
    """

    name: str
    loss: Loss
    paid_for: PaidFor
    made_at: str
    identifier: str | None = None


def charges_to(charges: Iterable[Charge], name: str, identifier: str | None) -> list[Charge]:
    """Return the charges that count for a data set: by its identifier, its name, and so on.

    The name counts too, because another identifier may have been given to the same data later. A
    data set that was renamed is one with all names and identifiers that it ever had. Charges of
    earlier versions may have no identifier. They count for every data set, because nobody knows
    what theirs is called now.

    >>> one = Charge("clinic", Loss(Fraction(1)), PaidFor("mine"), "", identifier="7e57")
    >>> two = Charge("study", Loss(Fraction(1)), PaidFor("mine"), "", identifier="7e57")
    >>> len(charges_to([one, two], "clinic", "5c00")), len(charges_to([one, two], "school", None))
    (2, 0)
    >>> old = Charge("clinic", Loss(Fraction(1)), PaidFor("mine"), "")
    >>> len(charges_to([old], "school", "5c00"))
    1
    """
    known = list(charges)
    names, identifiers = {storable(name)}, {storable(identifier)} if identifier else set()
    while True:
        found = [one for one in known if one.name in names or one.identifier in identifiers]
        more_names = {one.name for one in found}
        more_identifiers = {one.identifier for one in found if one.identifier is not None}
        if more_names <= names and more_identifiers <= identifiers:
            counted = set(map(id, found))
            return [one for one in known if one.identifier is None or id(one) in counted]
        names |= more_names
        identifiers |= more_identifiers


def taken_over_by(charges: Iterable[Charge]) -> str | None:
    """Return the identity of the server's ledger that has taken charges over last, if one has.

    >>> mark = Charge("clinic", Loss(Fraction(0)), PaidFor.taken_over("7e57"), "")
    >>> taken_over_by([mark]), taken_over_by([])
    ('7e57', None)
    """
    found = None
    for one in charges:
        if one.paid_for.purpose == TAKEN_OVER:
            found = str(one.paid_for.parameters.get("ledger"))
    return found


def latest_of_each(charges: Sequence[Charge]) -> list[Charge]:
    """Return the latest charge to each data set, latest first, of charges from the oldest on.

    >>> one = Charge("clinic", Loss(Fraction(1)), PaidFor("mine"), "", identifier="7e57")
    >>> two = Charge("study", Loss(Fraction(1)), PaidFor("mine"), "", identifier="7e57")
    >>> [charge.name for charge in latest_of_each([one, two])]
    ['study']
    """
    left = list(charges)
    found: list[Charge] = []
    while left:
        latest = left[-1]
        counted = set(map(id, charges_to(left, latest.name, latest.identifier)))
        left = [one for one in left if id(one) not in counted]
        found.append(latest)
    return found


def storable(text: str) -> str:
    r"""Return a text as a ledger stores it: file names and JSON may contain lone surrogates.

    >>> storable("r\udce9sultat.json")
    'r\\udce9sultat.json'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def total(charges: Iterable[Charge]) -> Loss:
    """Return the exact sum of charges, ε and δ separately (basic composition).

    >>> one = Charge("clinic", Loss(Fraction(1, 3)), PaidFor("mine"), "")
    >>> total([one, one, one])
    Loss(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    """
    losses = [one.loss for one in charges]
    return Loss(
        sum((one.epsilon for one in losses), Fraction(0)),
        sum((one.delta for one in losses), Fraction(0)),
    )


def missing_purchases(
    bought: Sequence[Purchase], charges: Iterable[Charge]
) -> tuple[Purchase, ...]:
    """Return the purchases that no charge paid for. A charge pays for one purchase.

    >>> one = Purchase(Fraction(1, 10), right=("cost",))
    >>> paid = Charge("clinic", Loss(Fraction(1, 10)), PaidFor.cut_points(one), "")
    >>> missing_purchases([one, one], [paid]) == (one,)
    True
    """
    paid = Counter(
        (one.loss.epsilon, *_columns(one.paid_for))
        for one in charges
        if one.paid_for.purpose == BUY_CUTS
    )
    missing: list[Purchase] = []
    for purchase in bought:
        key = purchase.epsilon, purchase.left, purchase.right
        if paid[key]:
            paid[key] -= 1
        else:
            missing.append(purchase)
    return tuple(missing)


def _columns(paid_for: PaidFor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    columns = paid_for.parameters.get("columns")
    given = [columns.get(side) for side in Side] if isinstance(columns, Mapping) else [None, None]
    left, right = (tuple(map(str, one)) if isinstance(one, list) else () for one in given)
    return left, right
