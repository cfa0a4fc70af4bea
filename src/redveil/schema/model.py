"""The schema of a pair of tables: immutable and public, identified by a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from redveil.base.display import Block, Displayed, Note
from redveil.base.files import is_stream, located
from redveil.schema.attribute import untitled
from redveil.schema.purchase import Purchase
from redveil.schema.unmatched import Group
from redveil.schema.view import Side, Status, View

if TYPE_CHECKING:
    from redveil.schema import editing

#: The name of a schema's file, unless another is given.
FILE_NAME: Final = "datapackage.json"


@dataclass(frozen=True, slots=True)
class Schema(Displayed):
    """The declarations of two views of the same entities.

    A schema does not change. `with_attribute`, `without` and `replace` return another one.
    It remembers the `file` that it was read from, or first saved to: beside that is its ledger.
    That is no declaration, and is not written anywhere.

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
    id: str | None = None
    unmatched: tuple[Group, ...] = ()
    file: Path | None = field(default=None, compare=False, repr=False)

    def view(self, side: Side) -> View:
        """Return the view on one side."""
        return self.left if side is Side.LEFT else self.right

    @property
    def digest(self) -> str:
        """A hash of all declarations about the data.

        It does not depend on formatting, file names, titles, the budget, the id or the status:
        accepting a draft or raising a budget does not change it. Bought cut points do.
        """
        plain = [
            replace(view, path="", name="", attributes=tuple(map(untitled, view.attributes)))
            for view in (self.left, self.right)
        ]
        declared = replace(self, left=plain[0], right=plain[1], status=Status.DECLARED)
        declared = replace(declared, budget=None, budget_delta=Fraction(0), id=None)
        canonical = json.dumps(declared.to_dict(), sort_keys=True, ensure_ascii=True)
        return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

    def to_dict(self) -> dict[str, object]:
        """Return the schema as a Frictionless data package descriptor, ready for JSON.

        >>> from redveil.data.synthetic import clinic_schema
        >>> [r["name"] for r in clinic_schema().to_dict()["resources"]]
        ['diagnoses', 'laboratory']
        """
        from redveil.schema.descriptor import describe

        return describe(self)

    @classmethod
    def from_dict(cls, descriptor: Mapping[str, object]) -> Schema:
        """Return the schema that a data package descriptor declares.

        Raises a SchemaError that names the first problem.

        >>> from redveil.data.synthetic import clinic_schema
        >>> Schema.from_dict(clinic_schema().to_dict()) == clinic_schema()
        True
        """
        from redveil.schema.reader import schema_of

        return schema_of(descriptor, cls)

    def accept(self) -> Schema:
        """Return the schema as its owner declares it: no longer a draft, and with an id.

        With it the owner vouches for every bound, category and cut point. The id is random and
        stays once it is given; a ledger knows the data set by it. So accept once, and save.

        >>> from redveil.data.synthetic import clinic_schema
        >>> draft = replace(clinic_schema(), status=Status.DRAFT, id=None)
        >>> accepted = draft.accept()
        >>> accepted.status, accepted.accept() == accepted
        (<Status.DECLARED: 'declared'>, True)
        """
        from redveil.schema.identifier import new_id

        return replace(self, status=Status.DECLARED, id=self.id or new_id())

    def with_attribute(  # noqa: PLR0913 - what can be declared
        self,
        name: str,
        *,
        side: Literal["left", "right"] | None = None,
        kind: Literal["boolean", "categorical", "ordinal", "numeric", "date"] | None = None,
        minimum: editing.Bound | None = None,
        maximum: editing.Bound | None = None,
        cuts: editing.Cuts | None = None,
        categories: Sequence[str] | None = None,
        true_values: Sequence[str] | None = None,
        false_values: Sequence[str] | None = None,
        required: bool | None = None,
        title: str | None = None,
    ) -> Schema:
        """Return the schema with an attribute declared anew; what is not given stays as it was.

        side:             left or right; needed if both views have the attribute, or to add it
        kind:             boolean, categorical, ordinal, numeric or date; by default as before, or
            as what is given implies
        minimum, maximum: the bounds of a number or date; values outside are counted for the owner
        cuts:             where a number or date may be split: a list; for numbers also
            `"equal-width"`, `"decades"` or `"symmetric-decades"`, or a method with its options as
            in the schema file; for dates also `"years"`, `"months"` or `"days"`; new bounds
            without `cuts` have the usual cut points
        categories:       the labels; in order, if the kind is ordinal
        true_values, false_values: how a Boolean is written
        required:         whether no value can be missing
        title:            what readers call it, with its unit, as in "Fasting glucose (mg/dl)"

        >>> from redveil.data.synthetic import clinic_schema
        >>> schema = clinic_schema().with_attribute("age", maximum=120, cuts=[18, 40, 65])
        >>> schema.left.attributes[0].cuts
        (18.0, 40.0, 65.0)
        >>> schema.with_attribute("age", cuts=[65, 40])
        Traceback (most recent call last):
        redveil.errors.SchemaError: left, attribute age: cut points are not strictly increasing; \
correct redveil.cuts.values
        """
        from redveil.schema import editing

        declared = {
            "kind": kind,
            "minimum": minimum,
            "maximum": maximum,
            "cuts": cuts,
            "categories": categories,
            "true_values": true_values,
            "false_values": false_values,
            "required": required,
            "title": title,
        }
        return editing.with_attribute(self, name, side, declared)

    def without(self, *names: str, side: Literal["left", "right"] | None = None) -> Schema:
        """Return the schema without some attributes; `load` will ignore their columns.

        >>> from redveil.data.synthetic import clinic_schema
        >>> len(clinic_schema().without("sex", "HbA1c").right.attributes)
        13
        """
        from redveil.schema import editing

        schema = self
        for name in names:
            schema = editing.without(schema, name, side)
        return schema

    def replace(
        self,
        *,
        name: str | None = None,
        unit: str | None = None,
        budget: str | float | Fraction | None = None,
        budget_delta: str | float | Fraction | None = None,
        unmatched: Sequence[Sequence[str]] | None = None,
    ) -> Schema:
        """Return the schema with another name, unit or budget, or with other unmatched groups.

        name:         the name of the data set
        unit:         what one entity is called, as in `"patient"`
        budget:       the ε that all runs together may cost
        budget_delta: the δ that all runs together may cost
        unmatched:    groups of attributes that may not be matched with each other; `left:age` is
            the left view's `age`, if both views have one

        >>> from redveil.data.synthetic import clinic_schema
        >>> clinic_schema().replace(unit="visit", budget="1/2").budget
        Fraction(1, 2)
        >>> clinic_schema().replace(unmatched=[["diabetes type 2", "HbA1c"]]).unmatched
        (Group(left=('diabetes type 2',), right=('HbA1c',)),)
        """
        from redveil.schema import editing

        declared = {"name": name, "unit": unit, "budget": budget, "budget_delta": budget_delta}
        return editing.with_package(self, declared | {"unmatched": unmatched})

    def __repr__(self) -> str:
        left, right = len(self.left.attributes), len(self.right.attributes)
        return f"<Schema {self.name} ({self.status}): {left} left and {right} right attributes>"

    def _shown(self) -> Iterator[Block]:
        from redveil.schema.listing import view_listing

        if self.status is Status.DRAFT:
            yield Note("draft: NOT private; replace what was taken from the data, then accept it")
        budget = "" if self.budget is None else f", budget ε = {self.budget}"
        yield f"schema {self.name} ({self.status}), unit {self.unit}{budget}"
        for side in Side:
            yield view_listing(self.view(side), side)
        for group in self.unmatched:
            yield f"not to be matched with each other: {group}"

    def save(self, path: str | Path) -> None:
        """Write the schema as `datapackage.json`, atomically; replace nothing but a schema.

        Refuses to replace a schema with another id, or one with a budget by one without.

        >>> import tempfile
        >>> from redveil.data.synthetic import clinic_schema
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "datapackage.json"
        ...     clinic_schema().save(file)
        ...     Schema.read(file) == clinic_schema()
        True
        """
        from redveil.base.file_kind import FileKind
        from redveil.base.files import must_be_writable, write_text
        from redveil.schema.reader import must_keep

        must_be_writable(Path(path), FileKind.SCHEMA)
        must_keep(Path(path), self.id, self.budget)
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        write_text(Path(path), text + "\n", FileKind.SCHEMA)
        self.remember(path)

    @classmethod
    def read(cls, path: str | Path) -> Schema:
        """Read `datapackage.json`, or raise a SchemaError that names the first problem.

        >>> Schema.read("no.json")
        Traceback (most recent call last):
        redveil.errors.SchemaError: no.json: no such file; name a schema, such as datapackage.json
        """
        from redveil.schema.reader import read_schema

        schema = read_schema(Path(path), cls)
        schema.remember(path)
        return schema

    def remember(self, path: str | Path) -> None:
        """Take note of the file that the schema is in, unless it is known to be in another.

        The first one stays: a copy that is saved for somebody begins no new ledger.
        """
        if self.file is None and not is_stream(Path(path)):
            # Not a declaration, so a schema is the same with it.
            object.__setattr__(self, "file", located(Path(path)))
