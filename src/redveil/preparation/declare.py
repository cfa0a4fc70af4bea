"""Attributes as code books declare them."""

from __future__ import annotations

from collections.abc import Iterable

from redveil.schema import Attribute, Kind
from redveil.schema.cuts import CutRule


def flag(name: str, title: str = "", *, required: bool = True) -> Attribute:
    """Declare a Boolean attribute.

    >>> flag("esrd").kind
    <Kind.BOOLEAN: 'boolean'>
    """
    return Attribute(name, Kind.BOOLEAN, required=required, title=title)


def one_of(name: str, categories: Iterable[str]) -> Attribute:
    """Declare a categorical attribute; what is said twice counts once.

    >>> one_of("hand", ["right", "left", "right"]).categories
    ('right', 'left')
    """
    labels = tuple(dict.fromkeys(categories))
    return Attribute(name, Kind.CATEGORICAL, required=True, categories=labels)


def number(name: str, low: float, high: float, cuts: Iterable[float], title: str = "") -> Attribute:
    """Declare a numeric attribute by its bounds and its cut points.

    >>> number("age", 0, 110, (18, 65)).cuts
    (18.0, 65.0)
    """
    points = tuple(map(float, cuts))
    return Attribute(
        name, Kind.NUMERIC, required=True, minimum=low, maximum=high, cuts=points, title=title
    )


def scale(name: str, low: int, high: int) -> Attribute:
    """Declare an answer on a scale, cut between any two values.

    >>> scale("Q1", 1, 5).cuts
    (1.0, 2.0, 3.0, 4.0)
    """
    return number(name, low, high, range(low, high))


def amount(name: str, high: float, smallest: float = 10, *, required: bool = True) -> Attribute:
    """Declare a heavy-tailed amount of at least 0, cut at 0 and at 1-2-5 per power of ten.

    >>> amount("dollars", 100).cuts
    (0.0, 10.0, 20.0, 50.0)
    """
    cuts = CutRule("decades", smallest=smallest).points(0, high)
    return Attribute(name, Kind.NUMERIC, required=required, minimum=0, maximum=high, cuts=cuts)
