"""How a data set follows from the one that was loaded: a part of it, or with derived attributes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redveil.schema import Schema, Side

if TYPE_CHECKING:
    from redveil.query.condition import Condition
    from redveil.query.meaning import Meanings


@dataclass(frozen=True, slots=True)
class Origin:
    """What is public about the way from the loaded data set to this one.

    declared: the schema of the loaded data set
    part:     the queries that hold for every entity of this one, at most one for each view
    given:    the queries that a question starts from, at most one for each view
    searched: whether these queries were found by a search of the same rows
    meanings: the query that each derived attribute stands for, by side and name
    unknown_is_false: whether derived attributes are false where their queries are unknown

    >>> from redveil.data.synthetic import clinic_schema
    >>> Origin(clinic_schema()).part
    ()
    """

    declared: Schema
    part: tuple[Condition, ...] = ()
    given: tuple[Condition, ...] = ()
    searched: bool = False
    meanings: Meanings = field(default_factory=lambda: {side: {} for side in Side})
    unknown_is_false: bool = False
