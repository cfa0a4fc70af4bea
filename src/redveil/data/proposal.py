"""What a draft proposes for one column, from the values it holds."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.data.columns import parse_number
from redveil.data.distinct import Value, label
from redveil.data.table import FloatArray
from redveil.schema import Attribute, Kind
from redveil.schema.cuts import MOST_BINS, CutRule, default_rule

MOST_CATEGORIES: Final = 50
# Beyond this a schema's bounds would be too far apart to be subtracted.
_LARGEST: Final = 8e307
_FAR_ABOVE_MEDIAN: Final = 50
_THREE_POWERS: Final = 1000
# So large a share of a column's values may be slips in a column of numbers.
_FEW_ODD: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The different values of a column and how often each occurs, int64[values].

    >>> Summary(["f", "m"], np.array([3, 4])).counts.sum()
    np.int64(7)
    """

    values: Sequence[Value]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed attribute, or None where a column is left out, and what was read off the data.

    >>> Proposal("left out: it holds no value").attribute is None
    True
    """

    remark: str
    attribute: Attribute | None = None
    rule: CutRule | None = None


def propose(name: str, summary: Summary | None, markers: Collection[str]) -> Proposal:
    """Propose an attribute for a column; a column that could not be read has no summary.

    >>> propose("sex", Summary(["f", "m", ""], np.array([3, 4, 1])), {""}).remark
    '2 categories read off the data; some values missing'
    """
    if summary is None:
        return Proposal("left out: neither texts nor numbers nor true and false")
    texts = [label(value) for value in summary.values]
    present = [i for i, text in enumerate(texts) if text is not None and text not in markers]
    if not present:
        return Proposal("left out: it holds no value")
    labels = {text for i in present if (text := texts[i]) is not None}
    required = len(present) == len(texts)
    note = "no value missing" if required else "some values missing"
    attribute = _boolean(name, labels)
    if attribute is not None:
        what = f"Boolean, because it holds {' and '.join(sorted(labels))} only"
        return Proposal(f"{what}; {note}", replace(attribute, required=required))
    numbers = [parse_number(summary.values[i], markers) for i in present]
    if all(number is not None for number in numbers):
        values = np.array(numbers, dtype=np.float64)
        return _numeric(name, values, summary.counts[present], required=required)
    if not 2 <= len(labels) <= MOST_CATEGORIES:
        return Proposal(f"left out: {_why_not(labels, numbers)}")
    attribute = Attribute(name, Kind.CATEGORICAL, required, categories=tuple(sorted(labels)))
    return Proposal(f"{len(labels)} categories read off the data; {note}", attribute)


def _why_not(labels: set[str], numbers: Sequence[float | None]) -> str:
    """Say why different values are neither numbers nor categories. What they are stays unsaid."""
    if len(labels) == 1:
        return "it holds one text only"
    odd = sum(number is None for number in numbers)
    if odd > _FEW_ODD * len(numbers):
        return "too many different texts"
    texts = "one text that is no number" if odd == 1 else f"{odd} texts that are no numbers"
    return f"numbers, but for {texts}; correct the file, or list them as missingValues"


def _boolean(name: str, labels: set[str]) -> Attribute | None:
    """Propose a Boolean for 0/1, true/false or yes/no, even if only one of the two occurs."""
    plain = Attribute(name, Kind.BOOLEAN)
    folded = {text.casefold() for text in labels}
    if folded <= {"0", "1", "0.0", "1.0"}:
        return plain
    for true, false in (("true", "false"), ("yes", "no")):
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


def _numeric(
    name: str, values: FloatArray, counts: NDArray[np.int64], *, required: bool
) -> Proposal:
    """Propose bounds and a rule for cut points."""
    finite = np.isfinite(values)
    values, counts = values[finite], counts[finite]
    if not values.size or values.min() == values.max():
        return Proposal("left out: it holds one number only")
    minimum, maximum = outward(float(values.min()), float(values.max()))
    integer = bool((values == np.floor(values)).all())
    rule = choose_rule(values, counts, minimum, maximum, integer=integer)
    cuts = rule.points(minimum, maximum)
    if not 1 <= len(cuts) < MOST_BINS:
        return Proposal("left out: its numbers are too close together to be cut")
    attribute = Attribute(name, Kind.NUMERIC, required, minimum=minimum, maximum=maximum, cuts=cuts)
    note = "no value missing" if required else "some values missing"
    what = "minimum and maximum read off the data, rounded outward"
    return Proposal(f"{what}; {note}", attribute, rule)


def outward(minimum: float, maximum: float) -> tuple[float, float]:
    """Round bounds outward to two digits of their range, so that they do not repeat the extremes.

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
    """Choose every integer of a short range, decades for a long tail, equal widths otherwise.

    >>> payments = np.array([0.0, 10, 500, 90_000])
    >>> choose_rule(payments, np.array([90, 5, 4, 1]), 0, 90_000, integer=True).method
    'decades'
    """
    rule = default_rule(minimum, maximum, integer=integer)
    if rule.method == "explicit" or not _is_heavy(np.abs(values), counts):
        return rule
    decades = CutRule("symmetric-decades" if minimum < 0 else "decades")
    return decades if 1 <= len(decades.points(minimum, maximum)) < MOST_BINS else rule


def _is_heavy(sizes: FloatArray, counts: NDArray[np.int64]) -> bool:
    """Whether the largest is far above the median, or most of the others are minute beside it."""
    largest = float(sizes.max())
    positive = sizes > 0
    small = _quantile(sizes[positive], counts[positive], 0.01)
    median = _quantile(sizes, counts, 0.5)
    return largest > _FAR_ABOVE_MEDIAN * median or largest > _THREE_POWERS * small


def _quantile(values: FloatArray, counts: NDArray[np.int64], share: float) -> float:
    """Return the smallest value that at least this share of the rows does not exceed."""
    order = np.argsort(values)
    below = np.cumsum(counts[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])
