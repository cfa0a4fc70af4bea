"""What is charged unless a ledger is named: the one beside the schema."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Usual(Enum):
    """The ledger that is charged unless another is named.

    It is the one beside the schema's file. If no file has the schema, it is the process's own.

    >>> USUAL
    <the usual ledger>
    """

    LEDGER = "the usual ledger"

    def __repr__(self) -> str:
        return f"<{self.value}>"


USUAL: Final = Usual.LEDGER
