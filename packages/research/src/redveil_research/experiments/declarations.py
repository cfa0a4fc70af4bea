"""Schemas from public knowledge of the columns: kinds, code books, bounds and cut points.

Each view has rules. The first rule whose pattern matches a column's whole name declares the column,
as a field of a data package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import redveil

Field: TypeAlias = dict[str, Any]
Maker: TypeAlias = Callable[[str], Field]
# A pattern, the name of a maker, and its arguments.
Rules: TypeAlias = Sequence[Sequence[Any]]

KEY: Final = "id"


def fields(names: Iterable[str], rules: Rules) -> list[Field]:
    """Declare each column by the first rule whose pattern matches its whole name.

    >>> fields(["age"], [["a.*", "number", 0, 110, "50:70:10"]])[0]["redveil"]
    {'cuts': [50, 60]}
    """
    return [_declare(name, rules) for name in names]


def _declare(name: str, rules: Rules) -> Field:
    for pattern, maker, *given in rules:
        if re.fullmatch(pattern, name):
            options = given.pop() if given and isinstance(given[-1], dict) else {}
            return MAKERS[maker](*given, **options)(name)
    raise redveil.InputError(f"column {name}: no rule declares it; add one to data_sets.toml")


def schema(
    name: str,
    unit: str,
    left: Sequence[Field],
    right: Sequence[Field],
    views: tuple[str, str] = ("left", "right"),
    paths: tuple[str, str] | None = None,
) -> redveil.Schema:
    """Return the schema of two views with these fields and the key `id`.

    paths: where their files are, if the schema says so

    >>> schema("fauna", "grid cell", [flag()("Moose")], [scale(0, 9)("warmth")]).unit
    'grid cell'
    """
    resources: list[Field] = [
        {
            "name": view,
            "schema": {"primaryKey": KEY, "fields": [{"name": KEY, "type": "string"}, *declared]},
        }
        for view, declared in zip(views, (left, right), strict=True)
    ]
    for resource, path in zip(resources, paths or (), strict=False):
        resource["path"] = path
    descriptor = {"name": name, "resources": resources, "redveil": {"unit": unit}}
    return redveil.Schema.from_dict(descriptor)


def flag(*, required: bool = True) -> Maker:
    """Declare a Boolean attribute.

    >>> flag()("esrd")
    {'name': 'esrd', 'type': 'boolean', 'constraints': {'required': True}}
    """
    return lambda name: _field(name, "boolean", required)


def one_of(*categories: str, required: bool = True) -> Maker:
    """Declare a categorical attribute by its code book.

    >>> one_of("no", "yes")("voted")["constraints"]["enum"]
    ['no', 'yes']
    """
    return lambda name: _field(name, "string", required, enum=list(categories))


def levels(*categories: str, required: bool = True) -> Maker:
    """Declare an ordinal attribute by its levels, lowest first.

    >>> levels("low", "high")("risk")["redveil"]
    {'kind': 'ordinal'}
    """
    extras = {"kind": "ordinal"}
    return lambda name: {**one_of(*categories, required=required)(name), "redveil": extras}


def number(
    minimum: float, maximum: float, cuts: Iterable[float] | Field | str, *, required: bool = True
) -> Maker:
    """Declare a numeric attribute by its bounds and its cut points, or a rule for these.

    cuts: as a text, from, to and step of a range

    >>> number(0, 110, range(50, 70, 10))("age")["redveil"]
    {'cuts': [50, 60]}
    """
    if isinstance(cuts, str):
        cuts = range(*map(int, cuts.split(":")))
    extras = {"cuts": cuts if isinstance(cuts, dict) else list(cuts)}
    bounds = {"minimum": minimum, "maximum": maximum}
    return lambda name: {**_field(name, "number", required, **bounds), "redveil": extras}


def scale(lowest: int, highest: int) -> Maker:
    """Declare an answer on a scale, or a small count, cut between any two values.

    >>> scale(1, 5)("Q1")["redveil"]
    {'cuts': [1, 2, 3, 4]}
    """
    return number(lowest, highest, range(lowest, highest))


def equal_width(minimum: float, maximum: float, count: int) -> Maker:
    """Declare a numeric attribute that is cut into intervals of equal width.

    >>> equal_width(0, 1, 4)("share")["redveil"]
    {'cuts': {'method': 'equal-width', 'count': 4}}
    """
    return number(minimum, maximum, {"method": "equal-width", "count": count})


def heavy_tailed(smallest: float, maximum: float, *, required: bool = True) -> Maker:
    """Declare an amount or a duration of at least 0, cut at 0 and at 1-2-5 per power of ten.

    >>> heavy_tailed(10, 200)("dollars")["redveil"]
    {'cuts': {'method': 'decades', 'smallest': 10}}
    """
    cuts = {"method": "decades", "smallest": smallest}
    return number(0.0, maximum, cuts, required=required)


def titled(field: Field, title: str) -> Field:
    """Return a field with what readers call it, if there is anything better than its name.

    >>> titled({"name": "esrd"}, "end-stage kidney disease")["title"]
    'end-stage kidney disease'
    """
    return {**field, "title": title} if title else field


def _field(name: str, kind: str, required: bool, **constraints: object) -> Field:  # noqa: FBT001
    declared = {**constraints, "required": True} if required else constraints
    return {"name": name, "type": kind, **({"constraints": declared} if declared else {})}


MAKERS: Final[dict[str, Callable[..., Maker]]] = {
    "flag": flag,
    "one_of": one_of,
    "number": number,
    "scale": scale,
    "equal_width": equal_width,
    "heavy_tailed": heavy_tailed,
}
