"""Charge a data set before anything is released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from redveil.budget.charges import PaidFor
from redveil.budget.place import find_ledger
from redveil.errors import InputError
from redveil.losses.loss import Loss
from redveil.schema import Schema
from redveil.schema.beside import USUAL, Usual
from redveil.schema.problem import unencodable

if TYPE_CHECKING:
    from redveil.budget.ledger import Ledger


class Till(ABC):
    """Whatever takes a charge in the place of a file: a server checks questions with one.

    It is asked when all parameters have been checked, and before any data is touched.
    """

    @abstractmethod
    def charge(self, schema: Schema, loss: Loss, paid_for: PaidFor) -> None:
        """Take a charge, or raise an error; then nothing is computed."""


#: What is charged: a ledger by its file, a till, or the usual ledger; None records nothing.
Charged: TypeAlias = str | Path | Till | Literal[Usual.LEDGER] | None


def charge(schema: Schema, loss: Loss, ledger: Charged, paid_for: PaidFor) -> bool:
    """Record a loss in a ledger, and refuse it if it exceeds the budget that a schema declares.

    Returns whether it was recorded: it is, unless the ledger is None. A schema with a budget needs
    a ledger in a file. What a file records needs an id, by which the ledger knows the data set: a
    name alone would let a data set that is renamed spend its budget again.

    >>> from redveil.data.synthetic import clinic_schema
    >>> from fractions import Fraction
    >>> charge(clinic_schema(), Loss(Fraction(1)), None, PaidFor("mine"))
    False
    """
    # NumPy, and the libraries that draw, are for runs only.
    from redveil.privacy.randomness import must_be_drawable

    _must_be_writable(schema)
    must_be_drawable()
    if isinstance(ledger, Till):
        ledger.charge(schema, loss, paid_for)
        return True
    path = _beside(schema) if ledger is USUAL else ledger
    opened, cap = _ledger(schema, path), _cap(schema)
    if opened is not None:
        opened.charge(schema.name, loss, paid_for, cap, identifier=schema.id, bought=schema.bought)
    elif ledger is USUAL:
        from redveil.budget.in_process import HERE

        HERE.charge(schema, loss, paid_for)
    return ledger is not None


def must_be_chargeable(schema: Schema, loss: Loss, ledger: str | Path | None) -> None:
    """Refuse what `charge` would refuse now, before time is spent on loading the data.

    >>> from redveil.data.synthetic import clinic_schema
    >>> from fractions import Fraction
    >>> must_be_chargeable(clinic_schema(), Loss(Fraction(1)), None)
    """
    opened, cap = _ledger(schema, ledger), _cap(schema)
    if opened is not None:
        opened.check(schema.name, loss, cap, identifier=schema.id, bought=schema.bought)


def must_be_identified(schema: Schema) -> None:
    """Refuse to record anything for a schema that a ledger could only know by its name.

    >>> from dataclasses import replace
    >>> from redveil.data.synthetic import clinic_schema
    >>> must_be_identified(replace(clinic_schema(), id=None))
    Traceback (most recent call last):
    redveil.errors.InputError: the schema of clinic has no id, by which a ledger knows the data \
set; run `redveil schema accept SCHEMA`, or save what schema.accept() returns (nothing was charged)
    """
    if not (schema.id or "").strip():
        raise InputError(
            f"the schema of {schema.name} has no id, by which a ledger knows the data set; run "
            "`redveil schema accept SCHEMA`, or save what schema.accept() returns (nothing was "
            "charged)"
        )


def _must_be_writable(schema: Schema) -> None:
    """Refuse a schema whose texts no result file could hold. One that was read has none."""
    for problem in unencodable("schema", schema.to_dict()):
        raise InputError(str(problem))


def _beside(schema: Schema) -> Path | None:
    """Return the ledger beside a schema's file; None if no file has the schema."""
    return None if schema.file is None else find_ledger(None, schema.file)


def _ledger(schema: Schema, path: str | Path | None) -> Ledger | None:
    """Return the ledger to charge; a schema with a budget needs one."""
    if schema.budget is None and schema.budget_delta:
        raise InputError(
            f"the schema of {schema.name} declares a budget_delta without a budget; declare both"
        )
    if schema.budget is not None and path is None:
        raise InputError(
            f"the schema of {schema.name} declares a budget; save the schema, or name the file "
            'that records charges, as in ledger="datapackage.ledger.sqlite"'
        )
    if path is None:
        return None
    must_be_identified(schema)
    # Only who keeps a ledger needs the database library.
    from redveil.budget.ledger import Ledger

    return Ledger(path)


def _cap(schema: Schema) -> Loss | None:
    return None if schema.budget is None else Loss(schema.budget, schema.budget_delta)
