"""Private columns in memory, typed by the schema. Always sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.errors import QueryError
from redveil.schema import Attribute, Kind, Side

if TYPE_CHECKING:
    from redveil.data.binning import BinnedTable

Value: TypeAlias = bool | float | str
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
ByteArray: TypeAlias = NDArray[np.uint8]

MISSING = 255


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Numbers, float64[N], also those outside the declared bounds; NaN is missing.

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

    def bounded(self) -> NumericColumn:
        """Return the numbers with those outside the declared bounds moved to them.

        For methods that take cut points or ranges from the values. Comparisons with numbers between
        the bounds come out the same.
        """
        low, high = self.attribute.minimum, self.attribute.maximum
        if not ((self.values < low) | (self.values > high)).any():
            return self
        return NumericColumn(self.attribute, np.clip(self.values, low, high))

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


@dataclass(frozen=True, slots=True, eq=False)
class BinnedColumn:
    """The bins of a column's values, uint8 (wider with more bins)[N]; the largest is missing.

    A number's bin is how many cut points lie below it, so it can be compared with cut points only.

    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 5.0))
    >>> column = BinnedColumn(age, np.array([0, 1, 2, 255], np.uint8))
    >>> holds, known = column.test("<=", 5.0)
    >>> holds.tolist(), known.tolist()
    ([True, True, False, False], [True, True, True, False])
    """

    attribute: Attribute
    codes: NDArray[Any]

    @property
    def known(self) -> BoolArray:
        """Where the value is not missing, bool[N]."""
        known: BoolArray = self.codes != np.iinfo(self.codes.dtype).max
        return known

    def only(self, keep: BoolArray) -> BinnedColumn:
        """Return the bins of some entities."""
        return BinnedColumn(self.attribute, self.codes[keep])

    def test(self, op: str, value: Value) -> tuple[BoolArray, BoolArray]:
        """Return where a literal holds and where it is known, both bool[N]."""
        known = self.known
        if self.attribute.kind is not Kind.NUMERIC:
            return CodedColumn(self.attribute, np.where(known, self.codes, MISSING)).test(op, value)
        if isinstance(value, bool | str) or not is_cut(self.attribute, op, value):
            raise QueryError(
                f"[{self.attribute.name}] was loaded packed; compare it with a cut point by <= or >"
            )
        below = self.codes <= self.attribute.cuts.index(value)
        return (below if op == "<=" else ~below) & known, known


@dataclass(frozen=True, slots=True, eq=False)
class FlagColumn:
    """Boolean values as bits, lowest bit first, uint64[words]; None is where none is missing.

    >>> sick = FlagColumn(Attribute("sick", Kind.BOOLEAN), 3, np.array([4], np.uint64), None)
    >>> sick.test("=", True)[0].tolist()
    [False, False, True]
    """

    attribute: Attribute
    rows: int
    bits: NDArray[np.uint64]
    absent: NDArray[np.uint64] | None

    @property
    def codes(self) -> ByteArray:
        """The values as codes, uint8[N]; 255 is missing."""
        codes = unpack(self.bits, self.rows).astype(np.uint8)
        if self.absent is not None:
            codes[unpack(self.absent, self.rows)] = MISSING
        return codes

    @property
    def known(self) -> BoolArray:
        """Where the value is not missing, bool[N]."""
        if self.absent is None:
            return np.ones(self.rows, dtype=np.bool_)
        return ~unpack(self.absent, self.rows)

    def only(self, keep: BoolArray) -> FlagColumn:
        """Return the values of some entities."""
        absent = None if self.absent is None else pack(unpack(self.absent, self.rows)[keep])
        bits = pack(unpack(self.bits, self.rows)[keep])
        return FlagColumn(self.attribute, int(keep.sum()), bits, absent)

    def test(self, op: str, value: Value) -> tuple[BoolArray, BoolArray]:
        """Return where a literal holds and where it is known, both bool[N]."""
        return CodedColumn(self.attribute, self.codes).test(op, value)


Column: TypeAlias = NumericColumn | CodedColumn | BinnedColumn | FlagColumn


def is_cut(attribute: Attribute, op: str, value: object) -> bool:
    """Return whether bins tell a comparison of a numeric attribute: with a cut point, by order.

    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 5.0))
    >>> is_cut(age, ">", 5.0), is_cut(age, "=", 5.0), is_cut(age, ">", 4.0)
    (True, False, False)
    """
    return op in ("<=", ">") and value in attribute.cuts


def pack(flags: BoolArray) -> NDArray[np.uint64]:
    """Pack flags into words, lowest bit first, padded with 0.

    >>> pack(np.array([True, False, True])).tolist()
    [5]
    """
    words = -(-flags.size // 64)
    packed = np.zeros(words * 8, dtype=np.uint8)
    packed[: -(-flags.size // 8)] = np.packbits(flags, bitorder="little")
    return packed.view("<u8").astype(np.uint64)


def unpack(words: NDArray[np.uint64], rows: int) -> BoolArray:
    """Return packed bits as flags, bool[rows].

    >>> unpack(np.array([5], np.uint64), 4).tolist()
    [True, False, True, False]
    """
    flat = words.astype("<u8").view(np.uint8)
    return np.unpackbits(flat, count=rows, bitorder="little").astype(np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The joined views of all entities: columns by name, each of length N.

    binned: the same, if the columns are the rows of packed arrays

    >>> empty = Table(0, {}, {})
    >>> empty.rows
    0
    """

    rows: int
    left: Mapping[str, Column]
    right: Mapping[str, Column]
    binned: BinnedTable | None = None

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
