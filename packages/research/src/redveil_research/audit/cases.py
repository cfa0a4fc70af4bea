"""What is audited: neighbouring data sets, and every algorithm and profile on them.

The algorithms are small, so that ε goes into few releases. In each pair of data sets one entity
matters as much as possible. All values are made up. A pair is a data set and the same with one more
entity, which comes last. Mixed pairs have all kinds of attributes, so that many faults show on
them. Sharp pairs have few splits and no missing values, and the entity moves the scores of two
splits apart by nearly as much as the proof allows, so that a choice leaks nearly all of its ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from redveil import Dataset, InputError, Schema
from redveil.seam.neighbours import (
    EVERYTHING,
    MISSING,
    PROFILES,
    Algorithm,
    CodedColumn,
    Column,
    Confirm,
    Describe,
    NumericColumn,
    Refine,
    Splits,
    Table,
    Tree,
    make_algorithm,
    sealed_dataset,
    split_literal,
    with_derived,
)
from redveil.seam.queries import Attribute, Kind, Query, Side, View

# The share of ε for the trees, where that is a parameter. The smaller it is, the better counts are
# audited. Counts leak all of their ε; if that were nearly everything, a correct program would be
# accused as often as bounds may be wrong. Choices never leak all of their ε.
MOSTLY_COUNTS: Final = "1/10"
MOSTLY_TREES: Final = "99/100"
# One split on either side: the queries that are measured again.
_STUMPS: Final = (Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,)))


@dataclass(frozen=True, slots=True)
class Case:
    """An algorithm with its parameters, and what most of ε is spent on.

    own_pair: the pair of data sets on which this should leak most, by its proof. Other pairs are
              tried with fewer runs.

    >>> cases("twin")[0].spent_on
    'mostly counts'
    """

    algorithm: Algorithm
    spent_on: str
    own_pair: str

    @property
    def published(self) -> bool:
        """Whether this is the published profile, which is known to leak."""
        return not self.algorithm.profile.is_private


def cases(algorithm: str | None = None, profile: str | None = None) -> tuple[Case, ...]:
    """Return the cases of an algorithm and a profile; None means all.

    >>> [case.algorithm.name for case in cases(profile="published")]
    ['alt-expm', 'alt-mcmc', 'tree-pair']
    """
    for name, value, known in (
        ("algorithm", algorithm, EVERYTHING),
        ("profile", profile, PROFILES),
    ):
        if value is not None and value not in known:
            raise InputError(f"unknown {name}; use one of {', '.join(known)}")
    found = tuple(
        case
        for case in _all_cases()
        if algorithm in (None, case.algorithm.name)
        and profile in (None, case.algorithm.profile.name)
    )
    if not found:
        raise InputError(f"{algorithm} has no {profile} profile; leave out one of the two")
    return found


def _all_cases() -> tuple[Case, ...]:
    twin: dict[str, Any] = {"depth": 1, "trials": 1, "tree_share": MOSTLY_TREES}
    once: dict[str, Any] = {"alternations": 1}
    # There are only a few trees: a short walk is enough.
    walk: dict[str, Any] = {"depth": 1, "walk_steps": 200}
    published: dict[str, Any] = {"profile": "published", "depth": 1}
    return (
        # Depth and trials are left to the tuning rule, which buys the size and, for enough
        # entities, a scout.
        _case("twin", "mostly counts", "nobody", tree_share=MOSTLY_COUNTS),
        _case("twin", "scout, mostly counts", "a rare couple", tree_share=MOSTLY_COUNTS),
        _case("twin", "trees, by correspondence", "a torn match", **twin),
        _case("twin", "trees, by agreement", "a stranger", root_score="agreement", **twin),
        _case("twin", "trees, by leverage", "a rare couple", root_score="leverage", **twin),
        _case("alt-expm", "trees and counts", "a newcomer", start="random", depth=1, **once),
        _case("alt-expm", "start, trees and counts", "a broken match", depth=1, **once),
        _case("alt-mcmc", "trees and counts", "a newcomer", start="random", **once),
        _case("tree-pair", "mostly counts", "nobody", tree_share=MOSTLY_COUNTS, **walk),
        _case("tree-pair", "mostly trees", "a broken match", tree_share=MOSTLY_TREES, **walk),
        Case(_describing(given_side="right"), "trees, by agreement", "a stranger"),
        Case(_describing(tree_score="gini"), "trees, by Gini", "a newcomer"),
        Case(Refine.of(tree_share=MOSTLY_TREES), "levels below", "a newcomer"),
        Case(Confirm.measuring((_STUMPS,)), "counts", "nobody"),
        _case("alt-expm", "trees and counts", "an outlier", **once, **published),
        _case("alt-mcmc", "trees and counts", "an outlier", walk_steps=1000, **once, **published),
        _case("tree-pair", "mostly counts", "an outlier", walk_steps=1000, trials=1, **published),
    )


def _describing(**given: Any) -> Describe:
    usual: dict[str, Any] = {
        "depth": 1,
        "trials": 1,
        "tree_score": "agreement",
        "tree_share": MOSTLY_TREES,
    }
    return Describe.of(**(usual | given))


def _case(algorithm: str, spent_on: str, own_pair: str, **given: Any) -> Case:
    return Case(make_algorithm(algorithm, **given), spent_on, own_pair)


def asked(algorithm: Algorithm, dataset: Dataset) -> Dataset:
    """Return a data set with the queries that an algorithm starts from, if it does from any.

    >>> asked(Describe(), pair("a stranger").dataset(with_entity=False)).schema.left.names
    ('[number <= 6]',)
    """
    views = {side: dataset.schema.view(side) for side in Side}
    match algorithm:
        case Describe(given_side=side):
            return with_derived(dataset, {side: [middle(views[side])]}, keep=False)
        case Refine():
            # The first split leaves most entities together, so that what is below it matters most.
            first = {
                side: [split_literal(Splits.of(view), 0, held=True)] for side, view in views.items()
            }
            return with_derived(dataset, first, keep=True)
        case Confirm():
            queries = {side: [middle(view)] for side, view in views.items()}
            return with_derived(dataset, queries, keep=False, unknown_is_false=True)
    return dataset


def middle(view: View) -> Query:
    """Return the split in the middle of a view's list.

    >>> middle(pair("a newcomer").schema.left)
    Literal(attribute='number', op='<=', value=5.0)
    """
    splits = Splits.of(view)
    return split_literal(splits, len(splits) // 2, held=True)


# One value per attribute, None if missing.
Half = tuple[bool | str | float | None, ...]
Row = tuple[Half, Half]

KINDS: Final = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring data sets: some entities, and the same plus one more.

    >>> pair("nobody").others
    ()
    """

    name: str
    schema: Schema
    others: tuple[Row, ...]
    entity: Row

    def table(self) -> Table:
        """Return the table of all rows, the added entity last.

        >>> pair("nobody").table().rows
        1
        """
        return _table(self.schema, (*self.others, self.entity))

    def dataset(self, *, with_entity: bool) -> Dataset:
        """Return one of the two data sets, sealed as a loaded one is.

        >>> pair("nobody").dataset(with_entity=True)
        <Dataset audit: 3 left and 2 right attributes>
        """
        rows = (*self.others, self.entity) if with_entity else self.others
        return sealed_dataset(self.schema, _table(self.schema, rows))


def pairs() -> tuple[Pair, ...]:
    """Return the built-in pairs.

    >>> [one.name for one in pairs()][:4]
    ['an outlier', 'a lone value', 'nobody', 'no values']
    >>> [one.name for one in pairs()][4:]
    ['a stranger', 'a newcomer', 'a broken match', 'a rare couple', 'a torn match']
    """
    return (*_mixed_pairs(), *_sharp_pairs())


def pair(name: str) -> Pair:
    """Return a built-in pair by its name.

    >>> len(pair("an outlier").others)
    20
    """
    found = [one for one in pairs() if one.name == name]
    if not found:
        raise InputError(
            f"no such pair of data sets; use one of {', '.join(p.name for p in pairs())}"
        )
    return found[0]


def _mixed_pairs() -> tuple[Pair, ...]:
    """Return pairs with attributes of all kinds, which may all be missing."""
    left = (
        Attribute("flag", Kind.BOOLEAN),
        Attribute("kind", Kind.CATEGORICAL, categories=KINDS),
        _number("number", 5.0),
    )
    right = (Attribute("sign", Kind.BOOLEAN), _number("amount", 2.5, 5.0, 7.5))
    schema = _schema(left, right)
    plain: Row = ((False, "x", 1.0), (False, 1.0))
    high: Row = ((True, "x", 8.0), (True, 7.0))
    low: Row = ((False, "y", 3.0), (False, 2.0))
    return (
        # All splits are the same for equal entities, until the outlier makes some of them differ.
        Pair("an outlier", schema, (plain,) * 20, ((True, "x", 1.0), (True, 9.0))),
        # Its numbers and its kind occur nowhere else, and it is alone in its cell.
        Pair("a lone value", schema, (high, low) * 12, ((True, "z", 1.0), (False, 5.0))),
        Pair("nobody", schema, (), high),
        Pair("no values", schema, (high, low) * 10, ((None, None, None), (None, None))),
    )


def _sharp_pairs() -> tuple[Pair, ...]:
    """Return pairs on which a score changes by nearly its whole width, one per score."""
    strangers = _schema((_scale("number", 2.0, 4.0, 6.0, 8.0), _flag("flag")), (_flag("sign"),))
    newcomers = _schema(
        (_scale("number", 2.0, 3.0, 5.0, 8.0),), (_scale("amount", 2.0, 3.0, 5.0, 8.0),)
    )
    teams = _schema((_flag("alone"), _flag("team")), (_flag("single"), _flag("side")))
    couples = _schema((_flag("first"), _flag("second")), (_flag("third"), _flag("fourth")))
    no, yes = False, True
    return (
        # Agreement, of twins. With the sign, the splits of the number match a second side: + 1. The
        # flag does not separate the stranger from the others: − ½. There are four splits against
        # one, so if the flag is chosen all the same, that clearly indicates absence.
        Pair("a stranger", strangers, (((1.0, no), (no,)),) * 30, ((9.0, no), (yes,))),
        # Gini, of alternations. Whatever is predicted, the newcomer is a class of its own. A split
        # at 5 isolates it: 0. Others leave it among entities of another class: − 1.94 of − 2. The
        # next tree predicts the leaves of the first, with the same effect.
        Pair("a newcomer", newcomers, (((4.0,), (4.0,)),) * 30, ((6.0,), (6.0,))),
        # Association, of tree pairs, and Gini again. Teams and sides match except for the entity,
        # − 1.25 of − 3/2; only the entity is alone and single, + 1.85 of 2.
        Pair(
            "a broken match",
            teams,
            (((no, no), (no, no)), ((no, yes), (no, yes))) * 6,
            ((yes, no), (yes, yes)),
        ),
        # Leverage, of twins. Few entities have the first and the third, and the added one has both.
        # It is the only one with the second and the fourth, which otherwise never occur together.
        Pair(
            "a rare couple",
            couples,
            (
                *[((no, no), (no, no))] * 300,
                *[((no, yes), (no, no))] * 61,
                *[((no, no), (no, yes))] * 29,
                *[((yes, no), (yes, yes))] * 7,
            ),
            ((yes, yes), (yes, yes)),
        ),
        # Correspondence, of twins. The first and the third are the same for all, and the added
        # entity joins the smaller side: + 2. The second and the fourth are halves that match in
        # three of four cases, and not for the added entity: − 1. The rest is unrelated.
        Pair(
            "a torn match",
            couples,
            (
                *[((yes, yes), (yes, yes))] * 6,
                *[((yes, no), (yes, no))] * 6,
                *[((yes, yes), (yes, no))] * 2,
                *[((yes, no), (yes, yes))] * 2,
                *[((no, yes), (no, yes))] * 17,
                *[((no, no), (no, no))] * 17,
                *[((no, yes), (no, no))] * 5,
                *[((no, no), (no, yes))] * 5,
            ),
            ((yes, yes), (yes, no)),
        ),
    )


def _schema(left: tuple[Attribute, ...], right: tuple[Attribute, ...]) -> Schema:
    views = View("left", "entity", left), View("right", "entity", right)
    return Schema("audit", *views, unit="entity")


def _flag(name: str) -> Attribute:
    # Required: without missing values a leaf table is small and fast.
    return Attribute(name, Kind.BOOLEAN, required=True)


def _scale(name: str, *cuts: float) -> Attribute:
    return replace(_number(name, *cuts), required=True)


def _number(name: str, *cuts: float) -> Attribute:
    return Attribute(name, Kind.NUMERIC, minimum=0, maximum=10, cuts=cuts)


def _table(schema: Schema, rows: Sequence[Row]) -> Table:
    left = _columns(schema.left, [row[0] for row in rows])
    right = _columns(schema.right, [row[1] for row in rows])
    return Table(len(rows), left, right)


def _columns(view: View, rows: Sequence[Half]) -> dict[str, Column]:
    return {
        attribute.name: _column(attribute, [row[place] for row in rows])
        for place, attribute in enumerate(view.attributes)
    }


def _column(attribute: Attribute, values: Sequence[bool | str | float | None]) -> Column:
    if attribute.kind is Kind.NUMERIC:
        numbers = [math.nan if value is None else float(value) for value in values]
        return NumericColumn(attribute, np.array(numbers, np.float64))
    codes = [
        MISSING if value is None else KINDS.index(value) if isinstance(value, str) else int(value)
        for value in values
    ]
    return CodedColumn(attribute, np.array(codes, np.uint8))
