"""What was charged to a data set, and allowed, before a server sells its budget.

A budget is forgotten when a server begins with nothing spent, although a ledger beside the schema
says otherwise. So charges that are known are taken over, or left out by somebody who says so. First
the old ledger is told that it charges nothing any more, then the server counts what it says. If
that is cut off in between, nothing is lost, and the same command goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redveil.base.files import followed, typed
from redveil.budget.charges import (
    TAKEN_OVER,
    Charge,
    PaidFor,
    missing_purchases,
    taken_over_by,
    total,
)
from redveil.budget.ledger import Ledger
from redveil.errors import InputError
from redveil.losses.loss import Loss, legible
from redveil.schema import Schema


@dataclass(slots=True)
class Earlier:
    """What is known of a data set's past, and what the audit log will say of it.

    server:  the identity of the server's ledger
    ledgers: those whose charges are taken over
    beside:  those that local runs with this schema charge, so that their charges are known
    written_off: when the server has forgotten charges to data sets that it does not know
    leave_out_charges: pass over what is not taken over
    raise_budget:      allow more than the schema does
    """

    server: str
    ledgers: Sequence[Path] = ()
    beside: Sequence[Path] = ()
    written_off: str | None = None
    leave_out_charges: bool = False
    raise_budget: bool = False
    details: dict[str, Any] = field(default_factory=dict)

    def must_allow(self, schema: Schema, budget: Loss) -> None:
        """Refuse a budget above that of the schema."""
        if schema.budget is None:
            return
        declared = Loss(schema.budget, schema.budget_delta)
        for symbol, option, most, asked in (
            ("ε", "--budget", declared.epsilon, budget.epsilon),
            ("δ", "--budget-delta", declared.delta, budget.delta),
        ):
            if asked > most:
                if not self.raise_budget:
                    raise InputError(
                        f"the schema allows {symbol} = {legible(most)} in all, and {option} "
                        f"{legible(asked)} is more; spend less, or allow it with --raise-budget, "
                        "which the audit log records"
                    )
                self.details["raised_from"] = _plain(declared)

    def must_be_counted(self, schema: Schema) -> None:
        """Refuse to pass over charges that are known."""
        for path in self.ledgers:
            Ledger(path).must_be_there()
            if not (self.leave_out_charges or Ledger(path).charges(schema.name, schema.id)):
                raise InputError(
                    f"{path}: nothing was charged for {schema.name} there; name the ledger that "
                    "was charged, or add --leave-out-charges if there is none, which the audit "
                    "log records"
                )
        if self.written_off is not None and not self.leave_out_charges:
            raise InputError(
                f"this server was restored from a backup, and budgets were written off at "
                f"{self.written_off}; it has forgotten data sets that were registered between the "
                f"two. If {schema.name} is none of them, say so with --leave-out-charges, which "
                "the audit log records"
            )
        named = {followed(one) for one in self.ledgers}
        left_out: list[Charge] = []
        servers: list[str] = []
        for path in dict.fromkeys((*self.ledgers, *self.beside)):
            charges = Ledger(path).charges(schema.name, schema.id)
            server = taken_over_by(charges)
            if server not in (None, self.server):
                if not self.leave_out_charges:
                    raise InputError(
                        f"{path}: another server, whose ledger is {server}, has taken over these "
                        "charges, and may have spent more; register the data set there, or count "
                        "them here as well and leave out what was spent there since: name the "
                        "ledger with --ledger, and add --leave-out-charges, which the audit log "
                        "records"
                    )
                servers.append(str(server))
            if followed(path) not in named:
                left_out += [one for one in charges if one.paid_for.purpose != TAKEN_OVER]
            if left_out and not self.leave_out_charges:
                raise InputError(
                    f"{path}: {_in_words(total(left_out))} was charged for {schema.name}; take "
                    f"that over with --ledger {typed(path)}, or leave it out with "
                    "--leave-out-charges, which the audit log records"
                )
        if self.leave_out_charges:
            # Also if none are known: nobody can say what is beside a schema from a pipe.
            self.details["left_out"] = (
                (_plain(total(left_out)) if left_out else {})
                | ({"ledgers": sorted(set(servers))} if servers else {})
                | ({"written_off": self.written_off} if self.written_off else {})
            )

    def take_over(self, schema: Schema, now: str) -> list[Charge]:
        """Return the charges that count from now on; the ledgers that had them charge no more.

        Cut points that were bought are charges, wherever they are recorded: the schema has them.
        """
        # A ledger that is named twice counts once.
        taken = [
            one
            for path in {followed(one): one for one in self.ledgers}.values()
            for one in Ledger(path).take_over(
                schema.name, schema.id, self.server, again=self.leave_out_charges
            )
        ]
        for one in missing_purchases(schema.bought, taken):
            paid_for = PaidFor.cut_points(one)
            taken.append(Charge(schema.name, Loss(one.epsilon), paid_for, now, schema.id))
        if taken:
            self.details["taken_over"] = _plain(total(taken))
        return taken


def _plain(loss: Loss) -> dict[str, str]:
    return {"epsilon": str(loss.epsilon), "delta": str(loss.delta)}


def _in_words(loss: Loss) -> str:
    """Return an amount as a message says it.

    >>> from fractions import Fraction
    >>> _in_words(Loss(Fraction(2))), _in_words(Loss(Fraction(1), Fraction(1, 8)))
    ('ε = 2', 'ε = 1, δ = 1/8')
    """
    delta = f", δ = {legible(loss.delta)}" if loss.delta else ""
    return f"ε = {legible(loss.epsilon)}{delta}"
