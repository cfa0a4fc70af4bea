"""Draft a schema from the data, for the owner to correct. A draft is NOT private."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from redveil.base.display import Block, Displayed, Listing
from redveil.base.display import Note as Paragraph
from redveil.base.file_kind import FileKind
from redveil.base.files import must_be_writable, write_text
from redveil.data.address import Address, Where
from redveil.data.distinct import label
from redveil.data.draft_notes import Note, key_notes, layout_note, same_table_notes
from redveil.data.folder import ParquetFolder
from redveil.data.frame import Frame, ParquetFile
from redveil.data.guess_numbers import are_commas_likely
from redveil.data.join import Keys, check_keys, read_keys
from redveil.data.layout import usual_delimiter
from redveil.data.markers import Markers
from redveil.data.proposal import Column, Proposal, propose
from redveil.data.raw import RawTable, Source, caught, quietly, shown
from redveil.data.source import open_source, split_sheet, suggestion
from redveil.data.summary import Summary, summarise
from redveil.errors import LoadError
from redveil.schema import Attribute, Schema, Side, Status, View
from redveil.schema.acceptance import WRITTEN, FromData, from_data
from redveil.schema.cuts import CutRule
from redveil.schema.dates import DatePeriod
from redveil.schema.identifier import new_id
from redveil.schema.listing import declared, view_caption
from redveil.schema.reader import must_keep

# The least share of rows with a key of their own: of a column that is found, and of one that the
# owner names.
_NEARLY_ALL: Final = 0.99
_MOST: Final = 0.5
_KEY_OPTIONS: Final = "--key and --right-key (key=, right_key=)"
USUAL_MARKERS: Final = ("NA", "N/A", "NaN", "nan", "null", "?")


@dataclass(frozen=True, slots=True)
class Remark:
    """What a draft took from the data about one column, for its owner to check.

    >>> print(Remark(Side.LEFT, "sex", "2 categories taken from the data"))
    left, sex: 2 categories taken from the data
    """

    side: Side
    attribute: str
    text: str

    def __str__(self) -> str:
        return f"{self.side}, {self.attribute}: {self.text}"


@dataclass(frozen=True, slots=True)
class Draft(Displayed):
    """A proposed schema with a remark on every column. NOT private until its owner has edited it.

    notes: what was noticed about the two tables

    >>> import pyarrow as pa
    >>> proposal = draft(
    ...     pa.table({"id": [1, 2, 3], "sick": [0, 1, 0]}),
    ...     pa.table({"id": [3, 2, 1], "age": [31, 57, 64]}),
    ... )
    >>> for remark in proposal.remarks:
    ...     print(remark)
    left, id: entity key, different in every row
    left, sick: Boolean, because its only values are 0 and 1; no missing values
    right, id: entity key, different in every row
    right, age: integers; minimum and maximum taken from the data, rounded outwards; no missing \
values
    >>> print(proposal.notes[0])
    3 of 3 keys are in both tables
    """

    schema: Schema
    remarks: tuple[Remark, ...]
    notes: tuple[Note, ...] = ()
    proposals: Mapping[tuple[Side, str], Proposal] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def to_dict(self) -> dict[str, object]:
        """Return the schema's descriptor, with a note on each field under `redveil.draft`.

        A note has a remark, and all declarations that were taken from the data. Columns that are
        left out are listed too, with `use` set to false. What was taken about a table as a whole
        stands under `redveil.draft` of its resource.

        >>> import pyarrow as pa
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> package = draft(table, table).to_dict()
        >>> extras = package["resources"][0]["schema"]["fields"][1]["redveil"]
        >>> extras["cuts"]
        {'method': 'equal-width', 'count': 20}
        >>> extras["draft"]["taken"]
        {'type': 'number', 'minimum': 0.2, 'maximum': 7.5, 'required': True}
        """
        package: Any = self.schema.to_dict()
        for side, resource in zip(Side, package["resources"], strict=True):
            fields = resource["schema"]["fields"]
            known = {entry["name"]: entry for entry in fields}
            for remark in self.remarks:
                if remark.side is not side:
                    continue
                if remark.attribute not in known:
                    unused = {"name": remark.attribute, "type": "any", "redveil": {"use": False}}
                    known[remark.attribute] = unused
                    fields.append(unused)
                proposal = self.proposals.get((side, remark.attribute), Proposal(remark.text))
                _annotate(known[remark.attribute], proposal)
            taken = self._taken_of_table(side)
            if taken:
                resource["redveil"] = {"draft": {"taken": taken}}
        return dict(package)

    def _taken_of_table(self, side: Side) -> dict[str, object]:
        """Return what was taken from the data about one table, and is not the usual."""
        view = self.schema.view(side)
        key = self.proposals.get((side, view.key))
        found: dict[str, object] = {"primaryKey": [view.key]} if key and key.taken else {}
        if view.encoding != "utf-8":
            found["encoding"] = view.encoding
        if view.delimiter not in (None, usual_delimiter(view.path or "")):
            found["delimiter"] = view.delimiter
        markers = [text for text in view.missing_values if text]
        return found | ({"missingValues": markers} if markers else {})

    def unchanged(self, schema: Schema | None = None) -> tuple[FromData, ...]:
        """Return what a schema still declares as this draft took it from the data.

        schema: an edited version of the draft's schema; without it, nothing has been edited

        >>> import pyarrow as pa
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> proposal = draft(table, table)
        >>> edited = proposal.schema.with_attribute("x", side="left", minimum=0, required=False)
        >>> for one in proposal.unchanged(edited)[:2]:
        ...     print(one)
        left, x: type number
        left, x: maximum 7.5
        """
        package = (schema or self.schema).to_dict()
        for drafted, resource in zip(_resources(self.to_dict()), _resources(package), strict=True):
            resource["redveil"] = drafted.get("redveil")
            fields = {entry["name"]: entry for entry in resource["schema"]["fields"]}
            for entry in drafted["schema"]["fields"]:
                note = entry["redveil"]["draft"]
                if entry["name"] in fields:
                    now = fields[entry["name"]]
                    now["redveil"] = {**now.get("redveil", {}), "draft": note}
                elif entry["redveil"].get("use") is False:
                    resource["schema"]["fields"].append(entry)
        return from_data(package)

    def accept(self) -> Schema:
        """Return the proposed schema as its owner declares it, unedited: see `Schema.accept`.

        >>> import pyarrow as pa
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> draft(table, table).accept().status
        <Status.DECLARED: 'declared'>
        """
        return self.schema.accept()

    def __repr__(self) -> str:
        left, right = len(self.schema.left.attributes), len(self.schema.right.attributes)
        return f"<Draft: {left} left and {right} right attributes; NOT private>"

    def _shown(self) -> Iterator[Block]:
        yield Paragraph(
            "draft: NOT private; replace what was taken from the data with what you know from "
            "elsewhere"
        )
        for note in self.notes:
            yield Paragraph(str(note))
        yield from self.listings()

    def listings(self) -> Iterator[Listing]:
        """Yield the columns of either table, with what is proposed for them."""
        for side in Side:
            view = self.schema.view(side)
            known = {one.name: one for one in view.attributes}
            rows = [
                (
                    remark.attribute,
                    *_described_attribute(known.get(remark.attribute)),
                    remark.text,
                )
                for remark in self.remarks
                if remark.side is side
            ]
            heads = ("attribute", "kind", "values", "cut points", "taken from the data")
            yield Listing(heads, rows, caption=view_caption(view, side))

    def to_json(self) -> str:
        """Return the text of the draft's `datapackage.json`."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the draft as `datapackage.json`, atomically, for `Schema.read`.

        Refuses to replace a schema with another id, or one with a budget by one without.

        >>> import pyarrow as pa, tempfile
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> proposal = draft(table, table)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proposal.save(Path(folder) / "datapackage.json")
        ...     Schema.read(Path(folder) / "datapackage.json") == proposal.schema
        True
        """
        must_be_writable(Path(path), FileKind.SCHEMA)
        must_keep(Path(path), self.schema.id, self.schema.budget)
        write_text(Path(path), self.to_json(), FileKind.SCHEMA)
        self.schema.remember(path)


def draft(
    left: object, right: object, *, key: str | None = None, right_key: str | None = None
) -> Draft:
    """Propose a schema for two tables. NOT private until its owner has edited it.

    left, right: paths or tables, as for `load`
    key:         the entity key; by default a column named id in both tables, or else the first
                 common column whose values all differ
    right_key:   the entity key of the right table, if its name differs

    The schema's status is `draft` until its owner accepts it. It has a new id, by which a ledger
    knows the data set.

    >>> import pyarrow as pa
    >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
    >>> draft(table, table).schema.status
    <Status.DRAFT: 'draft'>
    """
    outcome = caught(partial(_draft, left, right, key, right_key), "drafting")
    # An error's traceback holds the variables of this function.
    del left, right
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _draft(left: object, right: object, key: str | None, right_key: str | None) -> Draft:
    sides = [_read(given, side) for given, side in ((left, Side.LEFT), (right, Side.RIGHT))]
    keys = _keys(sides[0], sides[1], key, right_key)
    names = [_view_name(left, Side.LEFT), _view_name(right, Side.RIGHT)]
    if names[0] == names[1]:
        names = [side.value for side in Side]
    remarks: list[Remark] = []
    proposals: dict[tuple[Side, str], Proposal] = {}
    views: list[View] = []
    notes: list[Note] = []
    for given, name, table, key_name in zip((left, right), names, sides, keys, strict=True):
        proposed = table.proposals(key_name)
        attributes = tuple(p.attribute for p in proposed.values() if p.attribute is not None)
        if not attributes:
            raise LoadError(
                f"{table.source.place}: no attributes besides the entity key; "
                "add columns of numbers, dates, categories or Booleans"
            )
        remark = table.key_remark(key_name)
        remarks.append(Remark(table.side, key_name, remark))
        if key is None and _named_id(sides[0], sides[1]) is None:
            proposals[table.side, key_name] = Proposal(remark, taken=("primaryKey",))
        for column, proposal in proposed.items():
            remarks.append(Remark(table.side, column, proposal.remark))
            proposals[table.side, column] = proposal
        layout = table.source.layout
        view = View(
            name,
            key_name,
            attributes,
            path=_path(given),
            missing_values=table.markers,
            delimiter=None if layout.delimiter == "," else layout.delimiter,
            encoding=layout.encoding,
            sheet=layout.sheet,
        )
        views.append(view)
        notes += layout_note(table.source, view)
    notes += same_table_notes(sides[0].raw, sides[1].raw)
    notes += key_notes(sides[0].entity_keys(keys[0]), sides[1].entity_keys(keys[1]))
    # With an id, so that a ledger adds runs with the draft to later ones, whatever their name.
    schema = Schema("dataset", views[0], views[1], status=Status.DRAFT, id=new_id())
    return Draft(schema, tuple(remarks), tuple(notes), proposals)


def _described_attribute(attribute: Attribute | None) -> tuple[str, ...]:
    """Return kind, values and cut points of an attribute; the key and unused columns have none."""
    return ("", "", "") if attribute is None else declared(attribute)[:3]


def _resources(package: Any) -> list[Any]:
    return list(package["resources"])


def _annotate(entry: dict[str, Any], proposal: Proposal) -> None:
    """Add the rule for cut points, and what was taken from the data, to a field."""
    extras = entry.setdefault("redveil", {})
    match proposal.cuts:
        case CutRule(method="explicit"):
            # Every integer of a short range, which is what an integer has without cuts.
            del extras["cuts"]
        case CutRule() | str():
            extras["cuts"] = _described(proposal.cuts)
    taken: dict[str, object] = {"use": False} if extras.get("use") is False else {}
    if proposal.attribute is not None:
        # Of these, a field has the type, and what is not the usual.
        present = {**entry, **entry.get("constraints", {}), "cuts": extras.get("cuts")}
        names = (*(name for name in WRITTEN if name in entry), *proposal.taken)
        taken = {name: present[name] for name in names}
    extras["draft"] = {"remark": proposal.remark, "taken": taken}


def _described(rule: CutRule | DatePeriod) -> dict[str, object] | str:
    """Return a rule as it is written in a descriptor."""
    if isinstance(rule, str):
        return rule
    if rule.method == "equal-width":
        return {"method": rule.method, "count": rule.count}
    return {"method": rule.method}


@dataclass(frozen=True, slots=True, eq=False)
class _RawSide:
    """One table before conversion, with a summary of each column."""

    side: Side
    source: Source
    raw: RawTable
    summaries: dict[str, Summary]
    markers: tuple[str, ...]

    def proposals(self, key: str) -> dict[str, Proposal]:
        """Return the proposals for all columns but the key, in the table's order."""
        markers = Markers.of(self.markers)
        columns = {
            name: Column.of(name, summary, markers)
            for name, summary in self.summaries.items()
            if name != key
        }
        guesses = (column.numbers() for column in columns.values() if column.is_numeric)
        comma = are_commas_likely(guesses, self.source.layout.delimiter)
        return {
            name: propose(columns[name], comma=comma)
            if name in columns
            else Proposal("left out: not text, numbers, dates or Booleans")
            for name in self.source.names
            if name != key
        }

    def entity_keys(self, name: str) -> Keys:
        """Return the entity keys in a column."""
        return read_keys(self.raw, name, self.markers)

    def is_key(self, name: str, share: float = _NEARLY_ALL) -> bool:
        """Return whether a column identifies the entity of at least this share of the rows."""
        return int(self.entity_keys(name).alone.sum()) >= share * self.raw.rows

    def key_remark(self, name: str) -> str:
        """Return how well a column identifies entities."""
        others = self.raw.rows - int(self.entity_keys(name).alone.sum())
        if not others:
            return "entity key, different in every row"
        rows = "1 row" if others == 1 else f"{others:,} rows"
        return f"entity key; left out are {rows} that repeat a key or have none"


def _read(given: object, side: Side) -> _RawSide:
    source = open_source(given, side, None)
    names = source.names
    if isinstance(source, Frame | ParquetFile | ParquetFolder):
        # Columns of unsupported types are left out and do not raise an error.
        names = tuple(name for name in names if _is_readable(source, name)) or names
    raw = source.read(names)
    if not raw.rows:
        raise LoadError(f"{source.place}: no rows to draft a schema from; name a table with rows")
    summaries = {
        name: quietly(
            partial(summarise, raw, name),
            f"{source.place}, column {shown(name)}: cannot be read; check that its text is UTF-8",
        )
        for name in raw.columns
    }
    seen = {label(value) for summary in summaries.values() for value in summary.values}
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
    """Return the key columns, or raise a LoadError if there are none."""
    if right_key is not None and key is None:
        raise LoadError("right key without key; name the left table's key too")
    if key is not None:
        found = key, right_key or key
        for table, name in zip((left, right), found, strict=True):
            if name not in table.raw.columns:
                remedy = suggestion(name, table.raw.columns) or f"check {_KEY_OPTIONS}"
                raise LoadError(f"{table.source.place}: no key column {shown(name)}; {remedy}")
    else:
        found = _named_id(left, right) or _first_unique(left, right)
    for table, name in zip((left, right), found, strict=True):
        # A slip in the data is no reason not to draft a schema, but most rows must have a key.
        if not table.is_key(name, _MOST):
            check_keys(table.raw, name, table.markers)
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
        f"{left.source.place} and {right.source.place}: no common column differs in nearly every "
        f"row; name the entity key with {_KEY_OPTIONS}, or make the index of a frame a column"
    )


def _view_name(given: object, side: Side) -> str:
    """Return a view's name: its table's, in the characters that data packages allow."""
    if not isinstance(given, str | Path | Address):
        return side.value
    address = Address.of(given)
    stem = "" if address.is_query else address.wanted
    if address.where is Where.FILE:
        path, sheet = split_sheet(address.path)
        stem = sheet or path.name.partition(".")[0]
    elif address.is_files:
        stem = _stem(address)
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-") or side.value


def _stem(address: Address) -> str:
    """Return the name of a folder, or of the one before a pattern, without its suffix."""
    folder = address.path if address.path.is_dir() else address.home
    return folder.name.partition(".")[0]


def _path(given: object) -> str | None:
    """Return a file's path for the descriptor, which may not contain absolute paths."""
    if not isinstance(given, str | Path | Address):
        return None
    address = Address.of(given)
    if address.where not in (Where.FILE, Where.FOLDER, Where.CSV, Where.PARQUET):
        return None
    path = split_sheet(address.path)[0] if address.where is Where.FILE else address.path
    shown = path.name if path.is_absolute() else path.as_posix()
    # A name in another encoding contains bytes that UTF-8 cannot express.
    return shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
