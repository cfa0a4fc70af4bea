"""Views as scikit-learn wants them, and trees as lists of their leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.seam.queries import (
    And,
    Attribute,
    Kind,
    Known,
    Literal,
    Not,
    Or,
    Query,
    View,
    complement,
    simplified,
)
from redveil.seam.truth import CodedColumn, Column, NumericColumn

# Digits after which decimal numbers tell all doubles apart.
_DIGITS: Final = 17


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A column of the matrix. Its codes are whole numbers, in the order of what they stand for.

    values: the distinct numbers of a numeric attribute, float64[codes]
    label:  the category for which a categorical attribute has the code 1; all others have 0

    >>> grade = Feature(Attribute("grade", Kind.ORDINAL, categories=("low", "mid", "high")))
    >>> grade.up_to(1.5)
    Literal(attribute='grade', op='<=', value='mid')
    >>> Feature(Attribute("sick", Kind.BOOLEAN)).up_to(0.5)
    Literal(attribute='sick', op='=', value=False)
    """

    attribute: Attribute
    values: NDArray[np.float64] | None = None
    label: str = ""

    def up_to(self, threshold: float) -> Literal | Known:
        """Return the literal that is true for codes up to a threshold; ∞ separates known ones."""
        name, kind = self.attribute.name, self.attribute.kind
        if math.isinf(threshold):
            return Known(name)
        code = math.floor(threshold)
        if self.values is not None:
            return Literal(name, "<=", between(*map(float, self.values[code : code + 2])))
        if kind is Kind.ORDINAL:
            return Literal(name, "<=", self.attribute.categories[code])
        if kind is Kind.CATEGORICAL:
            return Literal(name, "!=", self.label)
        return Literal(name, "=", value=False)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One view: float32[N, features], NaN where a value is missing. NOT private."""

    matrix: NDArray[np.float32]
    columns: tuple[Feature, ...]

    @property
    def rows(self) -> int:
        """The number of entities."""
        return int(self.matrix.shape[0])


def features_of(columns: Mapping[str, Column], rows: int) -> Features:
    """Return a view's features. Numbers become ranks, so that single precision is exact.

    >>> declared = Attribute("age", Kind.NUMERIC, minimum=0, maximum=110)
    >>> age = NumericColumn(declared, np.array([41.0, np.nan, 17.0]))
    >>> features_of({"age": age}, 3).matrix[:, 0].tolist()
    [1.0, nan, 0.0]
    """
    found = [pair for column in columns.values() for pair in _features(column)]
    matrix = np.empty((rows, len(found)), dtype=np.float32)
    for place, (_, codes) in enumerate(found):
        matrix[:, place] = codes
    return Features(matrix, tuple(feature for feature, _ in found))


def _features(column: Column) -> Iterator[tuple[Feature, NDArray[Any]]]:
    attribute, known = column.attribute, column.known
    if isinstance(column, NumericColumn):
        values, ranks = np.unique(column.bounded().values[known], return_inverse=True)
        yield Feature(attribute, values=values), _with_gaps(ranks, known)
    elif isinstance(column, CodedColumn) and attribute.kind is Kind.CATEGORICAL:
        # Of two categories, one says everything.
        labels = attribute.categories[1:] if len(attribute.categories) == 2 else None
        for label in labels or attribute.categories:
            equal = column.codes == attribute.categories.index(label)
            yield Feature(attribute, label=label), _with_gaps(equal[known], known)
    else:
        yield Feature(attribute), _with_gaps(column.codes[known], known)


def _with_gaps(codes: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[np.float32]:
    spread = np.full(known.size, np.nan, dtype=np.float32)
    spread[known] = codes
    return spread


def between(low: float, high: float) -> float:
    """Return a short number that is at least as large as one number, and smaller than another.

    >>> between(17.0, 41.0), between(0.1, 0.2), between(2.0, 2.0000001)
    (30.0, 0.15, 2.0)
    """
    middle = low / 2 + high / 2
    for digits in range(1, _DIGITS):
        short = float(f"{middle:.{digits}g}")
        if low <= short < high:
            return short
    return low


BoolArray: TypeAlias = NDArray[np.bool_]
Members: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Split:
    """A test at an inner node.

    low:          what is true on its low side, missing values aside
    gaps_are_low: whether those who miss the value go to the low side; None if nobody does

    >>> from redveil.query.text import to_text
    >>> old = Split(Literal("age", "<=", 65), gaps_are_low=False)
    >>> to_text(old.query(is_low=True)), to_text(old.query(is_low=False))
    ('[age <= 65]', '[age > 65] | ![age is known]')
    """

    low: Literal | Known
    gaps_are_low: bool | None = None

    def query(self, *, is_low: bool) -> Query:
        """Return what is true on one side."""
        if isinstance(self.low, Known):
            return self.low if is_low else Not(self.low)
        test = self.low if is_low else complement(self.low)
        if self.gaps_are_low is not is_low:
            return test
        return Or((test, Not(Known(test.attribute))))


#: The splits from the root to a node, each with the side taken.
Path: TypeAlias = tuple[tuple[Split, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A leaf: the path to it, and the entities in it. NOT private."""

    path: Path
    members: Members


def whole(features: Features) -> Branch:
    """Return the tree that has not been grown: one leaf with everybody in it."""
    return Branch((), np.arange(features.rows))


def grow(
    features: Features, branch: Branch, target: NDArray[np.int64], depth: int, min_leaf: int
) -> list[Branch]:
    """Grow a tree of some depth in a leaf, to predict the target (int64[N]); return its leaves."""
    from sklearn.tree import DecisionTreeClassifier

    members = branch.members
    wanted = target[members]
    if members.size < 2 * min_leaf or (wanted == wanted[0]).all():
        return [branch]
    everybody = members.size == features.rows
    matrix = features.matrix if everybody else features.matrix[members]
    # Among equal splits it draws one; a fixed state makes runs repeatable.
    classifier = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=min_leaf, random_state=0)
    tree = classifier.fit(matrix, wanted).tree_

    def leaves(node: int, branch: Branch) -> Iterator[Branch]:
        if tree.children_left[node] < 0:
            yield branch
            return
        place, threshold = tree.feature[node], float(tree.threshold[node])
        codes = features.matrix[branch.members, place]
        gaps = np.isnan(codes)
        gaps_are_low = bool(tree.missing_go_to_left[node])
        low = codes <= threshold
        low |= gaps & gaps_are_low
        split = Split(
            features.columns[place].up_to(threshold), gaps_are_low if gaps.any() else None
        )
        for is_low, child in ((True, tree.children_left), (False, tree.children_right)):
            path = (*branch.path, (split, is_low))
            taken = branch.members[low if is_low else ~low]
            yield from leaves(int(child[node]), Branch(path, taken))

    return list(leaves(0, branch))


def holds(branches: Iterable[Branch], rows: int) -> BoolArray:
    """Return who is in one of the leaves, bool[N]."""
    found = np.zeros(rows, dtype=np.bool_)
    for branch in branches:
        found[branch.members] = True
    return found


def positive(branches: Iterable[Branch], target: BoolArray) -> list[Branch]:
    """Return the leaves of which more than half is in the target."""
    return [one for one in branches if 2 * int(target[one.members].sum()) > one.members.size]


def query_of(branches: Sequence[Branch], view: View) -> Query:
    """Return the query that is true for the entities in some leaves, and for no others."""
    paths = _merged([branch.path for branch in branches])
    conjunctions: list[Query] = []
    for path in paths:
        tests = tuple(split.query(is_low=is_low) for split, is_low in path)
        conjunctions.append(tests[0] if len(tests) == 1 else And(tests))
    query = conjunctions[0] if len(conjunctions) == 1 else Or(tuple(conjunctions))
    known = frozenset(one.name for one in view.attributes if one.required)
    order = {one.name: one.categories for one in view.attributes if one.kind is Kind.ORDINAL}
    return simplified(query, known, order)


def _merged(paths: Sequence[Path]) -> list[Path]:
    """Return paths to the same entities, with both sides of a split replaced by their node."""
    merged = dict.fromkeys(paths)
    for path in sorted(paths, key=len, reverse=True):
        here = path
        while here and here in merged:
            split, is_low = here[-1]
            sibling = (*here[:-1], (split, not is_low))
            if sibling not in merged:
                break
            del merged[here], merged[sibling]
            here = here[:-1]
            merged[here] = None
    return list(merged)
