"""Which ends of a released tree a query covers, decided from the schema and the tree alone.

Every entity's path ends at one node: a leaf, or an inner node where a value is missing. The end
implies something about the entity's attributes, and the schema declares their possible values. A
query covers an end if it is true for every entity that can be there, and misses it if it is true
for none (false and unknown both mean: not in the support). Otherwise the tree cannot answer it.

The decision is exact. Values that no literal of the query or the tree distinguishes form one *bin*,
so every attribute has few of them. Literals are combined by trying bins, one attribute at a time,
until the query has a single value. Where a tree splits by a query that a person gave, its value is
decided in the same way.
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
from redveil.query.formula import (
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Or,
    Query,
    Value,
    literal_count,
    literals,
)
from redveil.query.text import number_text, to_text
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree

Flags: TypeAlias = NDArray[np.bool_]
# A set of TRUE, FALSE and UNKNOWN: the values that a query can still have.
Outcomes: TypeAlias = int
# The bins that remain possible, by attribute.
Possible: TypeAlias = Mapping[str, tuple[int, ...]]
# Queries, each with the values that it can have.
Implied: TypeAlias = tuple[tuple[Query, Outcomes], ...]

TRUE: Final = 1
FALSE: Final = 2
UNKNOWN: Final = 4

# Evaluations of literals before a query is refused as too complex; about a second.
MOST_WORK: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ReleasedTree:
    """A tree with its splits as queries, and the attributes of its view.

    `splits[n]` is the query at inner node n, and None at a leaf. It is a literal, unless a person
    gave it. `unknown_is_false`: entities for which a split is unknown go where it is false.

    >>> sick = Literal("sick", "=", value=True)
    >>> from redveil.schema import Side
    >>> tree = Tree(Side.LEFT, (0,), stuck=(0,))
    >>> released = ReleasedTree(tree, (sick,), {"sick": Attribute("sick", Kind.BOOLEAN)})
    >>> coverage(sick, released).covered.tolist()
    [True, False, False]
    """

    tree: Tree
    splits: tuple[Query | None, ...]
    attributes: Mapping[str, Attribute]
    unknown_is_false: bool = False

    @property
    def always_known(self) -> frozenset[str]:
        """The attributes whose values are never missing."""
        return frozenset(name for name, one in self.attributes.items() if one.required)

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The labels of ordinal attributes, in order."""
        ordinal = (one for one in self.attributes.values() if one.kind is Kind.ORDINAL)
        return {one.name: one.categories for one in ordinal}


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """The ends that a query covers, and those that the tree cannot decide, both bool[ends]."""

    covered: Flags
    undetermined: Flags

    @property
    def is_released(self) -> bool:
        """Whether the query is a union of ends."""
        return not bool(self.undetermined.any())


def coverage(query: Query, released: ReleasedTree) -> Coverage:
    """Return which ends of a tree a query covers.

    An end that no entity can reach counts as covered only below a covered inner node.
    """
    bins = _Bins(query, released)
    tree, work = released.tree, MOST_WORK
    ends = tree.ends
    covered, undetermined = (np.zeros(len(ends), dtype=np.bool_) for _ in range(2))
    # Upper nodes first: their coverage decides about the unreachable ends below.
    for place in sorted(range(len(ends)), key=ends.__getitem__):
        possible, known = bins.within(ends[place])
        seen, work = _verdicts(query, bins, possible, known, work)
        if not seen:
            above = {node for node, _ in tree.ancestors(ends[place])} & set(tree.stuck)
            covered[place] = any(covered[ends.index(node)] for node in above)
            continue
        covered[place] = seen == {True}
        undetermined[place] = len(seen) == 2
    _refuse_gaps(released, covered, undetermined)
    return Coverage(covered, undetermined)


def reachable(released: ReleasedTree) -> Flags:
    """Return at which ends an entity can be at all, bool[ends]."""
    root = released.splits[0]
    assert root is not None, "a released tree has a split"
    bins, work = _Bins(root, released), MOST_WORK
    found = []
    for end in released.tree.ends:
        seen, work = _verdicts(root, bins, *bins.within(end), work)
        found.append(bool(seen))
    return np.array(found)


def certain(query: Query, part: Query | None, attributes: Mapping[str, Attribute]) -> bool | None:
    """Return whether a query is true for all entities of a part, or for none; None if it is open.

    part: a query of the same view, true for the entities that it is about; None for all entities

    >>> sick, attributes = Literal("sick", "=", True), {"sick": Attribute("sick", Kind.BOOLEAN)}
    >>> certain(sick, None, attributes), certain(sick, sick, attributes)
    (None, True)
    """
    splits = () if part is None else (part,)
    # It does not matter whose view it is.
    tree = Tree(Side.LEFT, tuple(range(len(splits))))
    try:
        found = coverage(query, ReleasedTree(tree, splits, attributes))
    except QueryError:
        # Too complex to check.
        return None
    # The root, or the node below it where its split holds.
    place = tree.ends.index(len(splits))
    return None if found.undetermined[place] else bool(found.covered[place])


def _refuse_gaps(released: ReleasedTree, covered: Flags, undetermined: Flags) -> None:
    """Leave undetermined what covers a given query's unknown value but not all that is below it.

    With comparisons it cannot happen: what is true without a value is true whatever the value is. A
    given query may be unknown for some of its attributes only. Intervals do not hold for such
    coverages (`findings.critical_values.unions`).
    """
    tree = released.tree
    ends = tree.ends
    for node in tree.stuck:
        if covered[ends.index(node)] and not isinstance(released.splits[node], Literal):
            below = [
                place
                for place, end in enumerate(ends)
                if node in {above for above, _ in tree.ancestors(end)}
            ]
            undetermined[ends.index(node)] |= not covered[below].all()


def _verdicts(
    query: Query, bins: _Bins, start: Possible, known: Implied, work: int
) -> tuple[set[bool], int]:
    """Return whether the query can be true, and whether it can be false or unknown.

    known: what is implied about the entity besides the bins it starts from
    """
    seen: set[bool] = set()
    asked = (query, *(given for given, _ in known))
    size = sum(literal_count(one) for one in asked)
    open_cases = [start] if all(start.values()) else []
    while open_cases and len(seen) < 2:
        work -= size
        if work < 0:
            raise QueryError("the query is too complex to check; ask about parts of it")
        possible = open_cases.pop()
        values = [(_outcomes(given, bins, possible), value) for given, value in known]
        if not all(found & value for found, value in values):
            continue
        outcomes = _outcomes(query, bins, possible)
        decided = outcomes == TRUE or not outcomes & TRUE
        if decided and all(not found & ~value for found, value in values):
            seen.add(outcomes == TRUE)
            continue
        # If every literal had a single value, so would the queries.
        name = next(
            one.attribute
            for each in asked
            for one in literals(each)
            if bins.outcomes(one, possible).bit_count() > 1
        )
        open_cases += [{**possible, name: (bin_,)} for bin_ in possible[name]]
    return seen, work


def _outcomes(query: Query, bins: _Bins, possible: Possible) -> Outcomes:
    """Return the values that a query can have, and perhaps some that it cannot.

    Exact if each attribute has one bin left; otherwise operands are taken to vary independently.
    """
    match query:
        case Literal() | Known():
            return bins.outcomes(query, possible)
        case Not(operand):
            inner = _outcomes(operand, bins, possible)
            return inner & UNKNOWN | (inner & TRUE and FALSE) | (inner & FALSE and TRUE)
        case And(operands):
            # From left to right: the first operand that is not true decides.
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
    """Return the values of a disjunction: true if either is, false if both are."""
    some_true = (first | second) & TRUE
    both_false = first & second & FALSE
    # Unknown requires one that is unknown and another that is not true.
    some_unknown = (first & UNKNOWN and second & ~TRUE) or (second & UNKNOWN and first & ~TRUE)
    return some_true | both_false | (UNKNOWN if some_unknown else 0)


class _Bins:
    """The values that a query and a tree distinguish, and the outcome of each literal for them."""

    def __init__(self, query: Query, released: ReleasedTree) -> None:
        self._tree = released.tree
        self._splits = released.splits
        self._fails = FALSE | UNKNOWN if released.unknown_is_false else FALSE
        by_name: dict[str, dict[AnyLiteral, None]] = {}
        for literal in (*literals(query), *_split_literals(released.splits)):
            check_literal(literal, released.attributes)
            by_name.setdefault(literal.attribute, {})[literal] = None
        # For every literal its outcome in each bin.
        self._rows: dict[AnyLiteral, tuple[Outcomes, ...]] = {}
        self._all: dict[str, tuple[int, ...]] = {}
        for name, mentioned in by_name.items():
            attribute = released.attributes[name]
            rows = dict.fromkeys(
                tuple(_outcome(literal, attribute, value) for literal in mentioned)
                for value in _values(attribute, mentioned)
            )
            self._all[name] = tuple(range(len(rows)))
            self._rows |= dict(zip(mentioned, zip(*rows, strict=True), strict=True))

    def outcomes(self, literal: AnyLiteral, possible: Possible) -> Outcomes:
        """Return the values that a literal has in the possible bins."""
        row, found = self._rows[literal], 0
        for bin_ in possible[literal.attribute]:
            found |= row[bin_]
        return found

    def within(self, end: int) -> tuple[dict[str, tuple[int, ...]], Implied]:
        """Return the bins that an entity at an end can have, and what else is known of it."""
        possible = dict(self._all)
        known: list[tuple[Query, Outcomes]] = []
        values = [(node, TRUE if held else self._fails) for node, held in self._tree.ancestors(end)]
        if self._tree.split(end) is not None:
            values.append((end, UNKNOWN))
        for node, value in values:
            split = self._splits[node]
            assert split is not None, "an inner node has a split"
            if isinstance(split, Literal):
                self._keep(possible, split, value)
            else:
                known.append((split, value))
        return possible, tuple(known)

    def _keep(
        self, possible: dict[str, tuple[int, ...]], split: Literal, outcome: Outcomes
    ) -> None:
        row, name = self._rows[split], split.attribute
        possible[name] = tuple(bin_ for bin_ in possible[name] if row[bin_] & outcome)


def _split_literals(splits: Sequence[Query | None]) -> Iterator[AnyLiteral]:
    for split in splits:
        if split is not None:
            yield from literals(split)


def check_literal(literal: AnyLiteral, attributes: Mapping[str, Attribute]) -> None:
    """Raise a `QueryError` if a literal does not fit its attribute.

    >>> check_literal(Literal("sik", "=", True), {"sick": Attribute("sick", Kind.BOOLEAN)})
    Traceback (most recent call last):
    redveil.errors.QueryError: no attribute sik; did you mean sick?
    """
    name = literal.attribute
    attribute = attributes.get(name)
    if attribute is None:
        raise QueryError(f"no attribute {name}; {suggestion(name, attributes)}")
    if isinstance(literal, Literal):
        _check_value(literal, attribute)


def _check_value(literal: Literal, attribute: Attribute) -> None:
    name, value = attribute.name, literal.value
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


def determines(splits: Sequence[AnyLiteral], literal: AnyLiteral, attribute: Attribute) -> bool:
    """Return whether splits on an attribute together determine a literal on it.

    >>> age = Attribute("age", Kind.NUMERIC, maximum=110)
    >>> cuts = Literal("age", "<=", 20), Literal("age", "<=", 50)
    >>> [determines(cuts, Literal("age", ">", cut), age) for cut in (50, 60)]
    [True, False]
    >>> determines(cuts, Known("age"), age), determines((), Known("age"), age)
    (True, False)
    """
    seen: dict[tuple[Outcomes, ...], Outcomes] = {}
    for value in _values(attribute, dict.fromkeys((literal, *splits))):
        outcome = _outcome(literal, attribute, value)
        key = tuple(_outcome(split, attribute, value) for split in splits)
        if seen.setdefault(key, outcome) != outcome:
            return False
    return True


def suggestion(name: str, names: Mapping[str, object] | Sequence[str]) -> str:
    """Return a hint with similar names, or else with the first few names.

    >>> suggestion("Gotu", ("gout", "asthma"))
    'did you mean gout?'
    >>> suggestion("x", ("gout", "asthma"))
    'use one of gout, asthma'
    """
    folded = {other.casefold().strip(): other for other in names}
    close = get_close_matches(name.casefold().strip(), folded, n=3)
    if close:
        return f"did you mean {' or '.join(folded[other] for other in close)}?"
    listed = list(names)
    return f"use one of {', '.join(listed[:8])}{', …' if len(listed) > 8 else ''}"


def _values(attribute: Attribute, mentioned: Mapping[AnyLiteral, None]) -> Iterator[float | None]:
    """Yield representatives of all values that the literals distinguish; None is missing.

    Booleans and categories are represented by their index. Numbers: one below all, every number in
    a literal, and the next float above it; in between nothing changes. Bounds are none of them,
    because a number outside is compared as it is.
    """
    if attribute.kind is Kind.NUMERIC:
        numbers = {float(one.value) for one in mentioned if isinstance(one, Literal)}
        after = {math.nextafter(number, math.inf) for number in numbers}
        yield from sorted({-math.inf, *numbers, *after})
    else:
        yield from range(attribute.bins)
    if not attribute.required:
        yield None


def _outcome(literal: AnyLiteral, attribute: Attribute, value: float | None) -> Outcomes:
    """Return the outcome of a literal for one value."""
    if isinstance(literal, Known):
        return FALSE if value is None else TRUE
    if value is None:
        return UNKNOWN
    bound: float
    if attribute.kind is Kind.NUMERIC:
        bound = float(literal.value)
    elif attribute.kind is Kind.BOOLEAN:
        bound = int(literal.value is True)
    else:
        bound = attribute.categories.index(_label(literal.value))
    holds = {
        "=": value == bound,
        "!=": value != bound,
        "<=": value <= bound,
        ">": value > bound,
    }
    return TRUE if holds[literal.op] else FALSE


def _label(value: Value) -> str:
    """Return a value as a category label: [ward = 7] means the category "7"."""
    return number_text(value) if isinstance(value, float) else str(value)
