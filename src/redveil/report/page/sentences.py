"""What was found, in sentences that a reader understands who has never heard of an index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from redveil.findings.critical_values import MOST_REPORTED, union_count
from redveil.findings.released_table import ReleasedTable
from redveil.losses.promise import AS_PUBLISHED
from redveil.query.json_form import from_json
from redveil.report.document import (
    CONFIRM,
    GivenPart,
    IntervalPart,
    QueryPart,
    RedescriptionPart,
    ResultDocument,
)
from redveil.report.page.addition import Addition, addition_of, contributions
from redveil.report.page.counts import Counts, rounded_count
from redveil.report.page.phrases import Phrases
from redveil.report.page.strength import is_doubtful, likeness, strength
from redveil.report.released import DESCRIBE, REFINE, released_tables
from redveil.schema import Side
from redveil.schema.view import plural

SPACE: Final = "\N{NO-BREAK SPACE}"
#: Where the page says on which conditions its promise rests.
CONDITIONS: Final = "conditions"


class Words(str):
    """A piece of a sentence: plain words, a query in words if it has a side, or a link."""

    __slots__ = ("link", "side")
    side: Side | None
    link: str | None

    def __new__(cls, text: str, side: Side | None = None, link: str | None = None) -> Words:
        """Return a piece of a sentence. `link` is a place in the page."""
        made = super().__new__(cls, text)
        made.side = side
        made.link = link
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


@dataclass(frozen=True, slots=True)
class _About:
    """One of the two descriptions: how many it fits, and which part of them fit the other."""

    phrase: Words
    count: int
    share: str


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
            Side.LEFT: "the left table" if left in ("", "left") else left,
            Side.RIGHT: "the right table" if right in ("", "right") else right,
        }

    @property
    def total(self) -> float | None:
        """The noisy number of entities, from the certificate or else from the first table."""
        if self.document.entities is not None:
            return self.document.entities.estimate
        pairs = self.document.tree_pairs
        return sum(map(sum, pairs[0].leaf_table.fitted)) if pairs else None

    @property
    def crowd(self) -> int:
        """The noisy number of entities as it is printed; 0 if it is not known."""
        entities = self.document.entities
        return rounded_count(entities) if entities is not None else max(round(self.total or 0), 0)

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
        counts, support = Counts.of(one.support), one.support

        def about(phrase: Words, count: int, whole: IntervalPart) -> _About:
            part = share((counts.both, count), support.both, whole, one.jaccard.low)
            return _About(phrase, count, part)

        about_left = about(left, counts.left, support.left)
        about_right = about(right, counts.right, support.right)
        return Told(
            left,
            right,
            self._sentence(about_left, about_right, counts.both),
            self._sentence(about_right, about_left, counts.both, again=True),
        )

    def addition(self, one: RedescriptionPart) -> Sentence | None:
        """Return what a detail says about a part of its story, or of the story's opposite.

        None if it is no detail, or if its queries have to speak for themselves.
        """
        found = addition_of(self.document, self._tables, one)
        return None if found is None else self._compared(found)

    def contributions(self, one: RedescriptionPart) -> list[Sentence]:
        """Return what the last of several conditions contributes, on each side."""
        found = contributions(self.document, self._tables, one)
        return [self._compared(each) for each in found]

    def sentences(self, one: RedescriptionPart) -> list[Sentence]:
        """Return all that is said of a redescription, what matters most first."""
        told, added = self.told(one), self.addition(one)
        if added is not None:
            return [added, told.first, told.second]
        return [told.first, told.second, *self.contributions(one)]

    def _compared(self, found: Addition) -> Sentence:
        about, new = (
            {side: Words(self.phrases[side].phrase(query), side) for side, query in some.items()}
            for some in (found.about, found.new)
        )
        sentence = [Words(f"Among {self.units} with ")]
        for number, each in enumerate(about.values()):
            sentence += [Words(" and "), each] if number else [each]
        return [
            *sentence,
            Words(f", about {_percent(found.share)} of those with "),
            new[found.first],
            Words(" have "),
            new[found.first.other],
            Words(f", compared with about {_percent(found.others)} of the others."),
        ]

    @cached_property
    def _tables(self) -> tuple[ReleasedTable, ...]:
        return released_tables(self.document)

    def _sentence(
        self, about: _About, other: _About, both: int, *, again: bool = False
    ) -> Sentence:
        start = "The other way round, of" if again else "Of"
        sentence = [
            Words(f"{start} about {about.count:,} {self.units} with "),
            about.phrase,
            Words(f", {about.share} have "),
            other.phrase,
        ]
        others = self.crowd - about.count
        if others > 0:
            among = _percent(min((other.count - both) / others, 1))
            sentence.append(Words(f", compared with about {among} of the others"))
        return [*sentence, Words(".")]

    def lead(self) -> Iterator[Sentence]:
        """Yield what was asked, of how many, and how much was found."""
        certificate, found = self.document.certificate, len(self.document.redescriptions)
        yield [*self._task(), *self._outcome(found)]
        if certificate.within is not None:
            within = self.given(certificate.within)
            yield [Words(f"It is only about {self.units} with "), *within, Words(".")]

    def caution(self) -> Iterator[list[Sentence]]:
        """Yield how to take the numbers, in paragraphs: what the noise is for, and what it does."""
        if self.document.redescriptions:
            yield [self._noise(), *self._strength()]
            yield [[Words(self._ranges())]]

    def _strength(self) -> list[Sentence]:
        return [[Words(strength(self.document.certificate))]] if self.is_private else []

    def _noise(self) -> Sentence:
        sentence = [Words("Random noise was added to all counts, on purpose")]
        if self.is_private:
            sentence.append(Words(f": it limits what can be learned about any one {self.unit}, "))
            sentence.append(Words("on the conditions below", link=CONDITIONS))
        return [*sentence, Words(".")]

    def _ranges(self) -> str:
        """Return what ranges claim, and no more than that."""
        depth = "" if self.ranges_are_proved else " (for trees as deep as these, as measured)"
        return (
            "The list measures how alike two descriptions are by the Jaccard index: of the "
            f"{self.units} that fit either, the share that fits both. Because of the noise, every "
            "share and every index has a range. In at least 95 of 100 such runs, all of these "
            f"ranges at once contain the values without noise{depth}. They allow for this noise "
            f"only: if these {self.units} are a sample, ordinary sampling error comes on top."
        )

    @property
    def ranges_are_proved(self) -> bool:
        """Whether the list's intervals are those of free questions, which hold for all unions."""
        return all(
            union_count(one.left.tree) * union_count(one.right.tree) <= MOST_REPORTED
            for one in self._tables
        )

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
            other, beyond = "", ", possibly the same ones"
            if certificate.others:
                other, beyond = "other ", ""
            elif certificate.is_another_dataset:
                beyond = " of another data set"
            return [Words(f"{start}{self._crowd(other)}{beyond}, in "), *both, Words(".")]
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
                f", were searched for pairs of descriptions, one from each, that fit the same "
                f"{self.units} as nearly as possible.{self._in_all()}"
            ),
        ]

    def measured_again(self) -> str:
        """Return whom a list was measured on again, as far as that is known."""
        certificate = self.document.certificate
        if certificate.others:
            return f"{self.units} who are others, as the owner vouches"
        if certificate.is_another_dataset:
            return f"{self.units} of another data set, who may be the same"
        return f"possibly the same {self.units}"

    def _in_all(self) -> str:
        return f" There are {self._crowd()} in all." if self.crowd else ""

    def _crowd(self, other: str = "") -> str:
        return f"about {self.crowd:,} {other}{self.units}"

    def _outcome(self, found: int) -> Sentence:
        if self.document.certificate.algorithm == CONFIRM:
            return []
        if not found:
            return [Words(" Nothing stood out clearly from the noise.")]
        asked = self.document.certificate.algorithm in (DESCRIBE, REFINE)
        what = ("answer" if asked else "pair") + ("" if found == 1 else "s")
        return [Words(f" The search found {_number_word(found)} {what}: {self._alike()}.")]

    def _alike(self) -> str:
        """Return how many pairs are how much alike, the most alike first."""
        found = sorted(self.document.redescriptions, key=lambda one: -one.corrected.estimate)
        kinds = Counter(likeness(one) for one in found if not is_doubtful(one))
        doubts = len(found) - kinds.total()
        if len(found) == 1:
            said = [f"its descriptions {one}" for one in kinds] or ["it is not confirmed"]
        else:
            said = [
                f"{_number_word(count)} {_agreeing(kind, count)}" for kind, count in kinds.items()
            ]
            more = f"{_number_word(doubts)} {'is' if doubts == 1 else 'are'} not confirmed"
            said += [more] * (doubts > 0)
        text = "; ".join(said) if len(said) > 2 else " and ".join(said)
        return text.format(units=self.units)


def share(
    printed: tuple[int, int], overlap: IntervalPart, support: IntervalPart, least: float
) -> str:
    """Return which part of a support the overlap is, with its range.

    printed: the overlap and the support as they are printed
    least:   the lower end of the Jaccard index, below which neither part can be
    """
    both, size = printed
    if size < 1:
        return "hardly any"
    estimate = both / size
    low = max(_clipped(overlap.low / support.high) if support.high > 0 else 0.0, _clipped(least))
    high = _clipped(overlap.high / support.low) if support.low > 0 else 1.0
    # The estimate may be outside of what its parts allow, by rounding. Ends are rounded outwards.
    lowest = math.floor(round(100 * min(low, estimate), 6))
    highest = math.ceil(round(100 * max(high, estimate), 6))
    return f"about {_percent(estimate)} ({_range(lowest, highest)})"


def _range(low: int, high: int) -> str:
    """Return a range of shares in words.

    >>> _range(34, 100).replace(SPACE, " "), _range(0, 90).replace(SPACE, " ")
    ('between 34 and 100 %', 'at most 90 %')
    """
    if low >= 100:
        return f"hardly less than 100{SPACE}%"
    if low > 0:
        return f"between {low} and{SPACE}{high}{SPACE}%"
    return f"at most {high}{SPACE}%" if high < 100 else "the noise leaves it open"


def _clipped(ratio: float) -> float:
    return min(max(ratio, 0.0), 1.0)


def _agreeing(kind: str, count: int) -> str:
    """Return what some pairs do.

    >>> _agreeing("fit the same", 1), _agreeing("fit the same", 2)
    ('fits the same', 'fit the same')
    """
    verb, _, rest = kind.partition(" ")
    return f"{verb}s {rest}" if count == 1 else kind


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f}{SPACE}%"


def _number_word(count: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if count < len(words) else f"{count:,}"
