"""The audited cases: every algorithm and profile, small, so that ε goes into few releases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Final

from redveil import Dataset, InputError
from redveil.seam.neighbours import (
    EVERYTHING,
    PROFILES,
    Algorithm,
    Confirm,
    Describe,
    Refine,
    Splits,
    Tree,
    make_algorithm,
    split_literal,
    with_derived,
)
from redveil.seam.queries import Query, Side, View

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


@singledispatch
def asked(_algorithm: Algorithm, dataset: Dataset) -> Dataset:
    """Return a data set with the queries that an algorithm starts from, if it does from any.

    >>> from redveil_research.audit.pairs import pair
    >>> asked(Describe(), pair("a stranger").dataset(with_entity=False)).schema.left.names
    ('[number <= 6]',)
    """
    return dataset


@asked.register
def _(algorithm: Describe, dataset: Dataset) -> Dataset:
    side = algorithm.given_side
    return with_derived(dataset, {side: [middle(dataset.schema.view(side))]}, keep=False)


@asked.register
def _(_algorithm: Refine, dataset: Dataset) -> Dataset:
    # The first split leaves most entities together, so that what is below it matters most.
    views = {side: Splits.of(dataset.schema.view(side)) for side in Side}
    queries = {side: [split_literal(splits, 0, held=True)] for side, splits in views.items()}
    return with_derived(dataset, queries, keep=True)


@asked.register
def _(_algorithm: Confirm, dataset: Dataset) -> Dataset:
    queries = {side: [middle(dataset.schema.view(side))] for side in Side}
    return with_derived(dataset, queries, keep=False, unknown_is_false=True)


def middle(view: View) -> Query:
    """Return the split in the middle of a view's list.

    >>> from redveil_research.audit.pairs import pair
    >>> middle(pair("a newcomer").schema.left)
    Literal(attribute='number', op='<=', value=5.0)
    """
    splits = Splits.of(view)
    return split_literal(splits, len(splits) // 2, held=True)
