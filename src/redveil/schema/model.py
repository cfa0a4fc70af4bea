"""The schema of a pair of tables: immutable and public, identified by a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from redveil.schema.descriptor import describe
from redveil.schema.purchase import Purchase
from redveil.schema.reader import read_schema, schema_of
from redveil.schema.view import Side, Status, View


@dataclass(frozen=True, slots=True)
class Schema:
    """The declarations of two views of the same entities.

    >>> from redveil.data.synthetic import clinic_schema
    >>> schema = clinic_schema()
    >>> schema.left.name, schema.right.name
    ('diagnoses', 'laboratory')
    >>> schema.digest.startswith("sha256:")
    True
    """

    name: str
    left: View
    right: View
    unit: str = "entity"
    status: Status = Status.DECLARED
    budget: Fraction | None = None
    budget_delta: Fraction = Fraction(0)
    bought: tuple[Purchase, ...] = ()

    def view(self, side: Side) -> View:
        """Return the view on one side."""
        return self.left if side is Side.LEFT else self.right

    @property
    def digest(self) -> str:
        """A hash of all declarations about the data.

        It does not depend on formatting, file names, the budget or the status: accepting a draft
        or raising a budget does not change it. Buying cut points does.
        """
        plain = [replace(view, path="", name="") for view in (self.left, self.right)]
        declared = replace(self, left=plain[0], right=plain[1], status=Status.DECLARED)
        declared = replace(declared, budget=None, budget_delta=Fraction(0))
        canonical = json.dumps(declared.to_datapackage(), sort_keys=True, ensure_ascii=True)
        return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

    def to_datapackage(self) -> dict[str, object]:
        """Return the schema as a Frictionless data package descriptor.

        >>> from redveil.data.synthetic import clinic_schema
        >>> [r["name"] for r in clinic_schema().to_datapackage()["resources"]]
        ['diagnoses', 'laboratory']
        """
        return describe(self)

    @classmethod
    def from_datapackage(cls, descriptor: Mapping[str, object]) -> Schema:
        """Return the schema that a data package descriptor declares.

        Raises a SchemaError that names the first problem.

        >>> from redveil.data.synthetic import clinic_schema
        >>> Schema.from_datapackage(clinic_schema().to_datapackage()) == clinic_schema()
        True
        """
        return schema_of(descriptor, cls)

    def save(self, path: str | Path) -> None:
        """Write the schema as `datapackage.json`, atomically; replace nothing but a schema.

        >>> import tempfile
        >>> from redveil.data.synthetic import clinic_schema
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "datapackage.json"
        ...     clinic_schema().save(file)
        ...     Schema.read(file) == clinic_schema()
        True
        """
        from redveil.file_kind import FileKind
        from redveil.files import write_text

        text = json.dumps(self.to_datapackage(), indent=2, ensure_ascii=False)
        write_text(Path(path), text + "\n", FileKind.SCHEMA)

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read `datapackage.json`, or raise a SchemaError that names the first problem.

        >>> Schema.read("nowhere.json")
        Traceback (most recent call last):
        redveil.errors.SchemaError: nowhere.json: no such file; name the data package's descriptor
        """
        return read_schema(Path(path), cls)
