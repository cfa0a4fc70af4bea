"""Groups of attributes that may not be matched with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from redveil.schema.naming import Name, find_attribute, shortest, written
from redveil.schema.view import Side, View

_EXAMPLE = 'write groups of names, as in [["weight self-reported", "weight measured"]]'


@dataclass(frozen=True, slots=True)
class Group:
    """Attributes that say the same by their nature, so that a match between them says nothing.

    No redescription has attributes of one group on both sides. Attributes on the same side may
    stand together.

    >>> weights = Group(("weight self-reported",), ("weight measured",))
    >>> weights.is_matched(["age", "weight self-reported"], ["weight measured"])
    True
    >>> weights.is_matched(["weight self-reported"], ["height"])
    False
    """

    left: tuple[str, ...]
    right: tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[Name]) -> Group:
        """Return the group of some attributes, each once and in order.

        >>> Group.of([(Side.RIGHT, "b"), (Side.LEFT, "a"), (Side.RIGHT, "b")])
        Group(left=('a',), right=('b',))
        """
        known = sorted(set(names))
        left, right = (tuple(name for at, name in known if at is side) for side in Side)
        return cls(left, right)

    def is_matched(self, left: Iterable[str], right: Iterable[str]) -> bool:
        """Return whether attributes of the group stand on both sides."""
        return not set(self.left).isdisjoint(left) and not set(self.right).isdisjoint(right)

    def without(self, one: Name) -> Group:
        """Return the group without an attribute.

        >>> Group(("a",), ("b", "c")).without((Side.RIGHT, "c"))
        Group(left=('a',), right=('b',))
        """
        return Group.of(name for name in self.names if name != one)

    @property
    def names(self) -> tuple[Name, ...]:
        """The attributes, those of the left view first."""
        sides = (Side.LEFT, self.left), (Side.RIGHT, self.right)
        return tuple((side, name) for side, names in sides for name in names)

    @property
    def forbids(self) -> bool:
        """Whether there is anything that may not be matched."""
        return bool(self.left and self.right)

    def described(self, left: View, right: View) -> list[str]:
        """Return the group as a schema lists it.

        >>> from redveil.schema.attribute import Attribute, Kind
        >>> age = View("v", "id", (Attribute("age", Kind.BOOLEAN),))
        >>> Group(("age",), ("age",)).described(age, age)
        ['left:age', 'right:age']
        """
        return [shortest(one, left, right) for one in self.names]

    def __str__(self) -> str:
        return ", ".join(map(written, self.names))


def read_groups(
    given: object, left: View, right: View
) -> tuple[tuple[Group, ...], list[tuple[str, str]]]:
    """Return the groups that lists of names declare, and what is wrong with them.

    >>> from redveil.schema.attribute import Attribute, Kind
    >>> one, two = (View("v", "id", (Attribute(n, Kind.BOOLEAN),)) for n in ("told", "measured"))
    >>> read_groups([["told", "measured"]], one, two)
    ((Group(left=('told',), right=('measured',)),), [])
    >>> read_groups([["told"]], one, two)[1]
    [('told is on one side only', 'name attributes of both views')]
    """
    if not _is_list(given) or not all(_is_list_of_text(group) for group in given):
        return (), [("not a list of groups", _EXAMPLE)]
    groups: list[Group] = []
    faults: list[tuple[str, str]] = []
    for group in given:
        texts = list(map(str, group)) if _is_list(group) else []
        found = [find_attribute(text, left, right) for text in texts]
        wrong = [(what, how) for what, how in found if not isinstance(what, Side)]
        made = Group.of((where, name) for where, name in found if isinstance(where, Side))
        if not wrong and not made.forbids:
            wrong = [(f"{', '.join(texts)} is on one side only", "name attributes of both views")]
        faults += wrong
        groups.append(made)
    return tuple(dict.fromkeys(groups)), faults


def _is_list(given: object) -> TypeGuard[Sequence[object]]:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def _is_list_of_text(given: object) -> bool:
    return _is_list(given) and bool(given) and all(isinstance(one, str) for one in given)
