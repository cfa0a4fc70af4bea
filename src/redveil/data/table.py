"""Private columns in memory, typed by the schema. Always sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.errors import QueryError
from redveil.schema import Attribute, Kind, Side

Value: TypeAlias = bool | float | str
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
ByteArray: TypeAlias = NDArray[np.uint8]

MISSING = 255


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Numbers within the declared bounds, float64[N]; NaN is missing.

    >>> column = NumericColumn(Attribute("age", Kind.NUMERIC), np.array([1.0, np.nan, 3.0]))
    >>> holds, known = column.test("<=", 2.0)
    >>> holds.tolist(), known.tolist()
    ([True, False, False], [True, False, True])
    """

    attribute: Attribute
    values: FloatArray

    @property
    def known(self) -> BoolArray:
        """Where the value is not missing, bool[N]."""
        return ~np.isnan(self.values)

    def only(self, keep: BoolArray) -> NumericColumn:
        """Return the values of some entities."""
        return NumericColumn(self.attribute, self.values[keep])

    def test(self, op: str, value: Value) -> tuple[BoolArray, BoolArray]:
        """Return where a literal holds and where it is known, both bool[N]."""
        if isinstance(value, bool | str):
            raise QueryError(f"[{self.attribute.name}] is numeric; compare it with a number")
        known = self.known
        # Comparing NaN gives False for every operator but !=.
        comparisons = {
            "<=": self.values <= value,
            ">": self.values > value,
            "=": self.values == value,
            "!=": (self.values != value) & known,
        }
        return comparisons[op], known


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """Boolean values or categories as codes, uint8[N]; 255 is missing.

    Booleans have the codes 0 and 1, categories their position in the declaration.

    >>> column = CodedColumn(Attribute("sick", Kind.BOOLEAN), np.array([0, 1, 255], np.uint8))
    >>> holds, known = column.test("=", True)
    >>> holds.tolist(), known.tolist()
    ([False, True, False], [True, True, False])
    """

    attribute: Attribute
    codes: ByteArray

    @property
    def known(self) -> BoolArray:
        """Where the value is not missing, bool[N]."""
        known: BoolArray = self.codes != MISSING
        return known

    def only(self, keep: BoolArray) -> CodedColumn:
        """Return the codes of some entities."""
        return CodedColumn(self.attribute, self.codes[keep])

    def test(self, op: str, value: Value) -> tuple[BoolArray, BoolArray]:
        """Return where a literal holds and where it is known, both bool[N]."""
        known = self.known
        code = self._code(value)
        if op in ("<=", ">"):
            if self.attribute.kind is not Kind.ORDINAL or code is None:
                raise QueryError(
                    f"[{self.attribute.name}] has no order or no such category; use = or !="
                )
            below = self.codes <= code
            return (below if op == "<=" else ~below) & known, known
        # No entity has an undeclared category.
        equal = self.codes == code if code is not None else np.zeros_like(known)
        return (equal if op == "=" else ~equal) & known, known

    def _code(self, value: Value) -> int | None:
        attribute = self.attribute
        if attribute.kind is Kind.BOOLEAN:
            if not isinstance(value, bool):
                raise QueryError(f"[{attribute.name}] is Boolean; write [{attribute.name}] or ![…]")
            return int(value)
        label = value if isinstance(value, str) else repr(value).removesuffix(".0")
        return attribute.categories.index(label) if label in attribute.categories else None


Column: TypeAlias = NumericColumn | CodedColumn


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The joined views of all entities: columns by name, each of length N.

    >>> empty = Table(0, {}, {})
    >>> empty.rows
    0
    """

    rows: int
    left: Mapping[str, Column]
    right: Mapping[str, Column]

    def view(self, side: Side) -> Mapping[str, Column]:
        """Return one view's columns."""
        return self.left if side is Side.LEFT else self.right

    def only(self, keep: BoolArray) -> Table:
        """Return the table of some entities, those whose flag is set.

        >>> Table(2, {}, {}).only(np.array([True, False])).rows
        1
        """
        left, right = (
            {name: column.only(keep) for name, column in self.view(side).items()} for side in Side
        )
        return Table(int(keep.sum()), left, right)
