"""What may be spent: a data set's budget, an analyst's grant, and a cap over all analysts.

Limits are entries of the ledger, and the latest of each kind is in force. So they are signed, and a
budget that was lowered or a grant that was revoked is not undone by restoring a backup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from redveil.budget.book import Overdraft, overdraft
from redveil.budget.charges import Charge, PaidFor
from redveil.budget.entry import LIMIT, Entry
from redveil.errors import LedgerError
from redveil.losses.loss import Loss, legible
from redveil.store.ledger import Spent

BUDGET: Final = "budget"
CAP: Final = "cap"
NO_CAP: Final = "no cap"
GRANT: Final = "grant"
NO_GRANT: Final = "no grant"
NOTHING: Final = Loss(Fraction(0))


@dataclass(frozen=True, slots=True)
class Grant:
    """What an analyst may spend of a data set.

    needs_approval: whether the owner has to approve of every job
    """

    analyst: str
    dataset: str
    cap: Loss
    needs_approval: bool


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a data set that are in force.

    budget: what may be spent in all
    cap:    what all analysts together may spend; None limits nothing
    grants: by analyst

    >>> Limits(Loss(Fraction(3))).left("ana", Spent({})).epsilon
    Fraction(0, 1)
    """

    budget: Loss = NOTHING
    cap: Loss | None = None
    grants: Mapping[str, Grant] | None = None

    def after(self, entry: Entry) -> Limits:
        """Return the limits after an entry of the ledger."""
        amount, grants = entry.charge.loss, dict(self.grants or {})
        match entry.charge.paid_for.purpose, entry.analyst:
            case "budget", None:
                return replace(self, budget=amount)
            case "cap", None:
                return replace(self, cap=amount)
            case "no cap", None:
                return replace(self, cap=None)
            case "grant", str(analyst):
                approval = bool(entry.charge.paid_for.parameters.get("needs_approval"))
                dataset = entry.charge.identifier or ""
                return replace(
                    self, grants={**grants, analyst: Grant(analyst, dataset, amount, approval)}
                )
            case "no grant", str(analyst):
                grants.pop(analyst, None)
                return replace(self, grants=grants)
            case _:
                # A limit that this version does not know must not be passed over.
                raise LedgerError(f"entry {entry.number} sets a limit of an unknown kind")

    def grant(self, analyst: str) -> Grant | None:
        """Return an analyst's grant."""
        return (self.grants or {}).get(analyst)

    def overdraft(self, analyst: str, loss: Loss, spent: Spent) -> Overdraft | None:
        """Return what exceeds a limit, and how much is left for the analyst; None if nothing does.

        All limits are summed up in one answer: which of them it is, and what others have spent, is
        not for analysts.
        """
        over = [one for one in self._compared(analyst, loss, spent) if one is not None]
        if not over:
            return None
        left = self.left(analyst, spent)
        amount = left.epsilon if over[0].key == "budget" else left.delta
        grant = self.grant(analyst)
        cap = NOTHING if grant is None else grant.cap
        whole = cap.epsilon if over[0].key == "budget" else cap.delta
        return Overdraft(over[0].key, over[0].asked, amount, whole)

    def left(self, analyst: str, spent: Spent) -> Loss:
        """Return what an analyst can still spend."""
        grant = self.grant(analyst)
        pairs = [
            (self.budget, spent.of_all),
            (NOTHING if grant is None else grant.cap, spent.of(analyst)),
            *([(self.cap, spent.of_analysts)] if self.cap is not None else []),
        ]
        return Loss(
            max(min(cap.epsilon - used.epsilon for cap, used in pairs), Fraction(0)),
            max(min(cap.delta - used.delta for cap, used in pairs), Fraction(0)),
        )

    def _compared(self, analyst: str, loss: Loss, spent: Spent) -> Iterable[Overdraft | None]:
        grant = self.grant(analyst)
        yield overdraft(loss, spent.of_all, self.budget)
        yield overdraft(loss, spent.of(analyst), NOTHING if grant is None else grant.cap)
        if self.cap is not None:
            yield overdraft(loss, spent.of_analysts, self.cap)


def limit_entry(
    dataset: tuple[str, str],
    purpose: str,
    amount: Loss,
    made_at: str,
    *,
    analyst: str | None = None,
    needs_approval: bool | None = None,
) -> Entry:
    """Return the entry that sets a limit.

    dataset: its name and id
    """
    parameters = {} if needs_approval is None else {"needs_approval": needs_approval}
    name, identifier = dataset
    paid_for = PaidFor(purpose, parameters=parameters)
    return Entry(Charge(name, amount, paid_for, made_at, identifier), LIMIT, analyst)


def in_words(over: Overdraft) -> str:
    """Return a refusal in one line.

    >>> in_words(Overdraft("budget", Fraction(1), Fraction(1, 2), Fraction(3)))
    'over budget: ε = 1 requested, 1/2 left; spend less, or ask the owner for more'
    """
    symbol = "ε" if over.key == "budget" else "δ"
    return (
        f"over budget: {symbol} = {legible(over.asked)} requested, {legible(over.left)} left; "
        "spend less, or ask the owner for more"
    )
