"""Propose an attribute for a column, for drafts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.data import guess_dates, guess_numbers
from redveil.data.distinct import label
from redveil.data.guess_dates import DateGuess, outward_days, usual_days
from redveil.data.guess_numbers import NumberGuess
from redveil.data.markers import Markers
from redveil.data.summary import Summary
from redveil.data.table import FloatArray
from redveil.schema import Attribute, Kind
from redveil.schema.cuts import MOST_BINS, CutRule, default_rule
from redveil.schema.date_format import DEFAULT
from redveil.schema.dates import (
    DatePeriod,
    DateRule,
    categories_of,
    default_period,
    period_cuts,
)

_PAIRS: Final = (
    *(("true", "false"), ("yes", "no"), ("y", "n")),
    *(("ja", "nein"), ("ja", "nee"), ("oui", "non"), ("sí", "no"), ("si", "no"), ("sì", "no")),
)
MOST_CATEGORIES: Final = 50
# The difference of two larger bounds would overflow.
_LARGEST: Final = 8e307
_FAR_ABOVE_MEDIAN: Final = 50
_THREE_POWERS: Final = 1000
# Up to this share of rows whose value is not a number or date, a column has slips.
_FEW_ODD: Final = 0.1


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed attribute, None if the column is left out, and a remark on it.

    cuts:  how to write its cut points, if not by themselves
    taken: the declarations that were taken from the data, besides how its values are written

    >>> Proposal("left out: no values").attribute is None
    True
    """

    remark: str
    attribute: Attribute | None = None
    cuts: CutRule | DatePeriod | None = None
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of a column that are not missing.

    >>> column = Column.of("sex", Summary(["f", "m", ""], np.array([3, 4, 1])), Markers.of([""]))
    >>> column.labels, column.note
    (('f', 'm'), 'some missing values')
    """

    name: str
    summary: Summary
    markers: Markers
    present: tuple[int, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, name: str, summary: Summary, markers: Markers) -> Column:
        """Return a column without the values that mean missing."""
        texts = [label(value) for value in summary.values]
        present = tuple(
            i for i, text in enumerate(texts) if text is not None and text not in markers.texts
        )
        return cls(name, summary, markers, present, tuple(texts[i] or "" for i in present))

    @property
    def required(self) -> bool:
        """Whether no value is missing."""
        return len(self.present) == len(self.summary.values)

    @property
    def note(self) -> str:
        """Whether values are missing, in words."""
        return "no missing values" if self.required else "some missing values"

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each value occurs, int64[present]."""
        return self.summary.counts[list(self.present)]

    def numbers(self, *, comma: bool = False) -> NumberGuess:
        """Guess how the values are written, if they are numbers."""
        return guess_numbers.guess_numbers(self.summary, self.present, self.markers, comma=comma)

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers in text, except for a few slips."""
        is_text = any(self.summary.is_text(i) for i in self.present)
        return is_text and self.has_few_odd(self.numbers().read)

    def has_few_odd(self, read: int) -> bool:
        """Return whether all rows but a few slips can be read as numbers or dates."""
        rows = int(self.counts.sum())
        return rows - read <= _FEW_ODD * rows


def propose(column: Column, *, comma: bool = False) -> Proposal:
    """Propose an attribute for a column.

    comma: whether decimal commas are likely in this table

    >>> summary = Summary(["f", "m", ""], np.array([3, 4, 1]))
    >>> propose(Column.of("sex", summary, Markers.of([""]))).remark
    '2 categories taken from the data; some missing values'
    """
    if not column.present:
        return Proposal("left out: no values")
    attribute = _boolean(column.name, set(column.labels))
    if attribute is not None:
        plural = "values are" if len(set(column.labels)) > 1 else "value is"
        listed = " and ".join(sorted(set(column.labels)))
        return _proposal(f"Boolean, because its only {plural} {listed}", column, attribute)
    numbers = column.numbers(comma=comma)
    if column.has_few_odd(numbers.read):
        return _numeric(column, numbers, comma=comma)
    dates = guess_dates.guess_dates(column.summary, column.present)
    if column.has_few_odd(dates.read):
        return _dated(column, dates)
    return _categorical(column)


def _proposal(
    what: str,
    column: Column,
    attribute: Attribute,
    cuts: CutRule | DatePeriod | None = None,
    *taken: str,
    odd: int = 0,
) -> Proposal:
    """Return a proposal; slips count as missing."""
    required = column.required and not odd
    whether = ("required",) if required else ()
    note = column.note.replace("no", "no other") if column.required and odd else column.note
    return Proposal(
        f"{what}; {note}", replace(attribute, required=required), cuts, (*taken, *whether)
    )


def _categorical(column: Column) -> Proposal:
    labels = sorted(set(column.labels))
    if len(labels) == 1:
        return Proposal("left out: only one distinct value")
    if len(labels) > MOST_CATEGORIES:
        return Proposal("left out: too many distinct values")
    attribute = Attribute(column.name, Kind.CATEGORICAL, categories=tuple(labels))
    what = f"{len(labels)} categories taken from the data"
    return _proposal(what, column, attribute, None, "enum")


def _boolean(name: str, labels: set[str]) -> Attribute | None:
    """Propose a Boolean for 0/1, true/false, yes/no and the like, even if only one occurs."""
    plain = Attribute(name, Kind.BOOLEAN)
    folded = {text.casefold() for text in labels}
    if folded <= {"0", "1", "0.0", "1.0"}:
        return plain
    for true, false in _PAIRS:
        if folded <= {true, false}:
            if labels <= {*plain.true_values, *plain.false_values}:
                return plain
            return Attribute(
                name,
                Kind.BOOLEAN,
                true_values=tuple(sorted({true, *(t for t in labels if t.casefold() == true)})),
                false_values=tuple(sorted({false, *(t for t in labels if t.casefold() == false)})),
            )
    return None


def _numeric(column: Column, guess: NumberGuess, *, comma: bool) -> Proposal:
    """Propose bounds and a rule for cut points."""
    is_number = np.array([number is not None for number in guess.numbers], dtype=np.bool_)
    odd, odd_rows = int(np.count_nonzero(~is_number)), int(column.counts[~is_number].sum())
    values = np.array([n for n in guess.numbers if n is not None], dtype=np.float64)
    finite = np.isfinite(values)
    values, counts = values[finite], column.counts[is_number][finite]
    if not values.size or values.min() == values.max():
        return Proposal("left out: only one distinct value")
    if values.min() >= _LARGEST or values.max() <= -_LARGEST:
        return Proposal("left out: numbers too large for bounds")
    if odd and set(np.unique(values)) == {0.0, 1.0}:
        what = f"Boolean: 0 and 1{_except(odd, odd_rows)}"
        return _proposal(what, column, Attribute(column.name, Kind.BOOLEAN), odd=odd)
    minimum, maximum = outward(float(values.min()), float(values.max()))
    integer = bool((values == np.floor(values)).all())
    rule = choose_rule(values, counts, minimum, maximum, integer=integer)
    cuts = rule.points(minimum, maximum, integer=integer)
    if not 1 <= len(cuts) < MOST_BINS:
        return Proposal("left out: values too close together for cut points")
    attribute = Attribute(
        column.name,
        Kind.NUMERIC,
        minimum=minimum,
        maximum=maximum,
        cuts=cuts,
        integer=integer,
        decimal_char=guess.written.decimal_char,
        group_char=guess.written.group_char,
    )
    what = _number_words(guess, _except(odd, odd_rows), integer=integer, comma=comma)
    what += "minimum and maximum taken from the data, rounded outwards"
    # Which rule fits was seen in the data, unless it is the one for all numbers.
    is_usual = rule == default_rule(minimum, maximum, integer=integer)
    taken = ("minimum", "maximum", *(() if is_usual else ("cuts",)))
    return _proposal(what, column, attribute, rule, *taken, odd=odd)


def _except(odd: int, rows: int) -> str:
    """Return how many rows cannot be read; odd is the number of their distinct values."""
    if not odd:
        return ""
    what = "1 row, which counts" if rows == 1 else f"{rows:,} rows, which count"
    texts = "all the same text" if odd == 1 else f"{odd:,} distinct texts"
    return f" except for {what} as missing" + ("" if rows == 1 else f" ({texts})")


def _number_words(guess: NumberGuess, slips: str, *, integer: bool, comma: bool) -> str:
    """Say how numbers are written, if it is not the usual way, with an example that is no value.

    slips: the rows that are not numbers, in words
    """
    kind = "integers" if integer else "numbers"
    written = guess.written
    if written.is_plain:
        return f"{kind}{slips}; " if integer or slips else ""
    what, other = "decimal commas", "groups of digits"
    if written.group_char:
        what, other = other, "decimals"
    doubt = ""
    if guess.ambiguous:
        likely = "likely" if comma else "unlikely"
        doubt = f" (could be {other}, but decimal commas are {likely} in this table: check it)"
    like = guess_numbers.example(written, integer=integer)
    return f"{kind} with {what}, as in {like}{doubt}{slips}; "


def _dated(column: Column, guess: DateGuess) -> Proposal:
    """Propose bounds and a period for the cuts of dates."""
    known = [day for day in guess.days if day is not None]
    days = usual_days(known)
    if len(set(days)) < 2:
        return Proposal("left out: only one distinct date")
    years = default_period(min(days), max(days)) == "years"
    minimum, maximum = outward_days(min(days), max(days), whole_years=years)
    if guess.type == "yearmonth":
        maximum = maximum.replace(day=1)
    period = default_period(minimum, maximum)
    cuts = period_cuts(period, minimum, maximum)
    attribute = Attribute(
        column.name,
        Kind.ORDINAL,
        categories=categories_of(cuts, maximum),
        date=DateRule(minimum, maximum, guess.type, guess.format),
    )
    odd = len(guess.days) - len(known)
    rows = sum(int(n) for day, n in zip(guess.days, column.counts, strict=True) if day is None)
    what = f"dates{_date_words(guess)}, cut at {period}{_except(odd, rows)}"
    if len(days) < len(known):
        what += "; dates far away are outside the bounds"
    unit = "years" if years else "months"
    what += f"; minimum and maximum taken from the data, rounded to whole {unit}"
    return _proposal(what, column, attribute, period, "minimum", "maximum", "cuts", odd=odd)


def _date_words(guess: DateGuess) -> str:
    written = "" if guess.format == DEFAULT else f" as in {guess_dates.example(guess.format)}"
    doubt = " (day and month could be swapped: check the format)" if guess.ambiguous else ""
    return written + doubt


def outward(minimum: float, maximum: float) -> tuple[float, float]:
    """Round bounds outwards to two digits of their range, so that they are not the extremes.

    >>> outward(0, 164_220)
    (0.0, 170000.0)
    >>> outward(-0.123, 0.4567)
    (-0.13, 0.46)
    """
    low, high = max(minimum, -_LARGEST), min(maximum, _LARGEST)
    digit = Decimal((0, (1,), math.floor(math.log10(high - low)) - 1))
    floor = (Decimal(repr(float(low))) / digit).to_integral_value(ROUND_FLOOR) * digit
    ceiling = (Decimal(repr(float(high))) / digit).to_integral_value(ROUND_CEILING) * digit
    return float(floor) + 0.0, float(ceiling) + 0.0


def choose_rule(
    values: FloatArray,
    counts: NDArray[np.int64],
    minimum: float,
    maximum: float,
    *,
    integer: bool,
) -> CutRule:
    """Choose every integer of a short range, decades for a heavy tail, otherwise equal widths.

    >>> payments = np.array([0.0, 10, 500, 90_000])
    >>> choose_rule(payments, np.array([90, 5, 4, 1]), 0, 90_000, integer=True).method
    'decades'
    """
    rule = default_rule(minimum, maximum, integer=integer)
    if rule.method == "explicit" or not _is_heavy(np.abs(values), counts):
        return rule
    decades = CutRule("symmetric-decades" if minimum < 0 else "decades")
    fits = 1 <= len(decades.points(minimum, maximum, integer=integer)) < MOST_BINS
    return decades if fits else rule


def _is_heavy(sizes: FloatArray, counts: NDArray[np.int64]) -> bool:
    """Return whether the largest value is far above the median or the smallest values."""
    largest = float(sizes.max())
    positive = sizes > 0
    small = _quantile(sizes[positive], counts[positive], 0.01)
    median = _quantile(sizes, counts, 0.5)
    return largest > _FAR_ABOVE_MEDIAN * median or largest > _THREE_POWERS * small


def _quantile(values: FloatArray, counts: NDArray[np.int64], share: float) -> float:
    """Return the smallest value that is not exceeded in at least this share of the rows."""
    order = np.argsort(values)
    below = np.cumsum(counts[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])
