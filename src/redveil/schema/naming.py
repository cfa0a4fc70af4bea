"""How people name attributes: by name, with the side in front if both views have that name."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final, TypeAlias

from redveil.schema.view import Side, View

#: An attribute: its side and its name there.
Name: TypeAlias = tuple[Side, str]
#: What is wrong with a text, and the remedy.
Fault: TypeAlias = tuple[str, str]
_MOST_LISTED = 8
_YEAR: Final = re.compile(r"(?<!\d)(19|20)\d\d(?!\d)")


def find_attribute(text: str, left: View, right: View) -> Name | Fault:
    """Return the attribute that a text names, or what is wrong with it.

    The side may stand in front, as in `left:age`. It is read first, so every attribute can be
    named, whatever it is called.

    >>> from redveil.schema.attribute import Attribute, Kind
    >>> age, gout = Attribute("age", Kind.BOOLEAN), Attribute("gout", Kind.BOOLEAN)
    >>> left, right = View("l", "id", (age, gout)), View("r", "id", (age,))
    >>> find_attribute("gout", left, right), find_attribute("right:age", left, right)
    ((<Side.LEFT: 'left'>, 'gout'), (<Side.RIGHT: 'right'>, 'age'))
    >>> find_attribute("age", left, right)
    ('age is in both views', 'write left:age or right:age')
    >>> find_attribute("gotu", left, right)
    ('no attribute gotu', 'did you mean gout?')
    """
    views = {Side.LEFT: left, Side.RIGHT: right}
    side, colon, name = text.partition(":")
    if colon and side in views and name in views[Side(side)].names:
        return Side(side), name
    found = [one for one, view in views.items() if text in view.names]
    if len(found) > 1:
        return f"{text} is in both views", f"write left:{text} or right:{text}"
    if found:
        return found[0], text
    return f"no attribute {text}", _suggestion(text, left, right)


def written(one: Name) -> str:
    """Return an attribute's name with its side in front, which no other attribute has.

    >>> written((Side.LEFT, "age"))
    'left:age'
    """
    return f"{one[0]}:{one[1]}"


def shortest(one: Name, left: View, right: View) -> str:
    """Return the shortest text that names an attribute.

    >>> from redveil.schema.attribute import Attribute, Kind
    >>> age, gout = Attribute("age", Kind.BOOLEAN), Attribute("gout", Kind.BOOLEAN)
    >>> left, right = View("l", "id", (age, gout)), View("r", "id", (age,))
    >>> shortest((Side.LEFT, "gout"), left, right), shortest((Side.LEFT, "age"), left, right)
    ('gout', 'left:age')
    """
    return one[1] if find_attribute(one[1], left, right) == one else written(one)


def _suggestion(text: str, left: View, right: View) -> str:
    """Return a hint with similar names, or else with the first few."""
    names = [(side, n) for side, view in zip(Side, (left, right), strict=True) for n in view.names]
    # The side in front is no part of the name.
    side, _, rest = text.partition(":")
    wanted = rest if side in list(Side) else text
    folded = {name.casefold().strip(): (where, name) for where, name in names}
    close = get_close_matches(wanted.casefold().strip(), folded, n=3)
    if close:
        listed = [shortest(folded[one], left, right) for one in close]
        return f"did you mean {' or '.join(listed)}?"
    listed = [shortest(one, left, right) for one in names[:_MOST_LISTED]]
    return f"use one of {', '.join(listed)}{', …' if len(names) > _MOST_LISTED else ''}"


def without_years(name: str) -> str:
    """Return an attribute's name without years: what is measured every year is one thing to say.

    >>> without_years("cost 2008") == without_years("cost 2009")
    True
    >>> without_years("room 20081")
    'room 20081'
    """
    return _YEAR.sub("", name)
