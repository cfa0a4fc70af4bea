"""The counting backend: what algorithms ask, whoever answers."""

from __future__ import annotations

from typing import Protocol, TypeVar

from redveil.counting.questions import Question
from redveil.sealed import Sealed

A = TypeVar("A")


class Backend(Protocol):
    """Where the entities are: on this machine (`LocalCounts`) or on a cluster's workers.

    The answer to a question is the same whoever gives it.
    """

    def ask(self, question: Question[A]) -> Sealed[A]:
        """Return the answer for all entities, sealed."""
