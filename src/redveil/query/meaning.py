"""Derived attributes in words: the query that each stands for, in the place of its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from redveil.query.coverage import ReleasedTree
from redveil.query.formula import And, Known, Literal, Not, Or, Query, negate
from redveil.schema import Schema, Side

# What derived attributes stand for, by side and name.
Meanings: TypeAlias = Mapping[Side, Mapping[str, Query]]


@dataclass(frozen=True, slots=True)
class Wording:
    """How trees over derived attributes read in terms of declared ones.

    declared:         the schema without derived attributes
    unknown_is_false: whether derived attributes are false where their queries are unknown
    """

    declared: Schema
    meanings: Meanings
    unknown_is_false: bool = False

    def tree(self, released: ReleasedTree) -> ReleasedTree:
        """Return a tree whose splits are queries over declared attributes."""
        side = released.tree.side
        splits = tuple(
            None if split is None else substituted(split, self.meanings[side])
            for split in released.splits
        )
        declared = {one.name: one for one in self.declared.view(side).attributes}
        return replace(
            released,
            splits=splits,
            attributes=declared,
            unknown_is_false=self.unknown_is_false,
        )


def substituted(query: Query, meanings: Mapping[str, Query]) -> Query:
    """Return a query with the meaning of each derived attribute in its place.

    It has the same value for every entity: a derived attribute is missing where its query is
    unknown.

    >>> gout = Literal("gout", "=", True)
    >>> substituted(Literal("sick", "=", False), {"sick": gout})
    Literal(attribute='gout', op='=', value=False)
    """
    match query:
        case Literal(attribute, _, value):
            meaning = meanings.get(attribute)
            if meaning is None:
                return query
            return meaning if value is True else negate(meaning)
        case Known():
            # Splits compare, so this is about a declared attribute.
            return query
        case Not(operand):
            return Not(substituted(operand, meanings))
        case And(operands):
            return And(tuple(substituted(one, meanings) for one in operands))
        case Or(operands):
            return Or(tuple(substituted(one, meanings) for one in operands))
