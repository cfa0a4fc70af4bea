"""Extraction against brute force over entities, and against the noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from oracle.extraction import Rules, redescriptions
from redveil.findings import extraction
from redveil.findings.critical_values import report_critical_values
from redveil.findings.extraction import Extractor
from redveil.findings.leaf_table import LeafTable
from redveil.findings.ranking import ranked_by_novelty
from redveil.findings.reporting import Constraints
from redveil.findings.statistics import jaccard_bounds, pessimistic_p_values
from redveil.query.formula import Literal, evaluate
from redveil.query.leaves import term_ends
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.trees.tree import Tree
from support.scene import measured, scene
from support.seeded import SeededRandomness

# A literal costs a hundredth of what a pair is worth; the paper's costs nothing.
COSTLY, FREE = Fraction(99, 100), Fraction(1)


def rules_of(wanted: Constraints, literal: Fraction = COSTLY) -> Rules:
    return Rules(
        wanted.max_p_value,
        wanted.min_jaccard,
        wanted.min_support,
        wanted.max_support,
        wanted.max_disjuncts,
        literal,
    )


DEMANDS = (
    Constraints(),
    Constraints(max_disjuncts=1),
    Constraints(max_disjuncts=2, max_support=0.3),
    Constraints(max_disjuncts=5, min_jaccard=0.5, max_support=1.0),
    Constraints(max_p_value=1.0, min_jaccard=0.0, min_support=1, max_support=0.5),
    Constraints(min_support=4_000_000, min_jaccard=0.3),
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wanted", DEMANDS)
def test_without_noise_brute_force_finds_the_same(seed: int, wanted: Constraints) -> None:
    here = scene(seed)
    entities = here.entities()
    found = here.extractor(wanted).extract(3)
    coverages = [here.coverages(one) for one in found]
    expected = redescriptions(entities, rules_of(wanted))
    assert len(coverages) == len(set(coverages)), "the same coverages twice"
    assert set(coverages) == expected
    for one, pair in zip(found, coverages, strict=True):
        known, both = one.statistics, entities.weigh(pair[0] & pair[1])
        assert one.table == 3
        assert known.jaccard.estimate == pytest.approx(float(entities.jaccard(pair)))
        assert known.jaccard.low == pytest.approx(known.jaccard.estimate)
        assert known.support_both.estimate == pytest.approx(both)
        assert known.support_left.estimate == pytest.approx(entities.weigh(pair[0]))
        assert known.support_right.estimate == pytest.approx(entities.weigh(pair[1]))
        assert known.p_value_estimate == pytest.approx(entities.p_value(pair), rel=1e-3)


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("noise_aware", [True, False])
def test_without_noise_neither_noise_awareness_nor_the_estimator_matters(
    passes: int,
    noise_aware: bool,  # noqa: FBT001
) -> None:
    here, wanted = scene(6), Constraints()
    table = measured(here.trees, here.cells, passes=passes)
    found = list(Extractor(table, here.schema, wanted, noise_aware=noise_aware).extract(0))
    # The paper joins leaves and starts from pairs that are fine by themselves.
    entities = here.entities(branches=noise_aware)
    rules = rules_of(wanted, COSTLY if noise_aware else FREE)
    expected = redescriptions(entities, rules, only_fine_starts=not noise_aware)
    assert {here.coverages(one) for one in found} == expected


def test_without_noise_awareness_estimates_are_held_against_the_constraints() -> None:
    here, price = scene(7, heaviest=40), Fraction(1, 10)
    table = measured(here.trees, here.cells, price, SeededRandomness(7), passes=2)
    wanted = Constraints(0.01, min_jaccard=0.3, min_support=30, max_disjuncts=2)
    by_estimates, noise_aware = (
        [one.statistics for one in Extractor(*given, noise_aware=aware).extract(0)]
        for given in [(table, here.schema, wanted)]
        for aware in (False, True)
    )
    assert len(by_estimates) > len(noise_aware)
    for one in by_estimates:
        assert one.jaccard.estimate >= 0.3
        assert one.support_both.estimate >= 30
        assert one.p_value_estimate <= min(0.01, one.p_value)
    # Their intervals are as wide as ever.
    assert any(one.jaccard.low < 0.3 for one in by_estimates)
    assert any(one.p_value > 0.01 for one in by_estimates)
    assert all(one.jaccard.low < one.jaccard.estimate < one.jaccard.high for one in noise_aware)


@pytest.mark.parametrize("seed", range(10, 16))
def test_p_values_are_held_against_their_limit(seed: int) -> None:
    # Few entities, so that chance plays a part; single terms, so that ties do not matter.
    here = scene(seed, heaviest=3)
    limits = 1e-6, 0.01, 1.0
    sizes = []
    for limit in limits:
        wanted = Constraints(limit, min_jaccard=0.0, min_support=1, max_disjuncts=1)
        found = list(here.extractor(wanted).extract(0))
        expected = redescriptions(here.entities(), rules_of(wanted))
        assert {here.coverages(one) for one in found} == expected
        assert all(one.statistics.p_value <= limit for one in found)
        sizes.append(len(found))
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("seed", range(20, 24))
def test_queries_hold_for_the_entities_in_their_ends(seed: int) -> None:
    here = scene(seed)
    found = list(here.extractor(Constraints()).extract(0))
    assert found
    for one in found:
        left = evaluate(one.left, here.table.left).true
        right = evaluate(one.right, here.table.right).true
        assert here.coverages(one) == (
            frozenset(np.flatnonzero(left).tolist()),
            frozenset(np.flatnonzero(right).tolist()),
        )


@pytest.mark.parametrize("seed", range(26, 29))
@pytest.mark.parametrize("price", [Fraction(1, 20), Fraction(1, 2)])
@pytest.mark.parametrize(
    "wanted",
    [
        Constraints(0.001, min_jaccard=0.2, min_support=40, max_support=0.4),
        Constraints(1.0, min_jaccard=0.0, min_support=250, max_support=1.0, max_disjuncts=1),
        Constraints(1.0, min_jaccard=0.4, min_support=0, max_support=0.2),
    ],
)
def test_with_noise_the_pessimistic_ends_satisfy_the_constraints(
    seed: int, price: Fraction, wanted: Constraints
) -> None:
    here = scene(seed, heaviest=60)
    table = measured(here.trees, here.cells, price, SeededRandomness(seed))
    extractor = Extractor(table, here.schema, wanted)
    coverages = set()
    for one in extractor.extract(0):
        known = one.statistics
        supports = known.support_left, known.support_right, known.support_both
        for interval in (known.jaccard, *supports):
            assert 0 <= interval.low <= interval.estimate <= interval.high
        assert known.jaccard.high <= 1
        assert known.jaccard.low >= wanted.min_jaccard
        assert known.support_both.low >= wanted.min_support
        largest = max(known.support_left.estimate, known.support_right.estimate)
        assert largest <= wanted.max_support * extractor.estimate.size
        assert known.p_value_estimate <= known.p_value <= wanted.max_p_value
        for tree, covered in zip(here.trees, (one.left_ends, one.right_ends), strict=True):
            assert covered, "a query that covers nothing"
            assert not set(range(len(tree.leaves))) <= set(covered), "a query that says nothing"
        coverages.add((one.left_ends, one.right_ends))
    assert len(coverages) == len(extractor.extract(0))


def test_the_size_of_batches_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    here = scene(40)
    whole = list(here.extractor(Constraints()).extract(0))
    monkeypatch.setattr(extraction, "BATCH", 5)
    assert list(here.extractor(Constraints()).extract(0)) == whole
    assert len(whole) > 1


@pytest.mark.parametrize("seed", range(50, 54))
def test_nothing_novel_is_left_undescribed(seed: int) -> None:
    here = scene(seed, heaviest=60)
    table = measured(here.trees, here.cells, Fraction(2), SeededRandomness(seed))
    extractor = Extractor(table, here.schema, Constraints())
    novel, whole = extractor.extract(0, only_novel=True), extractor.extract(0)
    listed = ranked_by_novelty(whole, [extractor.estimate])
    assert set(listed) <= set(novel) < set(whole)
    assert ranked_by_novelty(novel, [extractor.estimate]) == listed


def booleans(name: str) -> View:
    names = (f"{name}{number}" for number in range(3))
    return View(name, "id", tuple(Attribute(n, Kind.BOOLEAN, required=True) for n in names))


PLAIN = Schema("plain", booleans("left"), booleans("right"))
STUMPS = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,))


def test_the_shorter_of_two_wordings_is_kept() -> None:
    table = measured(STUMPS, np.array([[900, 10], [20, 800]]))
    found = list(Extractor(table, PLAIN, Constraints()).extract(0))
    assert {(one.left_ends, one.right_ends) for one in found} == {
        ((0,), (0,)),
        ((1,), (1,)),
    }
    assert all(one.literals == 2 for one in found)


def gappy_branches() -> tuple[Schema, LeafTable]:
    """Left: a? yes: b?, no: c?, which can be missing. Right: one flag, true wherever a is."""
    flags = (
        Attribute("a", Kind.BOOLEAN, required=True),
        Attribute("b", Kind.BOOLEAN),
        Attribute("c", Kind.BOOLEAN),
    )
    schema = Schema("gappy", View("left", "id", flags), booleans("right"))
    trees = Tree(Side.LEFT, (0, 1, 2), stuck=(1, 2)), Tree(Side.RIGHT, (0,))
    assert trees[0].ends == (3, 4, 5, 6, 1, 2)
    cells = np.array([[300, 0], [200, 0], [0, 400], [0, 600], [400, 0], [0, 100]])
    return schema, measured(trees, cells)


WITH_A = (0, 1, 4), (0,)


def test_a_whole_branch_includes_the_entities_stuck_in_it() -> None:
    schema, table = gappy_branches()
    wanted = Constraints(min_jaccard=0.9, max_disjuncts=1)
    found = list(Extractor(table, schema, wanted).extract(0))
    (best,) = (one for one in found if (one.left_ends, one.right_ends) == WITH_A)
    assert best.left == Literal("a", "=", value=True)
    assert best.right == Literal("right0", "=", value=True)
    assert best.statistics.jaccard.estimate == pytest.approx(1)
    assert best.statistics.support_left.estimate == pytest.approx(900)


def test_the_paper_joins_leaves_and_no_branches() -> None:
    schema, table = gappy_branches()
    wanted = Constraints(min_jaccard=0.1, max_disjuncts=5)
    noise_aware, by_estimates = (
        {
            (one.left_ends, one.right_ends)
            for one in Extractor(table, schema, wanted, noise_aware=aware).extract(0)
        }
        for aware in (True, False)
    )
    assert WITH_A in noise_aware
    assert by_estimates
    assert WITH_A not in by_estimates


@pytest.mark.parametrize("tables", [1, 4])
def test_a_report_has_the_critical_values_of_all_its_tables_together(tables: int) -> None:
    here = scene(30, heaviest=60)
    table = measured(here.trees, here.cells, Fraction(1), SeededRandomness(3))
    extractor = Extractor(table, here.schema, Constraints(), tables=tables)
    left, right = (term_ends(tree, inner=True) for tree in here.trees)
    assert extractor.critical == report_critical_values(table, left, right, tables)
    found = list(extractor.extract(0))
    assert found
    for one in found:
        flags = [
            np.isin(np.arange(len(tree.ends)), covered)[None]
            for tree, covered in zip(here.trees, (one.left_ends, one.right_ends), strict=True)
        ]
        moments = extractor.estimate.moments(flags[0], flags[1])
        bounds = jaccard_bounds(moments, extractor.critical.intervals)
        jaccard = one.statistics.jaccard
        assert (jaccard.estimate, jaccard.low, jaccard.high) == pytest.approx(
            tuple(float(bound[0]) for bound in bounds)
        )
        worst = pessimistic_p_values(moments, extractor.estimate, extractor.critical.counts)
        assert one.statistics.p_value == pytest.approx(float(worst[0]))
        # The p-value is made of four counts, which need a larger critical value than an interval.
        assert extractor.critical.counts > extractor.critical.intervals


def test_the_more_tables_there_are_the_less_one_of_them_may_claim() -> None:
    here = scene(30, heaviest=60)
    table = measured(here.trees, here.cells, Fraction(1), SeededRandomness(3))
    alone, one_of_many = (
        {
            (one.left_ends, one.right_ends): one.statistics.jaccard.low
            for one in Extractor(table, here.schema, Constraints(), tables=tables).extract(0)
        }
        for tables in (1, 8)
    )
    both = alone.keys() & one_of_many.keys()
    assert both
    assert all(one_of_many[pair] < alone[pair] for pair in both)


@pytest.mark.parametrize("price", [Fraction(1, 20), Fraction(1)])
def test_coincidence_is_seldom_reported(price: Fraction) -> None:
    # Independent queries: nothing is there to be found, so 5 % of runs may find something.
    cells, noise = np.array([[300, 200], [600, 400]]), SeededRandomness(5)
    tables = [measured(STUMPS, cells, price, noise) for _ in range(100)]
    lucky = [table for table in tables if list(Extractor(table, PLAIN, Constraints()).extract(0))]
    assert len(lucky) <= 5


@pytest.mark.parametrize("price", [Fraction(1, 10), Fraction(1)])
def test_the_best_find_s_interval_covers_the_truth(price: Fraction) -> None:
    # Chosen among all, and grown: the intervals must have accounted for it.
    trees = Tree(Side.LEFT, (0, 1, None)), Tree(Side.RIGHT, (0, None, 1))
    cells, noise, runs = np.array([[90, 60, 7], [5, 80, 20], [50, 9, 99]]), SeededRandomness(6), 50
    wanted = Constraints(max_p_value=1.0, min_jaccard=0.0, min_support=0)
    covered = grown = 0
    for _ in range(runs):
        found = Extractor(measured(trees, cells, price, noise), PLAIN, wanted).extract(0)
        best = max(found, key=lambda one: one.statistics.jaccard.low)
        left, right = list(best.left_ends), list(best.right_ends)
        both = int(cells[left][:, right].sum())
        truth = both / (int(cells[left].sum() + cells[:, right].sum()) - both)
        jaccard = best.statistics.jaccard
        covered += jaccard.low <= truth <= jaccard.high
        grown += len(left) + len(right) > 2
    assert covered / runs >= 0.95
    assert grown > 0
