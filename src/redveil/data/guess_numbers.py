"""Guess how the numbers of a column are written, for drafts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.data.columns import parse_number
from redveil.data.markers import Markers
from redveil.data.numbers import PLAIN
from redveil.data.summary import Summary
from redveil.schema.number_format import NumberFormat

# Space, no-break space, narrow no-break space; straight and curly apostrophe.
_GROUPS: Final = (" ", "\u00a0", "\u202f", "'", "\u2019")
_POINTS: Final = (PLAIN, NumberFormat(".", ","), *(NumberFormat(".", char) for char in _GROUPS))
_COMMAS: Final = (NumberFormat(",", "."), *(NumberFormat(",", char) for char in _GROUPS))


@dataclass(frozen=True, slots=True, eq=False)
class NumberGuess:
    """The likeliest format, and what it makes of the values.

    numbers:   the number of each value, None if it is not one
    read:      how many rows have a number
    ambiguous: whether another format reads as many rows, but as other numbers
    """

    written: NumberFormat
    numbers: Sequence[float | None]
    read: int
    ambiguous: bool = False

    @property
    def is_comma(self) -> bool:
        """Whether the values show that numbers have decimal commas."""
        return self.written.decimal_char == "," and not self.ambiguous


def guess_numbers(
    summary: Summary, present: Sequence[int], markers: Markers, *, comma: bool = False
) -> NumberGuess:
    """Guess the format that reads most rows as numbers.

    present: the values that are not missing
    comma:   whether decimal commas are likely in this table; settles what `1,234` and `1.234` are

    >>> summary = Summary(["1,5", "1.234,5"], np.array([3, 4]))
    >>> guess_numbers(summary, [0, 1], Markers.of([""])).written
    NumberFormat(decimal_char=',', group_char='.')
    """
    texts = [str(summary.values[i]) for i in present if summary.is_text(i)]
    counts = summary.counts[list(present)]
    guesses = [
        _guess(summary, present, markers, written, counts)
        for written in _candidates(texts, comma=comma)
    ]
    best = max(guesses, key=lambda guess: guess.read)
    others = [guess for guess in guesses if guess.read == best.read]
    ambiguous = any(list(other.numbers) != list(best.numbers) for other in others)
    return NumberGuess(_reduced(best, texts), best.numbers, best.read, ambiguous)


def _guess(
    summary: Summary,
    present: Sequence[int],
    markers: Markers,
    written: NumberFormat,
    counts: NDArray[np.int64],
) -> NumberGuess:
    numbers = [
        parse_number(summary.values[i], markers, written if summary.is_text(i) else PLAIN)
        for i in present
    ]
    # NaN differs from itself; numbers of two guesses are compared.
    clean = [
        math.inf if number is not None and math.isnan(number) else number for number in numbers
    ]
    is_number = np.array([number is not None for number in clean], dtype=np.bool_)
    return NumberGuess(written, clean, int(counts[is_number].sum()))


def _candidates(texts: Iterable[str], *, comma: bool) -> list[NumberFormat]:
    """Return the formats to try, the likeliest first, without those that cannot matter."""
    occurring = set().union(*map(set, texts))
    order = (*_COMMAS, *_POINTS) if comma else (*_POINTS, *_COMMAS)
    return [
        written
        for written in order
        if written.is_plain
        or written.group_char in occurring
        or (written.decimal_char == "," and "," in occurring)
    ]


def _reduced(guess: NumberGuess, texts: Sequence[str]) -> NumberFormat:
    """Return a format without characters that no number has."""
    read = [text for text in texts if guess.written.read(text.strip()) is not None]
    has_group, has_decimal = (
        any(char in text for text in read)
        for char in (guess.written.group_char or "\0", guess.written.decimal_char)
    )
    group = guess.written.group_char if has_group else ""
    decimal = guess.written.decimal_char if has_decimal or group == "." else "."
    return NumberFormat(decimal, group)


def are_commas_likely(guesses: Iterable[NumberGuess], delimiter: str | None) -> bool:
    """Return whether a table's numbers have decimal commas, by its other columns and delimiter.

    >>> are_commas_likely([], ";"), are_commas_likely([], ",")
    (True, False)
    """
    some = list(guesses)
    if any(guess.is_comma for guess in some):
        return True
    has_points = any(
        any(number is not None and number % 1 for number in guess.numbers)
        for guess in some
        if not guess.ambiguous
    )
    return delimiter == ";" and not has_points


def example(written: NumberFormat, *, integer: bool = False) -> str:
    """Return a number in a format, the same for all data.

    >>> example(NumberFormat(",", ".")), example(NumberFormat(","))
    ('1.234,5', '1,5')
    """
    whole = f"1{written.group_char}234" if written.group_char else "1"
    return whole if integer else f"{whole}{written.decimal_char}5"
