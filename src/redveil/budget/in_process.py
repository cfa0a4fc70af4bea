"""The ledger that a process keeps: of data sets that have no schema in a file.

It has no limits, because it forgets everything when the process ends: a schema with a budget needs
a file. It is there to say what has been spent so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from redveil.base.display import Note
from redveil.budget.charges import Charge, PaidFor, charges_to, missing_purchases, total
from redveil.losses.loss import Loss
from redveil.report.document import ResultDocument
from redveil.report.remarks import REMARKS
from redveil.schema import Schema


class ProcessLedger:
    """Charges to data sets, until the process ends.

    >>> from fractions import Fraction
    >>> from redveil.data.synthetic import clinic_schema
    >>> ledger = ProcessLedger()
    >>> for _ in range(2):
    ...     ledger.charge(clinic_schema(), Loss(Fraction(1, 2)), PaidFor("mine"))
    >>> ledger.spent("clinic")
    Loss(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    """

    def __init__(self) -> None:
        self._charges: list[Charge] = []
        self._lock = Lock()

    def charge(self, schema: Schema, loss: Loss, paid_for: PaidFor) -> None:
        """Record a charge, and the purchases that the schema lists and nothing recorded yet."""
        # To the second and no finer: how long a run takes depends on the rows.
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        # Here, a data set without an id is known by its name alone.
        identifier = schema.id or schema.name

        def made(amount: Loss, what: PaidFor) -> Charge:
            return Charge(schema.name, amount, what, made_at, identifier)

        with self._lock:
            known = charges_to(self._charges, schema.name, identifier)
            bought = missing_purchases(schema.bought, known)
            self._charges += [made(Loss(one.epsilon), PaidFor.cut_points(one)) for one in bought]
            self._charges.append(made(loss, paid_for))

    def charges(self, name: str, identifier: str | None = None) -> tuple[Charge, ...]:
        """Return a data set's charges, oldest first."""
        with self._lock:
            return tuple(charges_to(self._charges, name, identifier))

    def spent(self, name: str, identifier: str | None = None) -> Loss:
        """Return the exact sum of a data set's charges."""
        return total(self.charges(name, identifier))


#: The one ledger of this process.
HERE: Final = ProcessLedger()


def spent_here(document: ResultDocument) -> Iterator[Note]:
    """Yield what this process has spent on the data set of a result, if it counted that itself."""
    name = document.certificate.schema_name
    spent = HERE.spent(name)
    if spent.epsilon:
        yield Note(
            f"{spent} spent on {name} so far, as this process has counted; it forgets that when "
            "it ends, so save the schema, or name a ledger (ledger=)"
        )


REMARKS.append(spent_here)
