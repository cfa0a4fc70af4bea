"""The true rows of two tables, and who satisfies a query.

Written for judging results, and apart from redveil's own loading and evaluation, so that a mistake
there cannot hide here. For data that is not sensitive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

import redveil
from redveil.seam.results import AttributePart

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]

TRUE: Final = ("true", "yes", "1", "1.0")
FALSE: Final = ("false", "no", "0", "0.0")


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """For whom a query is true and for whom it is false; for the others it is unknown."""

    yes: Bools
    no: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """One view's columns by name, all in the same order of entities.

    >>> sick = Rows({"age": pa.array([30, None, 50])}, 3)
    >>> age = AttributePart(name="age", kind="numeric")
    >>> over = {"attribute": "age", "op": ">", "value": 40}
    >>> sick.answers({"not": over}, {"age": age}).yes.tolist()
    [True, False, False]
    """

    columns: Mapping[str, pa.ChunkedArray | pa.Array]
    count: int
    _codes: dict[str, Floats] = field(default_factory=dict, repr=False)

    def answers(self, query: Mapping[str, Any], declared: Mapping[str, AttributePart]) -> Answers:
        """Return who satisfies a query in JSON. A conjunction ends at its first unknown part."""
        if "not" in query:
            inner = self.answers(query["not"], declared)
            return Answers(inner.no, inner.yes)
        if "or" in query:
            parts = [self.answers(part, declared) for part in query["or"]]
            yes = np.any([part.yes for part in parts], axis=0)
            return Answers(yes, np.all([part.no for part in parts], axis=0))
        if "and" in query:
            yes, no = np.ones(self.count, bool), np.zeros(self.count, bool)
            for one in query["and"]:
                part = self.answers(one, declared)
                yes, no = yes & part.yes, no | (yes & part.no)
            return Answers(yes, no)
        return self._literal(query, declared[query["attribute"]])

    def _literal(self, literal: Mapping[str, Any], attribute: AttributePart) -> Answers:
        codes = self._coded(attribute)
        known = ~np.isnan(codes)
        if literal["op"] == "known":
            return Answers(known, ~known)
        value = _value(literal["value"], attribute)
        holds = {
            "=": codes == value,
            "!=": codes != value,
            "<=": codes <= value,
            ">": codes > value,
        }[literal["op"]]
        return Answers(holds & known, ~holds & known)

    def _coded(self, attribute: AttributePart) -> Floats:
        """Return a column as numbers, NaN where the value is unknown."""
        if attribute.name not in self._codes:
            self._codes[attribute.name] = _coded(self.columns[attribute.name], _coder(attribute))
        return self._codes[attribute.name]


def literal_count(query: Mapping[str, Any]) -> int:
    """Return how many literals there are to read.

    >>> literal_count({"not": {"or": [{"attribute": "x"}, {"attribute": "y"}]}})
    2
    """
    if "not" in query:
        return literal_count(query["not"])
    parts = query.get("and") or query.get("or")
    return sum(literal_count(part) for part in parts) if parts else 1


@dataclass(frozen=True, slots=True, eq=False)
class TwoTables:
    """Two Arrow tables about the same entities. The first column of each is the key.

    >>> left = pa.table({"id": ["a", "b"], "sick": [True, False]})
    >>> right = pa.table({"id": ["b", "c", "a"], "age": [1, 2, 3]})
    >>> TwoTables(left, right).views()[1].columns["age"].to_pylist()
    [3, 1]
    """

    left: pa.Table
    right: pa.Table

    @classmethod
    def read(cls, left: Path, right: Path) -> TwoTables:
        """Read two CSV files, plain or compressed, every value as text."""
        return cls(_read(left), _read(right))

    def views(self) -> tuple[Rows, Rows]:
        """Return both views: the entities that they share, in the order of the left one."""
        left_key, right_key = self.left.column(0), self.right.column(0)
        place = pc.index_in(left_key.cast(pa.string()), right_key.cast(pa.string()))
        kept = pc.is_valid(place)
        left = self.left.filter(kept)
        right = self.right.take(place.filter(kept))
        columns = [{n: t.column(n) for n in t.column_names[1:]} for t in (left, right)]
        return Rows(columns[0], left.num_rows), Rows(columns[1], left.num_rows)

    def unrelated(self, order: NDArray[np.int64]) -> TwoTables:
        """Return the same rows, the right ones in another order under the same keys.

        >>> table = pa.table({"id": [1, 2, 3], "x": [1, 2, 3]})
        >>> TwoTables(table, table).unrelated(np.array([2, 0, 1])).right["x"].to_pylist()
        [3, 1, 2]
        """
        name, key = self.right.column_names[0], self.right.column(0)
        return replace(self, right=self.right.take(order).set_column(0, name, key))


def _read(path: Path) -> pa.Table:
    try:
        names = csv.open_csv(path).schema.names
        texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
        return csv.read_csv(path, convert_options=texts)
    except (OSError, pa.ArrowInvalid):
        raise redveil.InputError(f"{path}: cannot be read as CSV; check the path") from None


def write_segments(source: Path, target: Path, digits: str) -> None:
    """Write the rows whose id, after a sample's number, begins with one of some digits."""
    table = _read(source)
    first = pc.utf8_slice_codeunits(table.column(0), 3, 4)
    kept = table.filter(pc.is_in(first, value_set=pa.array(list(digits))))
    # Under another name first, so that a kill leaves no half of a file.
    part = target.with_name(f"{target.name}.part")
    csv.write_csv(kept, part, csv.WriteOptions(quoting_style="none"))
    part.replace(target)


def _coded(column: pa.ChunkedArray | pa.Array, code: Callable[[str], float]) -> Floats:
    """Return a column as numbers: each distinct text is coded once."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    encoded = chunked.cast(pa.string()).combine_chunks().dictionary_encode()
    table = np.array([code(text) for text in encoded.dictionary.to_pylist()] + [math.nan])
    places = encoded.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(table[places], dtype=np.float64)


def _coder(attribute: AttributePart) -> Callable[[str], float]:
    """Return what turns a text into a number; NaN means unknown."""
    if attribute.kind == "numeric":
        return _number
    if attribute.kind == "boolean":
        return lambda text: _truth(text.strip().lower())
    places = {category: float(place) for place, category in enumerate(attribute.categories)}
    return lambda text: places.get(text, math.nan)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _truth(text: str) -> float:
    return 1.0 if text in TRUE else 0.0 if text in FALSE else math.nan


def _value(value: float | str, attribute: AttributePart) -> float:
    """Return the number that stands for a literal's value; true is 1."""
    if not isinstance(value, str):
        return float(value)
    if value not in attribute.categories:
        raise redveil.InputError(f"{attribute.name}: only numbers and categories can be judged")
    return float(attribute.categories.index(value))
