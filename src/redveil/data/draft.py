"""A schema proposed from the data, for the owner to correct: everything in it was read off rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from redveil.files import write_text
from redveil.schema import Schema, Side
from redveil.schema.cuts import CutRule


@dataclass(frozen=True, slots=True)
class Remark:
    """What a draft read off the data about one column, for its owner to check.

    >>> print(Remark(Side.LEFT, "sex", "2 categories read off the data"))
    left, sex: 2 categories read off the data
    """

    side: Side
    attribute: str
    what_was_read: str

    def __str__(self) -> str:
        return f"{self.side}, {self.attribute}: {self.what_was_read}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed schema with a remark on every column; NOT private until its owner has edited it.

    >>> import pyarrow as pa
    >>> proposal = draft(
    ...     pa.table({"id": [1, 2, 3], "sick": [0, 1, 0]}),
    ...     pa.table({"id": [3, 2, 1], "age": [31, 57, 64]}),
    ... )
    >>> for remark in proposal.remarks:
    ...     print(remark)
    left, id: entity key, different in every row
    left, sick: Boolean, because it holds 0 and 1 only; no value missing
    right, id: entity key, different in every row
    right, age: minimum and maximum read off the data, rounded outward; no value missing
    """

    schema: Schema
    remarks: tuple[Remark, ...]
    rules: Mapping[tuple[Side, str], CutRule] = field(default_factory=lambda: MappingProxyType({}))

    def to_datapackage(self) -> dict[str, object]:
        """Return the schema's descriptor, saying beside each field what was read off the data.

        Columns that were left out are listed too, as not used, for the owner to decide about.

        >>> import pyarrow as pa
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> package = draft(table, table).to_datapackage()
        >>> package["resources"][0]["schema"]["fields"][1]["redveil"]["cuts"]
        {'method': 'equal-width', 'count': 20}
        """
        package: Any = self.schema.to_datapackage()
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
                extras = known[remark.attribute].setdefault("redveil", {})
                extras["draft"] = remark.what_was_read
                rule = self.rules.get((side, remark.attribute))
                if rule is not None:
                    extras["cuts"] = _described(rule)
        return dict(package)

    def save(self, path: str | Path) -> None:
        """Write the draft as `datapackage.json`, atomically; `Schema.read` reads it.

        >>> import pyarrow as pa, tempfile
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> proposal = draft(table, table)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proposal.save(Path(folder) / "datapackage.json")
        ...     Schema.read(Path(folder) / "datapackage.json") == proposal.schema
        True
        """
        text = json.dumps(self.to_datapackage(), indent=2, ensure_ascii=False)
        write_text(Path(path), text + "\n")


def draft(
    left: object, right: object, *, key: str | None = None, right_key: str | None = None
) -> Draft:
    """Propose a schema for two tables, given as for `load`.

    The key is `key` (on the right `right_key`, if that has another name), or a column named id that
    both tables have, or the first column of both whose values all differ. The schema's status is
    `draft` until its owner changes it.

    >>> import pyarrow as pa
    >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
    >>> draft(table, table).schema.status
    <Status.DRAFT: 'draft'>
    """
    # Arrow takes a moment to import; `import redveil` must not.
    from redveil.data.drafting import draft_schema

    return draft_schema(left, right, key, right_key)


def _described(rule: CutRule) -> dict[str, object]:
    """Write a rule the way an owner would."""
    if rule.method == "equal-width":
        return {"method": rule.method, "count": rule.count}
    return {"method": rule.method}
