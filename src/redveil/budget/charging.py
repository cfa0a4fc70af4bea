"""Charge a data set's budget before anything is released."""

from __future__ import annotations

from pathlib import Path

from redveil.errors import InputError
from redveil.privacy.loss import Loss
from redveil.schema import Schema


def charge(schema: Schema, loss: Loss, ledger: str | Path | None, purpose: str) -> None:
    """Charge a loss to the budget that a schema declares, if it declares one.

    purpose: the text that the ledger records with the charge.

    >>> from redveil.data.synthetic import clinic_schema
    >>> from fractions import Fraction
    >>> charge(clinic_schema(), Loss(Fraction(1)), None, "mine")
    """
    if schema.budget is None:
        return
    if ledger is None:
        raise InputError(
            f"the schema of {schema.name} declares a budget; name the file that records charges, "
            'as in ledger="datapackage.ledger.sqlite", the default of the command line'
        )
    # Only a schema with a budget needs the database library.
    from redveil.budget.ledger import Ledger

    cap = Loss(schema.budget, schema.budget_delta)
    Ledger(Path(ledger)).charge(schema.name, loss, purpose, cap)
