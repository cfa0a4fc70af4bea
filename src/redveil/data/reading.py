"""How the values of a column were read, and which codes were not read as declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.data.distinct import label
from redveil.data.table import BoolArray, ByteArray

# A byte has two bits for the reading, and six for the number of the value.
_BITS: Final = 2
#: So many values are told apart; of more, the most frequent.
MOST_NAMED: Final = 63
# The most frequent of so many values are found by looking at some of them only.
_SAMPLE: Final = 10_000


class Reading(IntEnum):
    """How a value was read.

    >>> Reading(0)
    <Reading.AS_DECLARED: 0>
    """

    AS_DECLARED = 0
    OUTSIDE = 1
    UNDECLARED = 2
    UNREADABLE = 3


@dataclass(frozen=True, slots=True)
class ValueCount:
    """A number or date that was not read as declared, and how often it was there. Private.

    >>> ValueCount(Reading.OUTSIDE, "-9", 1140).value
    '-9'
    """

    reading: Reading
    value: str
    count: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Readings:
    """How the values of a column were read. Private.

    Values that are not as declared are often codes, as -9 for "no answer", so the few most frequent
    of them are told apart. Only numbers and dates are: a text may say anything about anybody.

    codes: uint8[N]: a Reading, and four times the value's number among the named, from 1
    named: the values as text, at most `MOST_NAMED`

    >>> readings = Readings(np.array([0, 5, 5, 3], np.uint8), ("-9",))
    >>> readings.times(), readings.values()
    ([1, 2, 0, 1], [ValueCount(reading=<Reading.OUTSIDE: 1>, value='-9', count=2)])
    """

    codes: ByteArray
    named: tuple[str, ...] = ()

    @classmethod
    def of_numbers(cls, numbers: NDArray[np.floating], codes: ByteArray) -> Readings:
        """Tell apart the numbers outside their bounds, which the codes mark, in place.

        >>> Readings.of_numbers(np.array([-9.0, 2.0]), np.array([1, 0], np.uint8)).named
        ('-9',)
        """
        where = np.flatnonzero(codes == Reading.OUTSIDE)
        if not len(where):
            return cls(codes)
        outside = numbers[where].astype(np.float64)
        some = outside[:: len(outside) // _SAMPLE + 1]
        found, times = np.unique(some, return_counts=True)
        common = np.sort(found[np.argsort(-times, kind="stable")[:MOST_NAMED]])
        place = np.minimum(np.searchsorted(common, outside), len(common) - 1)
        number = np.where(common[place] == outside, place + 1, 0)
        codes[where] |= (number << _BITS).astype(np.uint8)
        return cls(codes, tuple(label(float(one)) or "" for one in common))

    @classmethod
    def numbered(cls, reading: Reading, number: int) -> int:
        """Return the code of a value with a number.

        >>> Readings.numbered(Reading.OUTSIDE, 1)
        5
        """
        return reading | number << _BITS

    @classmethod
    def joined(cls, parts: Sequence[Readings]) -> Readings:
        """Return how the values of several pieces were read, one after the other.

        >>> both = [Readings(np.array([5], np.uint8), (name,)) for name in ("-9", "77")]
        >>> joined = Readings.joined(both)
        >>> joined.codes.tolist(), joined.named
        ([5, 9], ('-9', '77'))
        """
        if len(parts) == 1:
            return parts[0]
        alike = _alike(parts)
        codes = [one.codes for one in alike]
        return cls(
            np.concatenate(codes) if codes else np.zeros(0, dtype=np.uint8),
            alike[0].named if alike else (),
        )

    def otherwise(self, other: Readings, where: BoolArray) -> Readings:
        """Return how the values were read, for some rows as another one says, bool[N].

        >>> one, other = (Readings(np.array([x, x], np.uint8)) for x in (0, 3))
        >>> one.otherwise(other, np.array([False, True])).codes.tolist()
        [0, 3]
        """
        one, another = _alike([self, other])
        return Readings(np.where(where, another.codes, one.codes), one.named)

    def take(self, rows: NDArray[np.int64]) -> Readings:
        """Return how the values of some rows were read.

        >>> Readings(np.array([0, 3], np.uint8)).take(np.array([1])).codes.tolist()
        [3]
        """
        # Nearly always, all values are read as declared.
        codes = self.codes[rows] if self.codes.any() else np.zeros(len(rows), dtype=np.uint8)
        return Readings(codes, self.named)

    def is_(self, reading: Reading) -> BoolArray:
        """Return which values were read in one way, bool[N].

        >>> Readings(np.array([0, 5], np.uint8), ("-9",)).is_(Reading.OUTSIDE).tolist()
        [False, True]
        """
        found: BoolArray = np.equal(self.codes & ((1 << _BITS) - 1), reading)
        return found

    def times(self) -> list[int]:
        """Return how many values were read in each way."""
        return [int(one) for one in _table(self.codes).sum(axis=0)]

    def values(self) -> list[ValueCount]:
        """Return how often each of the named values was there, the most frequent first."""
        table = _table(self.codes)
        found = Counter[tuple[Reading, str]]()
        for number, value in enumerate(self.named, start=1):
            for reading in Reading:
                found[reading, value] += int(table[number, reading])
        return in_order(found)


def in_order(counts: Counter[tuple[Reading, str]]) -> list[ValueCount]:
    """Return counts of values, without those that are 0, the most frequent first.

    >>> in_order(Counter({(Reading.OUTSIDE, "7"): 1, (Reading.OUTSIDE, "8"): 2}))[0].value
    '8'
    """
    found = [ValueCount(reading, value, n) for (reading, value), n in counts.items() if n]
    return sorted(found, key=lambda one: (-one.count, one.reading, one.value))


def _table(codes: ByteArray) -> NDArray[np.int64]:
    """Return how many values have each number and reading, int64[1 + MOST_NAMED, readings]."""
    # Counting bytes takes much longer than finding that there is nothing to count.
    odd = codes[np.flatnonzero(codes)]
    times = np.bincount(odd, minlength=256).astype(np.int64)
    times[Reading.AS_DECLARED] = len(codes) - len(odd)
    return times.reshape(-1, len(Reading))


def _alike(parts: Sequence[Readings]) -> list[Readings]:
    """Return the same readings with the same named values, the most frequent of all."""
    if len({one.named for one in parts}) <= 1:
        return list(parts)
    total = Counter[str]()
    for one in parts:
        for number, times in enumerate(_table(one.codes).sum(axis=1)[1:].tolist()):
            if times:
                total[one.named[number]] += times
    named = tuple(value for value, _ in total.most_common(MOST_NAMED))
    number_of = {value: number for number, value in enumerate(named, start=1)}
    alike = []
    for one in parts:
        renumbered = [0, *(number_of.get(value, 0) for value in one.named)]
        renumbered += [0] * (MOST_NAMED + 1 - len(renumbered))
        table = np.array(
            [Readings.numbered(way, number) for number in renumbered for way in Reading], np.uint8
        )
        alike.append(Readings(table[one.codes] if one.named else one.codes, named))
    return alike
