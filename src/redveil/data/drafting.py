"""How a draft comes about: the key found, every column summed up, an attribute for each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from redveil.data.distinct import distinct, label
from redveil.data.draft import Draft, Remark
from redveil.data.frame import Frame, ParquetFile
from redveil.data.join import entity_keys
from redveil.data.proposal import Proposal, Summary, propose
from redveil.data.raw import RawTable, Source, shown
from redveil.data.source import open_source
from redveil.errors import LoadError
from redveil.schema import Schema, Side, Status, View
from redveil.schema.cuts import CutRule

USUAL_MARKERS: Final = ("NA", "N/A", "NaN", "nan", "null", "?")


def draft_schema(
    left: object, right: object, key: str | None, right_key: str | None = None
) -> Draft:
    """Do what `draft` promises.

    >>> import pyarrow as pa
    >>> table = pa.table({"id": ["a", "b"], "x": [0, 1]})
    >>> draft_schema(table, table, None).schema.left.key
    'id'
    """
    sides = [_read(given, side) for given, side in ((left, Side.LEFT), (right, Side.RIGHT))]
    keys = _keys(sides[0], sides[1], key, right_key)
    names = [_view_name(left, Side.LEFT), _view_name(right, Side.RIGHT)]
    if names[0] == names[1]:
        names = [side.value for side in Side]
    remarks: list[Remark] = []
    rules: dict[tuple[Side, str], CutRule] = {}
    views: list[View] = []
    for given, name, table, key_name in zip((left, right), names, sides, keys, strict=True):
        proposals = table.proposals(key_name)
        attributes = tuple(p.attribute for p in proposals.values() if p.attribute is not None)
        if not attributes:
            raise LoadError(
                f"{table.source.place}: no column to mine besides the key; add columns of numbers, "
                "categories or true and false"
            )
        remarks.append(Remark(table.side, key_name, "entity key, different in every row"))
        for column, proposal in proposals.items():
            remarks.append(Remark(table.side, column, proposal.remark))
            if proposal.rule is not None and proposal.rule.method != "explicit":
                rules[table.side, column] = proposal.rule
        layout = table.source.layout
        views.append(
            View(
                name,
                key_name,
                attributes,
                path=_path(given),
                missing_values=table.markers,
                delimiter=layout.delimiter,
                encoding=layout.encoding,
            )
        )
    schema = Schema("dataset", views[0], views[1], status=Status.DRAFT)
    return Draft(schema, tuple(remarks), rules)


@dataclass(frozen=True, slots=True, eq=False)
class _RawSide:
    """One table as it was read, all of its columns summed up."""

    side: Side
    source: Source
    raw: RawTable
    summaries: dict[str, Summary]
    markers: tuple[str, ...]

    def proposals(self, key: str) -> dict[str, Proposal]:
        """Return what is proposed for every column but the key, in the table's order."""
        return {
            name: propose(name, self.summaries.get(name), {*self.markers, *self.raw.markers})
            for name in self.source.names
            if name != key
        }

    def is_key(self, name: str) -> bool:
        """Whether a column could name entities."""
        try:
            entity_keys(self.raw, name, self.markers)
        except LoadError:
            return False
        return True


def _read(given: object, side: Side) -> _RawSide:
    source = open_source(given, side, None)
    names = source.names
    if isinstance(source, Frame | ParquetFile):
        # A column of dates, say, is left out instead of refused.
        names = tuple(name for name in names if _is_readable(source, name)) or names
    raw = source.read(names)
    summaries: dict[str, Summary] = {}
    seen: set[str] = set()
    for name, column in raw.columns.items():
        values, index = distinct(column)
        summaries[name] = Summary(values, np.bincount(index, minlength=len(values)))
        seen.update(text for text in map(label, values) if text in USUAL_MARKERS)
    markers = ("", *(text for text in USUAL_MARKERS if text in seen))
    return _RawSide(side, source, raw, summaries, markers)


def _is_readable(source: Source, name: str) -> bool:
    try:
        source.read([name])
    except LoadError:
        return False
    return True


def _keys(
    left: _RawSide, right: _RawSide, key: str | None, right_key: str | None
) -> tuple[str, str]:
    """Find the key columns, and check that they name each entity once."""
    if right_key is not None and key is None:
        raise LoadError("a key for the right table alone; name the left one's with --key too")
    if key is not None:
        found = key, right_key or key
        for table, name in zip((left, right), found, strict=True):
            if name not in table.raw.columns:
                remedy = "check --key and --right-key"
                raise LoadError(f"{table.source.place}: no key column {shown(name)}; {remedy}")
    else:
        found = _named_id(left, right) or _first_unique(left, right)
    for table, name in zip((left, right), found, strict=True):
        entity_keys(table.raw, name, table.markers)
    return found


def _named_id(left: _RawSide, right: _RawSide) -> tuple[str, str] | None:
    names = [
        next((name for name in table.raw.columns if name.strip().casefold() == "id"), None)
        for table in (left, right)
    ]
    return (names[0], names[1]) if names[0] is not None and names[1] is not None else None


def _first_unique(left: _RawSide, right: _RawSide) -> tuple[str, str]:
    for name in left.raw.columns:
        if name in right.raw.columns and left.is_key(name) and right.is_key(name):
            return name, name
    raise LoadError(
        f"{left.source.place} and {right.source.place}: no column that both have is different in "
        "every row; name the entity key with --key (and --right-key if its name differs)"
    )


def _view_name(given: object, side: Side) -> str:
    """Name a view after its file, in the characters a data package allows."""
    if not isinstance(given, str | Path):
        return side.value
    stem = Path(given).name.partition(".")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-") or side.value


def _path(given: object) -> str | None:
    """Return a file's path as it was given; descriptors hold relative paths only."""
    if not isinstance(given, str | Path):
        return None
    path = Path(given)
    return path.name if path.is_absolute() else path.as_posix()
