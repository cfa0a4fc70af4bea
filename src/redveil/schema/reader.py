"""Read descriptors as schemas. `check` lists all problems, `read_schema` raises the first."""

from __future__ import annotations

import json
import re
import stat
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from redveil.base.file_kind import FileKind, kind_of
from redveil.base.files import typed
from redveil.errors import InputError, SchemaError
from redveil.schema.attribute import Attribute
from redveil.schema.encoding import encoding_fault
from redveil.schema.field import FieldReader
from redveil.schema.problem import Problem, misplaced, misspelt, unencodable, unknown_keys
from redveil.schema.purchase import Purchase
from redveil.schema.unmatched import Group, read_groups
from redveil.schema.view import Side, Status, View

S = TypeVar("S")
_NO_OBJECT: Final = ("not a JSON object", "write a data package descriptor")
_NAME_ONE: Final = "name a schema, such as datapackage.json"
_Purchases = tuple[Purchase, ...]
_Groups = tuple[Group, ...]
# Makes a schema of what was read: name, both views, unit, status, budget, its delta, purchases, id,
# unmatched groups.
Build = Callable[
    [str, View, View, str, Status, Fraction | None, Fraction, _Purchases, str | None, _Groups], S
]

KEYS: Final = ("version", "status", "unit", "budget", "budget_delta", "bought", "unmatched")
# Excludes "1e999999999": short as text, but too large for memory as an exact number.
_SHORT_NUMBER: Final = re.compile(r"[0-9./+-]{1,40}(?:[eE][+-]?[0-9]{1,2})?")
# Prices of purchases are exact and can have many digits.
_RATIO: Final = re.compile(r"[0-9]{1,4300}(?:/[0-9]{1,4300})?")


def read_schema(path: Path, build: Build[S]) -> S:
    """Read a schema, or raise a SchemaError that names the first problem.

    >>> from redveil.schema import Schema
    >>> read_schema(Path("nowhere.json"), Schema)
    Traceback (most recent call last):
    redveil.errors.SchemaError: nowhere.json: no such file; name a schema, such as datapackage.json
    """
    return read_once(path, build)[0]


def read_once(path: Path, build: Build[S]) -> tuple[S, dict[str, Any], bytes]:
    """Read a schema, and return it with its descriptor and with what is in the file.

    A pipe cannot be read twice, and a file may be another one by then.

    >>> from redveil.schema import Schema
    >>> read_once(Path("nowhere.json"), Schema)
    Traceback (most recent call last):
    redveil.errors.SchemaError: nowhere.json: no such file; name a schema, such as datapackage.json
    """
    content = _content(path)
    raw = _raw(path, content)
    schema, problems = _parsed(content, path, build)
    if schema is None or problems or not isinstance(raw, dict) or isinstance(content, Problem):
        more = len(problems) - 1
        rest = f" (and {more} more: redveil schema check {typed(path)})" if more else ""
        raise SchemaError(f"{problems[0]}{rest}")
    return schema, raw, content


# A command reads its schema twice: once more before it charges, and mostly nothing has changed.
@lru_cache(maxsize=2)
def _parsed(content: bytes | Problem, path: Path, build: Build[Any]) -> tuple[Any, list[Problem]]:
    """Return the schema that a file declares, which nobody changes, and its problems."""
    raw = _raw(path, content)
    return (None, [raw]) if isinstance(raw, Problem) else parse(raw, str(path), build)


def read_descriptor(path: Path) -> tuple[dict[str, Any], bytes]:
    """Read a descriptor that may have problems, and return it with what is in the file.

    >>> read_descriptor(Path("nowhere.json"))
    Traceback (most recent call last):
    redveil.errors.SchemaError: nowhere.json: no such file; name a schema, such as datapackage.json
    """
    content = _content(path)
    raw = _raw(path, content)
    if isinstance(raw, dict) and isinstance(content, bytes):
        return raw, content
    raise SchemaError(str(raw if isinstance(raw, Problem) else Problem(str(path), *_NO_OBJECT)))


def schema_of(descriptor: object, build: Build[S]) -> S:
    """Return the schema that a descriptor declares, or raise a SchemaError for the first problem.

    >>> from redveil.schema import Schema
    >>> schema_of({"resources": []}, Schema)
    Traceback (most recent call last):
    redveil.errors.SchemaError: descriptor: 0 resources; list exactly two: the left view and the \
right view
    """
    schema, problems = parse(descriptor, "descriptor", build)
    if schema is None or problems:
        more = len(problems) - 1
        raise SchemaError(f"{problems[0]}{f' (and {more} more)' if more else ''}")
    return schema


@dataclass(frozen=True, slots=True)
class Package:
    """What a schema declares about the data set as a whole.

    >>> Package("clinic", budget=Fraction(3)).unit
    'entity'
    """

    name: str
    unit: str = "entity"
    status: Status = Status.DECLARED
    budget: Fraction | None = None
    budget_delta: Fraction = Fraction(0)
    bought: tuple[Purchase, ...] = ()
    id: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether it says which data set it is, or what may be spent on it.

        >>> Package("clinic").is_known, Package("clinic", id="7e57").is_known
        (False, True)
        """
        return self.id is not None or self.budget is not None


def read_package(path: Path) -> Package | None:
    """Read what a schema declares about the data set as a whole, whatever its fields are.

    None if there is no file, or an empty one. Raises a SchemaError if anything is wrong with that
    part, because it may be the id or the budget.

    >>> read_package(Path("nowhere.json")) is None
    True
    """
    if _is_absent(path):
        return None
    raw = _raw(path, _content(path))
    problems = [raw] if isinstance(raw, Problem) else []
    package = None
    if isinstance(raw, Mapping):
        package = _package(raw, str(path), problems)
    elif not problems:
        problems = [Problem(str(path), *_NO_OBJECT)]
    if problems:
        raise SchemaError(
            f"{problems[0]} (its id and budget must be kept, so repair it, or move it elsewhere)"
        )
    return package


def must_keep(path: Path, identifier: str | None, budget: Fraction | None) -> None:
    """Refuse to replace a schema whose id or budget would be lost.

    A ledger knows a data set by its id, and nobody would keep to a budget that is gone. Another
    budget is the owner's decision.

    >>> must_keep(Path("nowhere.json"), None, None)
    """
    earlier = read_package(path)
    if earlier is None:
        return
    if earlier.id not in (None, identifier):
        raise InputError(
            f"{path}: not replaced, because its id would be lost, by which a ledger knows the data "
            "set; edit that schema (Schema.read), or move it elsewhere"
        )
    if earlier.budget is not None and budget is None:
        raise InputError(
            f"{path}: not replaced, because its budget of {earlier.budget} would be lost; declare "
            "it again (redveil.budget, Schema.replace(budget=…)), or move the file elsewhere"
        )


def check(path: Path, build: Build[S]) -> tuple[S | None, list[Problem]]:
    """Read a schema and list all of its problems.

    >>> from redveil.schema import Schema
    >>> print(check(Path("nowhere.json"), Schema)[1][0])
    nowhere.json: no such file; name a schema, such as datapackage.json
    """
    raw = _raw(path, _content(path))
    return (None, [raw]) if isinstance(raw, Problem) else parse(raw, str(path), build)


def _is_absent(path: Path) -> bool:
    """Return whether there is no file, or an empty one; False if that cannot be told."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(status.st_mode) or not status.st_size


def _raw(path: Path, content: bytes | Problem) -> object | Problem:
    """Return what a JSON file contains, or why it cannot be a schema."""
    text = content if isinstance(content, Problem) else _text(path, content)
    if isinstance(text, Problem):
        return text
    try:
        raw: object = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        return Problem(place, "not valid JSON", f"{error.msg}")
    except _RepeatedKeyError as error:
        return Problem(str(path), f"key {error.args[0]} twice in one object", "remove one of them")
    except ValueError:
        return Problem(str(path), "a number with too many digits", "shorten it")
    except RecursionError:
        return Problem(str(path), "nested too deeply", "write a data package descriptor")
    return raw


class _RepeatedKeyError(ValueError):
    """An object has a key twice; the name of the key."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object. Of a key that is there twice, Python would keep the last value only."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise _RepeatedKeyError(key)
    return found


def _content(path: Path) -> bytes | Problem:
    """Return what is in a file, or why it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return Problem(str(path), "no such file", _NAME_ONE)
    except (OSError, ValueError):
        return Problem(str(path), "cannot be read", "check the path and the permissions")


def _text(path: Path, content: bytes) -> str | Problem:
    """Return the text of a schema file, or why it cannot be one."""
    kind = kind_of(content)
    if kind not in (FileKind.SCHEMA, FileKind.JSON, FileKind.TEXT):
        return Problem(str(path), f"this is {kind}, not a schema", _NAME_ONE)
    try:
        return content.decode("utf-8-sig")
    except ValueError:
        return Problem(str(path), "cannot be read as UTF-8 text", "save it as UTF-8")


def parse(raw: object, file: str, build: Build[S]) -> tuple[S | None, list[Problem]]:
    """Return the schema of a descriptor and a list of problems; with problems, None as schema.

    >>> from redveil.schema import Schema
    >>> schema, problems = parse({"resources": []}, "datapackage.json", Schema)
    >>> print(problems[0])
    datapackage.json: 0 resources; list exactly two: the left view and the right view
    """
    if not isinstance(raw, Mapping):
        return None, [Problem(file, *_NO_OBJECT)]
    problems: list[Problem] = []
    package = _package(raw, file, problems)
    resources = raw.get("resources")
    if not isinstance(resources, Sequence) or len(resources) != 2:
        found = len(resources) if isinstance(resources, Sequence) else "no"
        remedy = "list exactly two: the left view and the right view"
        return None, [*problems, Problem(file, f"{found} resources", remedy)]
    views = [
        _view(resource, side, file, problems)
        for side, resource in zip(Side, resources, strict=True)
    ]
    left, right = views
    if problems or left is None or right is None:
        return None, problems
    unmatched = _unmatched(raw, left, right, file, problems)
    if problems:
        return None, problems
    about = (package.unit, package.status, package.budget, package.budget_delta)
    return build(package.name, left, right, *about, package.bought, package.id, unmatched), []


def _package(raw: Mapping[str, object], file: str, problems: list[Problem]) -> Package:
    """Read what is declared about the data set as a whole."""
    problems.extend(misspelt(file, "package", raw))
    problems.extend(misplaced(file, raw))
    problems.extend(unencodable(file, raw))
    extras = raw.get("redveil") or {}
    if not isinstance(extras, Mapping):
        problems.append(Problem(file, "redveil is not an object", "write redveil as {…}"))
        extras = {}
    status = _status(extras, file, problems)
    budget, budget_delta = (
        _budget(extras, key, file, problems) for key in ("budget", "budget_delta")
    )
    if budget_delta is not None and budget is None:
        what, remedy = "redveil.budget_delta without redveil.budget", "declare both"
        problems.append(Problem(file, what, remedy))
    return Package(
        name=str(raw.get("name", "dataset")),
        unit=str(extras.get("unit", "entity")),
        status=status,
        budget=budget,
        budget_delta=budget_delta or Fraction(0),
        bought=_purchases(extras.get("bought", []), file, problems),
        id=_identifier(raw.get("id"), file, problems),
    )


def _unmatched(
    raw: Mapping[str, object], left: View, right: View, file: str, problems: list[Problem]
) -> tuple[Group, ...]:
    """Read the groups of attributes that may not be matched with each other."""
    extras = raw.get("redveil")
    given = extras.get("unmatched", []) if isinstance(extras, Mapping) else []
    groups, faults = read_groups(given, left, right)
    problems.extend(Problem(file, f"redveil.unmatched: {what}", how) for what, how in faults)
    return groups


def _identifier(given: object, file: str, problems: list[Problem]) -> str | None:
    """Read the id of the data set; None if it has none yet."""
    if given is None or (isinstance(given, str) and given.strip()):
        return given
    remedy = "restore what `redveil schema accept` wrote; the ledger knows the data set by it"
    problems.append(Problem(file, "id is not a text", remedy))
    return None


def _status(extras: Mapping[str, object], file: str, problems: list[Problem]) -> Status:
    """Read the status, and report unknown keys under `redveil`."""
    problems.extend(unknown_keys(file, extras, KEYS))
    status = extras.get("status", Status.DECLARED.value)
    if status not in list(Status):
        problems.append(Problem(file, "unknown redveil.status", f"use one of {', '.join(Status)}"))
        status = Status.DECLARED.value
    return Status(str(status))


def _budget(
    extras: Mapping[str, object], key: str, file: str, problems: list[Problem]
) -> Fraction | None:
    """Read the total budget, ε or δ; None if it is not declared."""
    if extras.get(key) is None:
        return None
    budget = _fraction(str(extras[key]))
    if budget <= 0:
        example = '"3" or "1/2"' if key == "budget" else '"1e-5"'
        remedy = f"write a positive number such as {example}"
        problems.append(Problem(file, f"redveil.{key} is not a positive number", remedy))
    return budget


def _purchases(given: object, file: str, problems: list[Problem]) -> tuple[Purchase, ...]:
    """Read the purchases of cut points; an invalid record is a problem and not ignored."""
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else [None]
    found = [one for one in map(_purchase, listed) if one is not None]
    if len(found) < len(listed):
        remedy = "restore what was written when they were bought: it records the spent budget"
        problems.append(Problem(file, "redveil.bought is not a list of purchases", remedy))
    return tuple(found)


def _purchase(raw: object) -> Purchase | None:
    """Return one purchase, or None if it is invalid."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("columns"), Mapping):
        return None
    epsilon = _fraction(str(raw.get("epsilon")))
    left, right = (raw["columns"].get(side.value, []) for side in Side)
    lists = all(isinstance(names, list) for names in (left, right))
    if not lists or not all(isinstance(name, str) for name in (*left, *right)) or epsilon <= 0:
        return None
    return Purchase(epsilon, tuple(left), tuple(right), str(raw.get("software", "")))


def _fraction(text: str) -> Fraction:
    """Return the exact value of a number as text, or 0 if it is invalid or too long."""
    if _SHORT_NUMBER.fullmatch(text) or _RATIO.fullmatch(text):
        try:
            return Fraction(text)
        except (ValueError, ZeroDivisionError):
            pass
    return Fraction(0)


def _view(resource: object, side: Side, file: str, problems: list[Problem]) -> View | None:
    """Read one resource as a view."""
    place = f"{file}, {side}"
    problems.extend(misspelt(place, "resource", resource))
    if not isinstance(resource, Mapping) or not isinstance(resource.get("schema"), Mapping):
        problems.append(Problem(place, "no table schema", "give the resource a schema object"))
        return None
    table = resource["schema"]
    problems.extend(misspelt(place, "schema", table))
    problems.extend(misspelt(place, "dialect", resource.get("dialect")))
    fields = table.get("fields")
    if not isinstance(fields, Sequence) or not all(
        isinstance(f, Mapping) and isinstance(f.get("name"), str) and f["name"] for f in fields
    ):
        for each in fields if isinstance(fields, Sequence) else ():
            problems.extend(misspelt(place, "field", each))
        problems.append(Problem(place, "a field without a name", "give every field a name"))
        return None
    names = [f["name"] for f in fields]
    problems.extend(
        Problem(
            f"{place}, attribute {name}", "declared twice", "rename or remove one of the fields"
        )
        for name, times in Counter(names).items()
        if times > 1
    )
    key = _key(table.get("primaryKey"), names, place, problems)
    attributes: list[Attribute] = []
    for field in fields:
        if field["name"] == key:
            continue
        reader = FieldReader(
            f"{place}, attribute {field['name']}", field, missing=table.get("missingValues", [""])
        )
        attribute = reader.attribute()
        problems.extend(reader.problems)
        if attribute is not None:
            attributes.append(attribute)
    if not attributes and not problems:
        problems.append(Problem(place, "no attribute to mine", "declare at least one attribute"))
    encoding, missing = _format(resource, table, place, problems)
    delimiter, sheet = _dialect(resource, place, problems)
    path = resource.get("path")
    return View(
        name=str(resource.get("name", side.value)),
        key=key or "",
        attributes=tuple(attributes),
        path=path if isinstance(path, str) else None,
        missing_values=missing,
        delimiter=delimiter,
        encoding=encoding,
        sheet=sheet,
    )


def _key(declared: object, names: list[str], place: str, problems: list[Problem]) -> str | None:
    """Read the entity key."""
    if isinstance(declared, Sequence) and not isinstance(declared, str) and len(declared) == 1:
        declared = declared[0]
    if isinstance(declared, str) and declared in names:
        return declared
    remedy = "set primaryKey to the field that identifies an entity"
    problems.append(Problem(place, "no entity key", remedy))
    return None


def _dialect(
    resource: Mapping[str, object], place: str, problems: list[Problem]
) -> tuple[str | None, str | int | None]:
    """Read the delimiter of a text file, and the sheet of a workbook."""
    dialect = resource.get("dialect", {})
    if not isinstance(dialect, Mapping):
        problems.append(Problem(place, "dialect is not an object", "write dialect as {…}"))
        return None, None
    delimiter = dialect.get("delimiter")
    if delimiter is not None and not (
        isinstance(delimiter, str) and len(delimiter) == 1 and _can_delimit(delimiter)
    ):
        problems.append(
            Problem(place, "dialect.delimiter is not one ASCII character", 'use "," or ";"')
        )
        delimiter = None
    name, number = dialect.get("sheetName"), dialect.get("sheetNumber")
    if name is not None and not isinstance(name, str):
        problems.append(Problem(place, "dialect.sheetName is not text", "write the sheet's name"))
    if number is not None and (
        not isinstance(number, int) or isinstance(number, bool) or number < 1
    ):
        remedy = "count the sheets from 1"
        problems.append(Problem(place, "dialect.sheetNumber is not a positive integer", remedy))
    return delimiter, name if isinstance(name, str) else number


def _format(
    resource: Mapping[str, object], table: Mapping[str, object], place: str, problems: list[Problem]
) -> tuple[str, tuple[str, ...]]:
    """Read the encoding of the file and the missing-value markers."""
    encoding = str(resource.get("encoding", "utf-8"))
    fault = encoding_fault(encoding)
    if fault is not None:
        problems.append(Problem(place, *fault))
    missing = table.get("missingValues", [""])
    if (
        isinstance(missing, str)
        or not isinstance(missing, Sequence)
        or not all(isinstance(m, str) for m in missing)
    ):
        problems.append(Problem(place, "missingValues is not a list of strings", 'write [""]'))
        missing = [""]
    return encoding, tuple(missing)


def _can_delimit(character: str) -> bool:
    """Return whether a character can be the delimiter of a CSV file."""
    return character.isascii() and character not in '"\r\n\0'
