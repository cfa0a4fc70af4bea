"""What a list of redescriptions is worth, one entity at a time and with exact fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from oracle.query_rows import Row, evaluate_row
from redveil.query.formula import literal_count
from redveil.query.json_form import from_json
from redveil.report.document import AttributePart
from redveil.report.result import Result


@dataclass(frozen=True)
class Entry:
    """One entry of a list, on the true rows."""

    jaccard: float
    corrected: float
    p_value: float
    novelty: float
    literals: int
    share: float


def judge(result: Result, left: Sequence[Row], right: Sequence[Row]) -> list[Entry]:
    """Judge the entries of a list, given the same entities in both views."""
    document = result.document
    orders = [
        {one.name: one.categories for one in side if one.kind == "ordinal"}
        for side in (document.attributes.left, document.attributes.right)
    ]
    told: list[tuple[tuple[bool, bool], ...]] = [() for _ in left]
    entries = []
    for one in result:
        queries = from_json(one.left.tree), from_json(one.right.tree)
        says = [
            (
                evaluate_row(queries[0], row, orders[0]) is True,
                evaluate_row(queries[1], other, orders[1]) is True,
            )
            for row, other in zip(left, right, strict=True)
        ]
        after = [(*before, now) for before, now in zip(told, says, strict=True)]
        entries.append(_entry(says, told, after, sum(map(literal_count, queries))))
        told = after
    return entries


def _entry(says: list[tuple[bool, bool]], told: list[Any], after: list[Any], length: int) -> Entry:
    n = len(says)
    lefts, rights = (sum(pair[side] for pair in says) for side in (0, 1))
    both = sum(pair == (True, True) for pair in says)
    either = sum(any(pair) for pair in says)
    jaccard = Fraction(both, either) if either else Fraction(0)
    in_both = Fraction(lefts, n) * Fraction(rights, n)
    in_either = Fraction(lefts + rights, n) - in_both
    chance = in_both / in_either if in_either else Fraction(0)
    ways = sum(
        math.comb(lefts, k) * math.comb(n - lefts, rights - k)
        for k in range(both, min(lefts, rights) + 1)
        if rights - k >= 0
    )
    own = entropy(says)
    return Entry(
        float(jaccard),
        float((jaccard - chance) / (1 - chance)) if chance < 1 else 0.0,
        float(Fraction(ways, math.comb(n, rights))),
        (entropy(after) - entropy(told)) / own if own else 0.0,
        length,
        max(lefts, rights) / n,
    )


def entropy(classes: Sequence[Any]) -> float:
    """Return the entropy of a division into classes, in nats."""
    counts = Counter(classes).values()
    return -math.fsum(c / len(classes) * math.log(c / len(classes)) for c in counts)


def typed(text: str | None, attribute: AttributePart) -> bool | float | str | None:
    """Return the value that a text in a file stands for, None if it is missing."""
    if text is None or text.strip() == "":
        return None
    match attribute.kind:
        case "boolean":
            answers = {
                "true": True,
                "yes": True,
                "1": True,
                "false": False,
                "no": False,
                "0": False,
            }
            return answers.get(text.lower())
        case "numeric":
            try:
                number = float(text)
            except ValueError:
                return None
            return None if math.isnan(number) else number
        case _:
            return text if text in attribute.categories else None


def typed_rows(
    rows: Sequence[Mapping[str, str | None]], attributes: Sequence[AttributePart]
) -> list[Row]:
    """Return rows of texts as rows of values."""
    return [{one.name: typed(row[one.name], one) for one in attributes} for row in rows]
