"""What was found, in sentences that a reader understands who has never heard of an index."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from redveil.privacy.promise import AS_PUBLISHED
from redveil.query.json_form import from_json
from redveil.report.document import (
    GivenPart,
    IntervalPart,
    QueryPart,
    RedescriptionPart,
    ResultDocument,
)
from redveil.report.page.phrases import Phrases
from redveil.report.released import CONFIRM, DESCRIBE, REFINE
from redveil.schema import Side
from redveil.schema.view import plural

SPACE: Final = "\N{NO-BREAK SPACE}"


class Words(str):
    """A piece of a sentence: plain words, or a query in words if it has a side."""

    __slots__ = ("side",)
    side: Side | None

    def __new__(cls, text: str, side: Side | None = None) -> Words:
        """Return a piece of a sentence."""
        made = super().__new__(cls, text)
        made.side = side
        return made


Sentence = list[Words]


@dataclass(frozen=True, slots=True)
class Told:
    """A redescription in words."""

    left: str
    right: str
    first: Sentence
    second: Sentence

    @property
    def text(self) -> str:
        """Both sentences, as text."""
        return f"{''.join(self.first)} {''.join(self.second)}"


class Teller:
    """Tells what a result says, with its unit and its attributes' titles."""

    def __init__(self, document: ResultDocument) -> None:
        self.document = document
        self.unit = document.certificate.unit
        self.units = plural(self.unit)
        declared = document.attributes
        self.phrases = {
            Side.LEFT: Phrases.of(declared.left),
            Side.RIGHT: Phrases.of(declared.right),
        }
        pairs = document.tree_pairs
        left, right = (pairs[0].left.view, pairs[0].right.view) if pairs else ("", "")
        self.views = {
            Side.LEFT: left or "the left table",
            Side.RIGHT: right or "the right table",
        }

    @property
    def total(self) -> float | None:
        """The noisy number of entities, from the certificate or else from the first table."""
        if self.document.entities is not None:
            return self.document.entities.estimate
        pairs = self.document.tree_pairs
        return sum(map(sum, pairs[0].leaf_table.fitted)) if pairs else None

    def words(self, query: QueryPart, side: Side) -> str:
        """Return a query in words."""
        return self.phrases[side].phrase(from_json(query.tree))

    def given(self, given: GivenPart) -> Iterator[Words]:
        """Yield queries that a person gave, in words."""
        sides = (Side.LEFT, given.left), (Side.RIGHT, given.right)
        said = [Words(self.words(one, side), side) for side, one in sides if one is not None]
        for number, one in enumerate(said):
            if number:
                yield Words(" and ")
            yield one

    def told(self, one: RedescriptionPart) -> Told:
        """Return a redescription in words."""
        left = Words(self.words(one.left, Side.LEFT), Side.LEFT)
        right = Words(self.words(one.right, Side.RIGHT), Side.RIGHT)
        support = one.support
        return Told(
            left,
            right,
            self._sentence(one, (left, support.left), (right, support.right)),
            self._sentence(one, (right, support.right), (left, support.left), again=True),
        )

    def _sentence(
        self,
        one: RedescriptionPart,
        about: tuple[Words, IntervalPart],
        other: tuple[Words, IntervalPart],
        *,
        again: bool = False,
    ) -> Sentence:
        (phrase, size), (found, others) = about, other
        start = "The other way round, of" if again else "Of"
        counted = f"{start} about {rounded_count(size)} {self.units} with "
        sentence = [Words(counted), phrase, Words(", ")]
        part = share(one.support.both, size, one.jaccard.low)
        sentence += [Words(f"{part} have "), found]
        if self.total and self.total > 0:
            among = _percent(min(max(others.estimate, 0) / self.total, 1))
            these = "" if self.document.certificate.within is None else "these "
            sentence.append(Words(f", compared with {among} of all {these}{self.units}"))
        return [*sentence, Words(".")]

    def lead(self) -> Iterator[Sentence]:
        """Yield what was asked, of how many, and how to take the numbers."""
        certificate, found = self.document.certificate, len(self.document.redescriptions)
        yield [*self._task(), *self._outcome(found)]
        if certificate.within is not None:
            within = self.given(certificate.within)
            yield [Words(f"It is only about {self.units} with "), *within, Words(".")]
        if found:
            why = f": it protects every single {self.unit}" if self.is_private else ""
            yield [
                Words(
                    f"All numbers carry random noise on purpose{why}. Ranges allow for the noise; "
                    f"all of them together hold with 95{SPACE}% confidence."
                )
            ]

    @property
    def is_private(self) -> bool:
        """Whether nothing is known that breaks the promise."""
        certificate = self.document.certificate
        broken = certificate.unmet or self.document.warning
        return not broken and certificate.guarantee != AS_PUBLISHED

    def _task(self) -> Sentence:
        certificate = self.document.certificate
        named = [] if certificate.given is None else list(self.given(certificate.given))
        left, right = (Words(self.views[side], side) for side in Side)
        both = [left, Words(" and "), right]
        if certificate.algorithm == CONFIRM:
            start = "Findings of an earlier result were measured again, on "
            return [Words(f"{start}{self._crowd('other ')}, in "), *both, Words(".")]
        if certificate.algorithm == DESCRIBE and certificate.given is not None:
            side = Side.RIGHT if certificate.given.left is not None else Side.LEFT
            searched = Words(self.views[side], side)
            what = f" of {self._crowd()} was searched for what best describes those with "
            return [Words("The table "), searched, Words(what), *named, Words(".")]
        if certificate.algorithm == REFINE and named:
            where = f" were looked at more closely, among {self._crowd()}, in "
            return [Words("Those with "), *named, Words(where), *both, Words(".")]
        return [
            Words(f"Two tables about the same {self.units}, "),
            *both,
            Words(
                f", were searched for pairs of descriptions, one from each, that fit nearly the "
                f"same {self.units}.{self._in_all()}"
            ),
        ]

    def _in_all(self) -> str:
        return f" There are {self._crowd()} in all." if self.total else ""

    def _crowd(self, other: str = "") -> str:
        entities = self.document.entities
        if entities is not None:
            return f"about {rounded_count(entities)} {other}{self.units}"
        return f"about {_thousands(self.total or 0)} {other}{self.units}"

    def _outcome(self, found: int) -> Sentence:
        if self.document.certificate.algorithm == CONFIRM:
            return []
        if not found:
            return [Words(" Nothing stood out clearly from the noise.")]
        pairs = "such pair was" if found == 1 else "such pairs were"
        if self.document.certificate.algorithm in (DESCRIBE, REFINE):
            pairs = "answer was" if found == 1 else "answers were"
        return [Words(f" {_number_word(found)} {pairs} found.")]


def share(both: IntervalPart, size: IntervalPart, least: float) -> str:
    """Return which part of a support the overlap is, with its range.

    least: the lower end of the Jaccard index, below which neither part can be
    """
    if size.estimate < 1:
        return "hardly any"
    estimate = _clipped(both.estimate / size.estimate)
    low = max(_clipped(both.low / size.high) if size.high > 0 else 0.0, _clipped(least))
    high = _clipped(both.high / size.low) if size.low > 0 else 1.0
    # The estimate may be outside of what its parts allow, by rounding.
    low, high = min(low, estimate), max(high, estimate)
    return f"about {_percent(estimate)} ({100 * low:.0f}{SPACE}to{SPACE}{_percent(high)})"


def rounded_count(count: IntervalPart) -> str:
    """Return a count, with no more digits than the noise leaves.

    >>> rounded_count(IntervalPart(estimate=1137, low=848, high=1426))
    '1,140'
    >>> rounded_count(IntervalPart(estimate=342, low=327, high=357))
    '342'
    """
    return _thousands(count.estimate, (count.high - count.low) / 2)


def _thousands(count: float, spread: float = 0.0) -> str:
    unit = 10 ** math.floor(math.log10(max(spread / 3, 1))) if math.isfinite(spread) else 1
    return f"{max(round(count / unit) * unit, 0):,}"


def _clipped(ratio: float) -> float:
    return min(max(ratio, 0.0), 1.0)


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f}{SPACE}%"


def _number_word(count: int) -> str:
    words = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
    return words[count] if count < len(words) else f"{count:,}"
