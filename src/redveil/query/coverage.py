"""Which cells of a released tree a query covers, decided by public logic alone.

An entity ends in one cell of a tree: a leaf, or a node at which a missing value stopped it. The
cell tells something about its attributes, and the schema says what values there are. A query
covers a cell if it is true for every entity that can be there, and misses it if it is true for
none (false and unknown are the same: not in the support). Otherwise the tree cannot answer it.

The decision is exact. Values that no literal of the query or the tree tells apart are one *bin*,
so that few are left of every attribute; what several literals say together is found by trying
bins, one attribute at a time, until the query has one value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.errors import QueryError
from redveil.query.formula import And, Literal, Not, Or, Query, Value, literal_count, literals
from redveil.query.text import number_text, to_text
from redveil.schema import Attribute, Kind
from redveil.trees.tree import Tree

Flags: TypeAlias = NDArray[np.bool_]
# Some of TRUE, FALSE and UNKNOWN: the values that a query can still have.
Outcomes: TypeAlias = int
# The bins that remain possible, by attribute.
Possible: TypeAlias = Mapping[str, tuple[int, ...]]

TRUE: Final = 1
FALSE: Final = 2
UNKNOWN: Final = 4

# Literals that are looked at before a query is called too intricate; about a second's work.
MOST_WORK: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ReleasedTree:
    """A tree with its splits in words, and what its view's schema declares.

    `splits[n]` is what the split at inner node n says where it holds; None where there is none.

    >>> sick = Literal("sick", "=", value=True)
    >>> from redveil.schema import Side
    >>> tree = Tree(Side.LEFT, (0,), stuck=(0,))
    >>> people = ReleasedTree(tree, (sick,), {"sick": Attribute("sick", Kind.BOOLEAN)})
    >>> extent(sick, people).covered.tolist()
    [True, False, False]
    """

    tree: Tree
    splits: tuple[Literal | None, ...]
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """The cells that a query covers, and those of which it is not determined, both bool[cells]."""

    covered: Flags
    undetermined: Flags

    @property
    def is_released(self) -> bool:
        """Whether the query is a union of cells."""
        return not bool(self.undetermined.any())


def extent(query: Query, released: ReleasedTree) -> Extent:
    """Decide for every cell of a tree whether a query covers it.

    A cell in which nobody can be counts as covered only below a covered place to be stuck at.
    """
    bins = _Bins(query, released)
    tree, work = released.tree, MOST_WORK
    cells = tree.ends
    covered, undetermined = (np.zeros(len(cells), dtype=np.bool_) for _ in range(2))
    # Upper nodes first: what is covered there decides about empty cells below.
    for place in sorted(range(len(cells)), key=cells.__getitem__):
        possible = bins.within(cells[place])
        if not all(possible.values()):
            above = {node for node, _ in tree.ancestors(cells[place])} & set(tree.stuck)
            covered[place] = any(covered[cells.index(node)] for node in above)
            continue
        seen, work = _verdicts(query, bins, possible, work)
        covered[place] = seen == {True}
        undetermined[place] = len(seen) == 2
    return Extent(covered, undetermined)


def _verdicts(query: Query, bins: _Bins, start: Possible, work: int) -> tuple[set[bool], int]:
    """Return whether the query can be true, and whether it can be anything else."""
    seen: set[bool] = set()
    size = literal_count(query)
    open_cases = [start]
    while open_cases and len(seen) < 2:
        work -= size
        if work < 0:
            raise QueryError("the query is too intricate to decide; ask for its parts")
        possible = open_cases.pop()
        outcomes = _outcomes(query, bins, possible)
        if outcomes == TRUE or not outcomes & TRUE:
            seen.add(outcomes == TRUE)
            continue
        # Some literal has several values left, or the query would have one.
        name = next(
            one.attribute for one in literals(query) if bins.outcomes(one, possible).bit_count() > 1
        )
        open_cases += [{**possible, name: (bin_,)} for bin_ in possible[name]]
    return seen, work


def _outcomes(query: Query, bins: _Bins, possible: Possible) -> Outcomes:
    """Return every value that a query may have, and perhaps some that it cannot have.

    Exact when each attribute has one bin left; otherwise parts are taken to vary on their own.
    """
    match query:
        case Literal():
            return bins.outcomes(query, possible)
        case Not(operand):
            inner = _outcomes(operand, bins, possible)
            return inner & UNKNOWN | (inner & TRUE and FALSE) | (inner & FALSE and TRUE)
        case And(operands):
            # Read from left to right; whoever is not true for one operand stays what it is.
            found = TRUE
            for operand in operands:
                if not found & TRUE:
                    break
                found = found & ~TRUE | _outcomes(operand, bins, possible)
            return found
        case Or(operands):
            found = FALSE
            for operand in operands:
                found = _either(found, _outcomes(operand, bins, possible))
            return found


def _either(first: Outcomes, second: Outcomes) -> Outcomes:
    """Return the values of a disjunction: true if any is, false if both are."""
    some_true = (first | second) & TRUE
    both_false = first & second & FALSE
    # Unknown needs one unknown, and another one that is not true.
    some_unknown = (first & UNKNOWN and second & ~TRUE) or (second & UNKNOWN and first & ~TRUE)
    return some_true | both_false | (UNKNOWN if some_unknown else 0)


class _Bins:
    """The values that a query and a tree can tell apart, and what each literal says of them."""

    def __init__(self, query: Query, released: ReleasedTree) -> None:
        self._tree = released.tree
        self._splits = released.splits
        asked: dict[str, dict[Literal, None]] = {}
        for literal in (*literals(query), *(s for s in released.splits if s is not None)):
            check_literal(literal, released.attributes)
            asked.setdefault(literal.attribute, {})[literal] = None
        # One row of outcomes, by bin, for every literal.
        self._rows: dict[Literal, tuple[Outcomes, ...]] = {}
        self._all: dict[str, tuple[int, ...]] = {}
        for name, mentioned in asked.items():
            attribute = released.attributes[name]
            rows = dict.fromkeys(
                tuple(_outcome(literal, attribute, value) for literal in mentioned)
                for value in _values(attribute, mentioned)
            )
            self._all[name] = tuple(range(len(rows)))
            self._rows |= dict(zip(mentioned, zip(*rows, strict=True), strict=True))

    def outcomes(self, literal: Literal, possible: Possible) -> Outcomes:
        """Return the values that a literal takes in some bins."""
        row, found = self._rows[literal], 0
        for bin_ in possible[literal.attribute]:
            found |= row[bin_]
        return found

    def within(self, cell: int) -> dict[str, tuple[int, ...]]:
        """Return the bins in which an entity of a cell can be, for every attribute."""
        possible = dict(self._all)
        for node, held in self._tree.ancestors(cell):
            self._keep(possible, node, TRUE if held else FALSE)
        if self._tree.split(cell) is not None:
            self._keep(possible, cell, UNKNOWN)
        return possible

    def _keep(self, possible: dict[str, tuple[int, ...]], node: int, outcome: Outcomes) -> None:
        split = self._splits[node]
        assert split is not None, "an inner node has a split"
        row, name = self._rows[split], split.attribute
        possible[name] = tuple(bin_ for bin_ in possible[name] if row[bin_] == outcome)


def check_literal(literal: Literal, attributes: Mapping[str, Attribute]) -> None:
    """Refuse a literal that does not fit its attribute.

    >>> check_literal(Literal("sik", "=", True), {"sick": Attribute("sick", Kind.BOOLEAN)})
    Traceback (most recent call last):
    redveil.errors.QueryError: no attribute sik; did you mean sick?
    """
    name, value = literal.attribute, literal.value
    attribute = attributes.get(name)
    if attribute is None:
        raise QueryError(f"no attribute {name}; {suggestion(name, attributes)}")
    if attribute.kind is Kind.NUMERIC:
        if not isinstance(value, float):
            raise QueryError(f"{to_text(literal)}: {name} is numeric; compare it with a number")
    elif attribute.kind is Kind.BOOLEAN:
        if not isinstance(value, bool):
            raise QueryError(f"{to_text(literal)}: {name} is Boolean; write [{name}] or ![{name}]")
    elif literal.op in ("<=", ">") and attribute.kind is Kind.CATEGORICAL:
        raise QueryError(f"{to_text(literal)}: {name} has no order; use = or !=")
    elif _label(value) not in attribute.categories:
        remedy = suggestion(_label(value), attribute.categories)
        raise QueryError(f"{to_text(literal)}: {name} has no such category; {remedy}")


def tells(splits: Sequence[Literal], literal: Literal, attribute: Attribute) -> bool:
    """Return whether splits on an attribute together tell where a literal on it holds.

    >>> age = Attribute("age", Kind.NUMERIC, maximum=110)
    >>> cuts = Literal("age", "<=", 20), Literal("age", "<=", 50)
    >>> tells(cuts, Literal("age", ">", 50), age), tells(cuts, Literal("age", ">", 60), age)
    (True, False)
    """
    seen: dict[tuple[Outcomes, ...], Outcomes] = {}
    for value in _values(attribute, dict.fromkeys((literal, *splits))):
        outcome = _outcome(literal, attribute, value)
        told = tuple(_outcome(split, attribute, value) for split in splits)
        if seen.setdefault(told, outcome) != outcome:
            return False
    return True


def suggestion(name: str, names: Mapping[str, object] | Sequence[str]) -> str:
    """Name what is spelled alike, or the first few there are.

    >>> suggestion("Gotu", ("gout", "asthma"))
    'did you mean gout?'
    >>> suggestion("x", ("gout", "asthma"))
    'there are gout, asthma'
    """
    folded = {other.casefold().strip(): other for other in names}
    close = get_close_matches(name.casefold().strip(), folded, n=3)
    if close:
        return f"did you mean {' or '.join(folded[other] for other in close)}?"
    listed = list(names)
    return f"there are {', '.join(listed[:8])}{', …' if len(listed) > 8 else ''}"


def _values(attribute: Attribute, mentioned: Mapping[Literal, None]) -> Iterator[float | None]:
    """Yield a value of every kind that the literals can tell apart; None is missing.

    Booleans and categories are given by their place. Numbers: what is mentioned, what comes right
    after it, and the least there is; nothing changes in between.
    """
    if attribute.kind is Kind.NUMERIC:
        numbers = {float(literal.value) for literal in mentioned}
        after = {math.nextafter(number, math.inf) for number in numbers}
        low, high = attribute.minimum, attribute.maximum
        yield from sorted(x for x in {low, *numbers, *after} if low <= x <= high)
    else:
        yield from range(attribute.bins)
    if not attribute.required:
        yield None


def _outcome(literal: Literal, attribute: Attribute, value: float | None) -> Outcomes:
    """Return what a literal says of one value."""
    if value is None:
        return UNKNOWN
    asked: float
    if attribute.kind is Kind.NUMERIC:
        asked = float(literal.value)
    elif attribute.kind is Kind.BOOLEAN:
        asked = int(literal.value is True)
    else:
        asked = attribute.categories.index(_label(literal.value))
    holds = {
        "=": value == asked,
        "!=": value != asked,
        "<=": value <= asked,
        ">": value > asked,
    }
    return TRUE if holds[literal.op] else FALSE


def _label(value: Value) -> str:
    """Return a value as a category is spelled: [ward = 7] means the ward "7"."""
    return number_text(value) if isinstance(value, float) else str(value)
