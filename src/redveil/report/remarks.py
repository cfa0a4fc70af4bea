"""What is said below a result that is shown, and is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from redveil.base.display import Note
from redveil.report.document import ResultDocument

Remark: TypeAlias = Callable[[ResultDocument], Iterable[Note]]

#: A result knows no ledger, and an analyst has none: whoever keeps one adds what it says.
REMARKS: list[Remark] = []


def remarks(document: ResultDocument) -> list[Note]:
    """Return everything that is said below a result.

    >>> from dataclasses import replace
    >>> from redveil import load, mine
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> schema = replace(clinic_schema(), name="example", id="example")
    >>> result = mine(load(*clinic_frames(500), schema), epsilon=2)
    >>> print(remarks(result.document)[0][:33])
    ε = 2 spent on example so far, as
    """
    return [note for remark in REMARKS for note in remark(document)]
