"""Entries of a ledger: charges and, on a server, what became of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from redveil.budget.chain import link
from redveil.budget.charges import Charge, PaidFor, storable
from redveil.losses.loss import Loss

CHARGE: Final = "charge"
# The result of a charge was stored; `result` is its digest.
COMMIT: Final = "commit"
# A charge is given back, because the data was never touched.
VOID: Final = "void"
# A budget, a cap or a grant was set; the amount is what may be spent from then on.
LIMIT: Final = "limit"
KINDS: Final = (CHARGE, COMMIT, VOID, LIMIT)

# What is hashed, in the order of the columns. The hash and its signature follow.
FIELDS: Final = (
    *("number", "dataset", "epsilon", "purpose", "made_at", "delta", "identifier", "result"),
    *("algorithm", "parameters", "kind", "analyst", "job", "voids"),
)
COLUMNS: Final = (*FIELDS, "previous", "hash", "signature")
_AMOUNT: Final = re.compile(r"[0-9]{1,4300}(?:/[0-9]{1,4300})?")


class NotAnEntryError(ValueError):
    """A row of a ledger is not an entry, or not the one that was written.

    >>> issubclass(NotAnEntryError, ValueError)
    True
    """


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a ledger. Entries are never changed or removed.

    charge:    what was charged, when and to which data set; of a limit, the amount is the limit
    kind:      "charge", "commit", "void" or "limit"
    analyst:   who asked, on a server
    job:       the job that was charged, on a server
    voids:     the number of the charge that is given back
    number:    its place in the ledger
    previous:  the hash of the entry before it
    hash:      its own, None if an earlier version wrote it
    signature: the server's signature of its place and hash

    >>> one = Entry(Charge("clinic", Loss(Fraction(1)), PaidFor("mine"), "2026-01-01"))
    >>> one.linked(1, "0" * 64).is_intact
    True
    """

    charge: Charge
    kind: str = CHARGE
    analyst: str | None = None
    job: str | None = None
    voids: int | None = None
    number: int = 0
    previous: str | None = None
    hash: str | None = None
    signature: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """What is hashed: the columns of the row."""
        charge, paid_for = self.charge, self.charge.paid_for
        texts = {
            "dataset": charge.name,
            "epsilon": str(charge.loss.epsilon),
            "purpose": paid_for.purpose,
            "made_at": charge.made_at,
            "delta": str(charge.loss.delta),
            "identifier": charge.identifier,
            "result": paid_for.result,
            "algorithm": paid_for.algorithm,
            "parameters": json.dumps(dict(paid_for.parameters)),
            "kind": self.kind,
            "analyst": self.analyst,
            "job": self.job,
        }
        stored = {name: None if one is None else storable(one) for name, one in texts.items()}
        return {"number": self.number, **stored, "voids": self.voids}

    @property
    def row(self) -> dict[str, Any]:
        """The row that is stored and exported."""
        links = {"previous": self.previous, "hash": self.hash, "signature": self.signature}
        return {**self.fields, **links}

    def linked(self, number: int, previous: str) -> Entry:
        """Return the entry at its place in a chain."""
        placed = replace(self, number=number, previous=previous)
        return replace(placed, hash=link(placed.fields, previous))

    @property
    def is_intact(self) -> bool:
        """Whether the entry is the one that was hashed."""
        return self.previous is not None and self.hash == link(self.fields, self.previous)


def read_entry(row: Mapping[str, Any]) -> Entry:
    """Return the entry in a row; columns of later versions may be missing.

    >>> read_entry({"number": 1, "dataset": "clinic", "epsilon": "-1", "purpose": "mine",
    ...     "made_at": ""})
    Traceback (most recent call last):
    redveil.budget.entry.NotAnEntryError: not an entry
    """
    get = row.get
    try:
        charge = Charge(
            _text(row["dataset"]),
            Loss(read_amount(row["epsilon"]), read_amount(get("delta", "0"))),
            PaidFor(
                _text(row["purpose"]),
                _text_or_none(get("result")),
                _text_or_none(get("algorithm")),
                dict(json.loads(get("parameters", "{}"))),
            ),
            _text(row["made_at"]),
            _text_or_none(get("identifier")),
        )
        entry = Entry(
            charge,
            _text(get("kind", CHARGE)),
            _text_or_none(get("analyst")),
            _text_or_none(get("job")),
            None if get("voids") is None else int(row["voids"]),
            int(row["number"]),
            _text_or_none(get("previous")),
            _text_or_none(get("hash")),
            _text_or_none(get("signature")),
        )
    except (KeyError, ValueError, TypeError, ZeroDivisionError, RecursionError):
        raise NotAnEntryError("not an entry") from None
    if entry.kind not in KINDS or (entry.kind == VOID) != (entry.voids is not None):
        raise NotAnEntryError("not an entry")
    return entry


def read_amount(text: str) -> Fraction:
    """Return an amount; it is never negative, so that no row can give anything back.

    >>> read_amount("-1")
    Traceback (most recent call last):
    redveil.budget.entry.NotAnEntryError: not an amount
    """
    if not _AMOUNT.fullmatch(text):
        raise NotAnEntryError("not an amount")
    return Fraction(text)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)
