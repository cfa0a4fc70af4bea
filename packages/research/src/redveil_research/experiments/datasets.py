"""Public data sets, each with a schema declared from public knowledge of its domain.

Schemas come from common knowledge and from code books: kinds, bounds and cut points. Each view has
rules. The first rule whose pattern matches a column's whole name declares the column, as a field of
a data package. Only the headers of the files are read for them. Numbers outside their bounds are
compared as they are.
"""

from __future__ import annotations

import csv
import gzip
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
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


NOT_LABELLED: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PublicData:
    """The two files of one data set, and what data_sets.toml says of them.

    >>> find("MAMMAL").left, find("MAMMAL").prune
    ('mammals/left.csv', 500)
    """

    name: str
    left: str
    right: str
    rules: tuple[str, str]
    unit: str
    large: bool = False
    prune: int | None = None
    titles: tuple[str, str] = ("", "")
    labels: str = ""
    views: tuple[str, str] = ("left", "right")

    def files(self, folder: Path) -> tuple[Path, Path]:
        """Return the paths of the two files in a folder."""
        return folder / self.left, folder / self.right

    def missing(self, folder: Path) -> list[str]:
        """Return the files that the folder lacks.

        >>> find("NPAS").missing(Path("nowhere"))
        ['npas/left.csv', 'npas/right.csv']
        """
        return [name for name in (self.left, self.right) if not (folder / name).is_file()]

    def schema(self, folder: Path) -> redveil.Schema:
        """Declare the columns in the two headers. No row is read."""
        known = labels(folder / self.labels) if self.labels else {}
        left, right = (header(path) for path in self.files(folder))
        return self.schema_of(left, right, known)

    def schema_of(
        self, left: Sequence[str], right: Sequence[str], known: Mapping[str, str] = NOT_LABELLED
    ) -> redveil.Schema:
        """Declare columns by their names.

        known: what the provider calls them, where it does

        >>> find("MAMMAL").schema_of(["Moose"], ["t7+"]).right.attributes[0].title
        'mean daily highs in July (°C)'
        """
        views = [
            [
                titled(one, known.get(one["name"]) or title(one["name"], titles))
                for one in fields(names, _told()["rules"][rules])
            ]
            for names, rules, titles in zip((left, right), self.rules, self.titles, strict=True)
        ]
        return schema(self.name, self.unit, views[0], views[1], self.views)

    def load(self, folder: Path, schema: redveil.Schema | None = None) -> redveil.Dataset:
        """Load the two files with the declared schema, or with another.

        >>> find("MIMIC").load(Path("nowhere"))
        Traceback (most recent call last):
        redveil.errors.InputError: MIMIC: nowhere has no mimic3_demo/left.csv and no \
mimic3_demo/right.csv; name the folder that contains them
        """
        missing = self.missing(folder)
        if missing:
            lacking = " and ".join(f"no {name}" for name in missing)
            remedy = "name the folder that contains them"
            raise redveil.InputError(f"{self.name}: {folder} has {lacking}; {remedy}")
        return redveil.load(*self.files(folder), schema or self.schema(folder))


@cache
def _told() -> dict[str, Any]:
    """Return what data_sets.toml says; rules and titles that begin with @ are replaced."""
    text = files("redveil_research.experiments").joinpath("data_sets.toml").read_text("utf-8")
    told = tomllib.loads(text)
    for kind in ("rules", "titles"):
        for name, listed in told[kind].items():
            told[kind][name] = [
                one
                for each in listed
                for one in (told[kind][each[1:]] if isinstance(each, str) else [each])
            ]
    return told


DATA_SETS: Final = tuple(PublicData(**row) for row in _told()["data_set"])


def title(name: str, titles: str) -> str:
    """Return what a column is called, or nothing if no title knows better than its name.

    >>> title("t7+", "climate"), title("Moose", "climate")
    ('mean daily highs in July (°C)', '')
    """
    words = _told()["words"]
    for pattern, text in _told()["titles"].get(titles, ()):
        if found := re.fullmatch(pattern, name):
            groups = found.groupdict()
            return str(text.format(**{k: words.get(k, {}).get(v, v) for k, v in groups.items()}))
    return ""


def labels(path: Path) -> dict[str, str]:
    """Return the titles in a provider's file of columns and labels; none if there is no file.

    >>> labels(Path("nowhere.csv"))
    {}
    """
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        # Some labels end with the number of a finer group.
        found = {row["column"]: re.sub(r"\s*\[.*\]$", "", row["label"]).strip() for row in rows}
    return {
        column: f"{label.lower()} diagnosed in hospital" for column, label in found.items() if label
    }


def find(name: str) -> PublicData:
    """Return a data set by its name, in upper or lower case, with a hyphen or a space.

    >>> find("npas 2016").unit
    'respondent'
    >>> find("nonsense")
    Traceback (most recent call last):
    redveil.errors.InputError: no such data set; use one of MAMMAL, CMS2, CMS-ALL, NPAS, \
NPAS-2016, RWAS, DBLP, DIABETES, MIMIC
    """
    for one in DATA_SETS:
        if one.name == name.upper().replace(" ", "-"):
            return one
    known = ", ".join(one.name for one in DATA_SETS)
    raise redveil.InputError(f"no such data set; use one of {known}")


def present(folder: Path, names: Iterable[str] = ()) -> tuple[list[PublicData], list[str]]:
    """Return the data sets in a folder, and a message for each that is not there.

    >>> present(Path("nowhere"), ["MAMMAL"])
    ([], ['MAMMAL: skipped; nowhere has no mammals/left.csv and no mammals/right.csv'])
    """
    found, skipped = [], []
    for one in [find(name) for name in names] or DATA_SETS:
        missing = " and ".join(f"no {name}" for name in one.missing(folder))
        if missing:
            skipped.append(f"{one.name}: skipped; {folder} has {missing}")
        else:
            found.append(one)
    return found, skipped


def header(path: Path) -> tuple[str, ...]:
    """Return a CSV file's column names without the key. Only the first line is read.

    >>> header(Path("nowhere.csv"))
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere.csv: cannot be read; check the path
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            names = next(csv.reader([file.readline()]), [])
    except (OSError, UnicodeDecodeError):
        raise redveil.InputError(f"{path}: cannot be read; check the path") from None
    return tuple(name for name in names if name != KEY)
