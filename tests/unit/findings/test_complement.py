from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import redveil
from redveil.algorithms.catalogue import make_algorithm
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.findings.complement import complement_ends, complement_query
from redveil.findings.reporting import Constraints
from redveil.owner import truth
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Literal, Not
from redveil.query.leaves import term_ends, terms_query
from redveil.query.simplify import simplified
from redveil.report.result import Result
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree
from support.clinic import clinic, mined, mined_clinic

ATTRIBUTES = {
    "a": Attribute("a", Kind.NUMERIC, minimum=0, maximum=10),
    "b": Attribute("b", Kind.BOOLEAN),
    "c": Attribute("c", Kind.CATEGORICAL, categories=("x", "y", "z")),
}
SPLITS = (
    Literal("a", "<=", 5),
    Literal("b", "=", value=True),
    Literal("c", "=", "x"),
)
STUCK = [stuck for count in range(4) for stuck in combinations(range(3), count)]


def released(stuck: tuple[int, ...]) -> ReleasedTree:
    """Return a tree of depth 2; values are missing only where an entity can be stuck."""
    required = {split.attribute for node, split in enumerate(SPLITS) if node not in stuck}
    known = {
        name: Attribute(
            name,
            one.kind,
            name in required,
            one.categories,
            minimum=one.minimum,
            maximum=one.maximum,
        )
        if one.kind is Kind.NUMERIC
        else Attribute(name, one.kind, name in required, one.categories)
        for name, one in ATTRIBUTES.items()
    }
    return ReleasedTree(Tree(Side.LEFT, (0, 1, 2), stuck), SPLITS, known)


def unions(tree: ReleasedTree) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return terms and the ends they cover, of all unions of up to three that leave a leaf out."""
    terms = term_ends(tree.tree, inner=True)
    leaves = len(tree.tree.leaves)
    found = []
    for count in (1, 2, 3):
        for chosen in combinations(range(len(terms)), count):
            covered = np.logical_or.reduce(terms[list(chosen)])
            if not covered[:leaves].all():
                found.append((chosen, tuple(np.flatnonzero(covered).tolist())))
    return found


@pytest.mark.parametrize("stuck", STUCK, ids=str)
def test_the_complement_is_where_the_negation_is_true(stuck: tuple[int, ...]) -> None:
    tree = released(stuck)
    for terms, ends in unions(tree):
        negated = coverage(Not(terms_query(tree, terms, inner=True)), tree)
        assert negated.is_released
        assert complement_ends(tree.tree, ends) == tuple(np.flatnonzero(negated.covered).tolist())


@pytest.mark.parametrize("stuck", STUCK, ids=str)
def test_its_query_covers_it_in_words_that_may_be_read(stuck: tuple[int, ...]) -> None:
    tree = released(stuck)
    for terms, ends in unions(tree):
        query = simplified(terms_query(tree, terms, inner=True), tree.always_known, tree.orders)
        found = coverage(complement_query(tree, query, ends), tree)
        assert found.is_released
        assert tuple(np.flatnonzero(found.covered).tolist()) == complement_ends(tree.tree, ends)


def precise() -> Result:
    """Return a result with hardly any noise."""
    return redveil.mine(clinic(), 100, depth=2, trials=2)


def test_complements_are_those_of_the_data() -> None:
    result = precise().complement()
    for one in truth(result, clinic()).redescriptions:
        assert one.true is not None
        assert one.support.both.estimate == pytest.approx(one.true.support.both, abs=3)
        assert one.support.left.estimate == pytest.approx(one.true.support.left, abs=3)
        assert one.support.right.estimate == pytest.approx(one.true.support.right, abs=3)
        assert one.jaccard.low - 1e-9 <= one.true.jaccard <= one.jaccard.high + 1e-9
    assert len(result) > 1


@cache
def complete() -> redveil.Dataset:
    """Return the patients of the clinic of whom everything is known."""
    schema = clinic_schema()
    views = (
        replace(view, attributes=tuple(replace(one, required=True) for one in view.attributes))
        for view in (schema.left, schema.right)
    )
    left, right = views
    return redveil.load(*clinic_frames(4000), replace(schema, left=left, right=right))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["twin", "alt-expm"])
def test_a_complement_of_everything_else_is_as_sure(name: str, seed: int) -> None:
    algorithm = make_algorithm(algorithm=name, depth=2, trials=2)
    reporting = algorithm.profile.reporting(Constraints(max_p_value=1), None)
    result = mined(complete(), algorithm, reporting, Fraction(1), seed)
    complements = result.complement()
    assert len(result) > 0
    for one, other in zip(result, complements, strict=True):
        pair = result.document.tree_pairs[one.source.tree_pair]
        ends = {*one.source.left_ends, *other.source.left_ends}
        assert ends == set(range(len(pair.left.ends)))
        assert other.p_value == pytest.approx(one.p_value, rel=1e-6)
        assert other.p_value_confirming == pytest.approx(one.p_value_confirming, rel=1e-6)
        assert other.confirmed or not one.confirmed
        assert other.corrected.estimate > 0 or one.corrected.estimate <= 0


def test_the_paper_confirms_nothing_and_neither_do_its_complements() -> None:
    result = mined_clinic(Constraints(), profile="published")
    complements = result.complement()
    assert len(result) == len(complements) > 0
    assert {one.confirmed for one in complements} == {None}
    assert complements.document.false_discoveries is None
