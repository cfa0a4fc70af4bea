"""Charging a data set's budget before its rows are touched."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from redveil.errors import InputError
from redveil.schema import Schema


def charge(schema: Schema, price: Fraction, ledger: str | Path | None, purpose: str) -> None:
    """Charge the budget that a schema declares; without one there is nothing to charge.

    purpose: what is paid for, as the ledger keeps it.

    >>> from redveil.data.synthetic import clinic_schema
    >>> charge(clinic_schema(), Fraction(1), None, "mine")
    """
    if schema.budget is None:
        return
    if ledger is None:
        raise InputError(
            f"the schema of {schema.name} has a budget; name the file that keeps its charges, "
            'as in ledger="ledger.sqlite"'
        )
    # Only a schema with a budget needs the database library.
    from redveil.budget.ledger import Ledger

    Ledger(Path(ledger)).charge(schema.name, price, purpose, schema.budget)
