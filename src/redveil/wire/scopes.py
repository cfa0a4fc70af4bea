"""What a token may be used for, within the role of its account."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """A kind of request.

    read:    see data sets, plans, and one's own jobs and results
    ask:     submit and cancel jobs
    own:     see and decide what happens to one's own data sets
    audit:   read the audit log
    operate: manage accounts and tokens, but those of owners, and read metrics
    """

    READ = "read"
    ASK = "ask"
    OWN = "own"
    AUDIT = "audit"
    OPERATE = "operate"


#: The scopes that each role can have.
OF_ROLE: Final[Mapping[str, frozenset[Scope]]] = {
    "analyst": frozenset({Scope.READ, Scope.ASK}),
    "owner": frozenset({Scope.READ, Scope.OWN, Scope.AUDIT}),
    "auditor": frozenset({Scope.READ, Scope.AUDIT}),
    "operator": frozenset({Scope.READ, Scope.OPERATE}),
}
