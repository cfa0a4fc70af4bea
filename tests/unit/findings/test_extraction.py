"""Extraction against all pairs of unions, one by one, and against the noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom

from oracle.unions import Cells, Demands, Union, UnionPair, all_unions, candidates
from redveil.findings import extraction
from redveil.findings.critical_values import report_critical_values
from redveil.findings.extraction import PARTNERS, Candidate, Extractor
from redveil.findings.leverage import cautious_corrected, corrected_bounds, largest_log_p
from redveil.findings.released_table import ReleasedTable
from redveil.findings.reporting import Constraints
from redveil.findings.statistics import jaccard_bounds
from redveil.query.formula import Literal, evaluate, literal_count
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree
from support.flags import STUMPS, WITH_A, gappy_branches, stumps
from support.scene import measured, scene
from support.seeded import SeededRandomness

ANY = Constraints(max_p_value=1.0, min_jaccard=0.0, min_support=0, max_support=1.0)


def demands_of(wanted: Constraints) -> Demands:
    return Demands(wanted.max_p_value, wanted.min_jaccard, wanted.min_support, wanted.max_support)


def ends_of(one: Candidate) -> UnionPair:
    return frozenset(one.left_ends), frozenset(one.right_ends)


def by_brute_force(
    table: ReleasedTable, extractor: Extractor, wanted: Constraints, limit: float
) -> set[UnionPair]:
    """Compare all pairs; p-values are those of one pair at a time, at a limit of their own."""
    best, critical = extractor.estimate, extractor.critical.leverages
    cells = Cells(best.cells.tolist(), best.cell_deviation**2)

    def log_p(pair: UnionPair) -> float:
        if critical > 0:
            flags = [flagged(pair[side], best.cells.shape[side]) for side in (0, 1)]
            return float(largest_log_p(best.moments(flags[0], flags[1]), critical)[0])
        both, left, right, size = (
            round(x)
            for x in (
                cells.sum_over(*pair),
                cells.sum_over(pair[0], None),
                cells.sum_over(None, pair[1]),
                cells.size,
            )
        )
        return float(hypergeom.logsf(both - 1, size, left, right))

    unions = [
        all_unions(tree.tree.ends, tree.tree.leaves, tree.tree.inner, wanted.max_disjuncts)
        for tree in (table.left, table.right)
    ]
    demands = Demands(limit, wanted.min_jaccard, wanted.min_support, wanted.max_support)
    return candidates(
        cells,
        (unions[0], unions[1]),
        demands,
        log_p,
        critical=critical,
        partners=PARTNERS,
    )


def flagged(union: Union, ends: int) -> np.ndarray:
    return np.isin(np.arange(ends), sorted(union))[None]


DEMANDS = (
    Constraints(),
    Constraints(max_disjuncts=1),
    Constraints(max_disjuncts=2, max_support=0.3, min_jaccard=0.4),
    Constraints(max_disjuncts=2, min_support=400),
    Constraints(max_p_value=1.0, min_jaccard=0.0, min_support=1, max_support=0.5, max_disjuncts=2),
    Constraints(max_p_value=1e-40, max_disjuncts=2),
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wanted", DEMANDS)
def test_without_noise_brute_force_finds_the_same(
    seed: int, wanted: Constraints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "MOST_CANDIDATES", 10**6)
    here = scene(seed, heaviest=60)
    table = here.released()
    extractor = Extractor(table, wanted, number=3)
    found = extractor.candidates()
    pairs = [ends_of(one) for one in found]
    assert len(pairs) == len(set(pairs)), "the same pair twice"
    # Fisher's bound may be above the exact tail, by less than half.
    most = by_brute_force(table, extractor, wanted, wanted.max_p_value)
    least = by_brute_force(table, extractor, wanted, wanted.max_p_value * 0.6)
    assert set(pairs) <= most
    assert set(pairs) >= (most if wanted.max_p_value == 1 else least)
    assert all(one.table == 3 for one in found)


@pytest.mark.parametrize("seed", range(3, 6))
@pytest.mark.parametrize("price", [Fraction(1, 4), Fraction(2)])
def test_with_noise_brute_force_finds_the_same(
    seed: int, price: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "MOST_CANDIDATES", 10**6)
    here, wanted = scene(seed, heaviest=60), Constraints(max_disjuncts=2)
    table = here.released(measured(here.trees, here.cells, price, SeededRandomness(seed)))
    extractor = Extractor(table, wanted)
    assert extractor.critical.leverages > 0
    found = {ends_of(one) for one in extractor.candidates()}
    assert found == by_brute_force(table, extractor, wanted, wanted.max_p_value)
    if price == 2:
        assert found


@pytest.mark.parametrize("seed", range(20, 24))
def test_queries_hold_for_the_entities_in_their_ends_and_statistics_count_them(seed: int) -> None:
    here = scene(seed, heaviest=60)
    extractor, weights = here.extractor(Constraints()), np.array(here.weights)
    found = extractor.candidates()
    assert found
    for one in found:
        left = evaluate(one.left, here.table.left).true
        right = evaluate(one.right, here.table.right).true
        assert here.coverages(one) == (
            frozenset(np.flatnonzero(left).tolist()),
            frozenset(np.flatnonzero(right).tolist()),
        )
        known = extractor.describe(one).statistics
        lefts, rights, both = (int(weights[x].sum()) for x in (left, right, left & right))
        either, chance = lefts + rights - both, lefts * rights / sum(weights)
        expected = chance / (lefts + rights - chance)
        assert known.support_left.estimate == pytest.approx(lefts)
        assert known.support_right.estimate == pytest.approx(rights)
        assert known.support_both.estimate == pytest.approx(both)
        assert known.jaccard.estimate == pytest.approx(both / either)
        corrected = (both / either - expected) / (1 - expected)
        assert known.corrected.estimate == pytest.approx(corrected, abs=1e-9)
        assert one.half == pytest.approx(max(lefts, rights) / sum(weights))


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
def test_taste_is_judged_at_the_estimates_and_significance_at_the_worst_end(
    seed: int, price: Fraction, wanted: Constraints
) -> None:
    here = scene(seed, heaviest=60)
    table = measured(here.trees, here.cells, price, SeededRandomness(seed))
    extractor = Extractor(here.released(table), wanted)
    size = extractor.estimate.size
    for one in extractor.candidates():
        described = extractor.describe(one)
        assert (described.left, described.right) == (one.left, one.right)
        assert (described.left_ends, described.right_ends) == (one.left_ends, one.right_ends)
        known = described.statistics
        supports = known.support_left, known.support_right, known.support_both
        for interval in (known.jaccard, *supports):
            assert 0 <= interval.low <= interval.estimate <= interval.high
        assert known.jaccard.high <= 1
        assert -1 <= known.corrected.low <= known.corrected.estimate <= known.corrected.high <= 1
        assert known.jaccard.estimate >= wanted.min_jaccard
        assert known.support_both.estimate >= wanted.min_support
        largest = max(known.support_left.estimate, known.support_right.estimate)
        assert largest <= wanted.max_support * size
        assert known.p_value_estimate <= known.p_value * (1 + 1e-9)
        assert known.p_value <= min(known.p_value_confirming, wanted.max_p_value)
        for tree, covered in zip(here.trees, (one.left_ends, one.right_ends), strict=True):
            assert covered, "a query that covers nothing"
            assert not set(range(len(tree.leaves))) <= set(covered), "a query that says nothing"


def test_what_a_reader_likes_does_not_depend_on_the_width_of_intervals() -> None:
    """An interval that reaches below a limit does not keep a redescription off the list."""
    cells = np.array([[60, 40], [40, 860]])
    table = stumps(measured(STUMPS, cells, Fraction(2), SeededRandomness(1)))
    extractor = Extractor(table, Constraints(min_jaccard=0.42, min_support=58))
    (found,) = (one for one in extractor.candidates() if one.left_ends == one.right_ends == (0,))
    known = extractor.describe(found).statistics
    assert known.jaccard.low < 0.42 <= known.jaccard.estimate
    assert known.support_both.low < 58 <= known.support_both.estimate


def test_a_candidate_is_worth_its_cautious_index_less_its_literals() -> None:
    here = scene(41, heaviest=60)
    table = measured(here.trees, here.cells, Fraction(1), SeededRandomness(3))
    extractor = Extractor(here.released(table), Constraints())
    found = extractor.candidates()
    assert len(found) > 3
    for one in found:
        flags = [
            flagged(frozenset(covered), len(tree.ends))
            for tree, covered in zip(here.trees, (one.left_ends, one.right_ends), strict=True)
        ]
        index = float(cautious_corrected(extractor.estimate.moments(flags[0], flags[1]))[0])
        literals = literal_count(one.left) + literal_count(one.right)
        assert one.value == pytest.approx(index * 0.95**literals)
    values = [one.value for one in found]
    assert values == sorted(values, reverse=True)


def test_only_the_best_candidates_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    here = scene(41, heaviest=60)
    everything = here.extractor(ANY).candidates()
    monkeypatch.setattr(extraction, "MOST_CANDIDATES", 5)
    few = here.extractor(ANY).candidates()
    assert len(few) == 5 < len(everything)
    # The five are chosen before their wordings are made, which may take fewer literals.
    assert {ends_of(one) for one in few} <= {ends_of(one) for one in everything[:20]}


def test_the_size_of_batches_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    here = scene(40)
    whole = here.extractor(Constraints()).candidates()
    monkeypatch.setattr(extraction, "BATCH", 5)
    assert here.extractor(Constraints()).candidates() == whole
    assert len(whole) > 1


def test_there_are_fewer_disjuncts_where_there_would_be_too_many_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = scene(1, heaviest=60)
    three = {ends_of(one) for one in here.extractor(Constraints()).candidates()}
    one_term = {ends_of(one) for one in here.extractor(Constraints(max_disjuncts=1)).candidates()}
    monkeypatch.setattr(extraction, "MOST_PAIRS", 1)
    assert {ends_of(one) for one in here.extractor(Constraints()).candidates()} == one_term
    assert one_term != three


@pytest.mark.parametrize("partners", [1, 4, 9])
def test_every_union_has_its_best_partners(partners: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "PARTNERS", partners)
    value = np.random.default_rng(1).uniform(-0.2, 1, (7, 5))
    chosen = extraction._with_best_partners(value)
    for i, j in np.ndindex(value.shape):
        among_left = (value[:, j] > value[i, j]).sum() < partners
        among_right = (value[i] > value[i, j]).sum() < partners
        assert chosen[i, j] == ((among_left or among_right) and value[i, j] > 0)
    assert extraction._with_best_partners(np.zeros((0, 3))).shape == (0, 3)


def test_a_whole_branch_includes_the_entities_stuck_in_it() -> None:
    wanted = Constraints(min_jaccard=0.9, max_disjuncts=1)
    extractor = Extractor(gappy_branches(), wanted)
    found = extractor.candidates()
    (best,) = (one for one in found if (one.left_ends, one.right_ends) == WITH_A)
    assert best.left == Literal("a", "=", value=True)
    assert best.right == Literal("right0", "=", value=True)
    known = extractor.describe(best).statistics
    assert known.jaccard.estimate == pytest.approx(1)
    assert known.support_left.estimate == pytest.approx(900)


@pytest.mark.parametrize("tables", [1, 4])
def test_a_report_has_the_critical_values_of_all_its_tables_together(tables: int) -> None:
    here = scene(30, heaviest=60)
    table = measured(here.trees, here.cells, Fraction(1), SeededRandomness(3))
    extractor = Extractor(here.released(table), Constraints(), tables=tables)
    left, right = (term_ends(tree, inner=True) for tree in here.trees)
    critical = report_critical_values(table, left, right, tables)
    assert extractor.critical == critical
    found = extractor.candidates()
    assert found
    for one in map(extractor.describe, found):
        flags = [
            flagged(frozenset(covered), len(tree.ends))
            for tree, covered in zip(here.trees, (one.left_ends, one.right_ends), strict=True)
        ]
        moments, known = extractor.estimate.moments(flags[0], flags[1]), one.statistics
        for interval, bounds in (
            (known.jaccard, jaccard_bounds(moments, critical.intervals)),
            (known.corrected, corrected_bounds(moments, critical.leverages)),
        ):
            assert (interval.estimate, interval.low, interval.high) == pytest.approx(
                tuple(float(bound[0]) for bound in bounds)
            )
        for p_value, value in (
            (known.p_value, critical.leverages),
            (known.p_value_confirming, critical.confirming),
        ):
            assert p_value == pytest.approx(math.exp(largest_log_p(moments, value)[0]))


def test_the_more_tables_there_are_the_less_one_of_them_may_claim() -> None:
    here = scene(30, heaviest=60)
    table = here.released(measured(here.trees, here.cells, Fraction(1), SeededRandomness(3)))
    known = []
    for tables in (1, 8):
        extractor = Extractor(table, Constraints(), tables=tables)
        described = map(extractor.describe, extractor.candidates())
        known.append({(one.left_ends, one.right_ends): one.statistics for one in described})
    alone, one_of_many = known
    both = alone.keys() & one_of_many.keys()
    assert both
    for pair in both:
        assert one_of_many[pair].jaccard.low < alone[pair].jaccard.low
        assert one_of_many[pair].corrected.low < alone[pair].corrected.low
        assert one_of_many[pair].p_value > alone[pair].p_value


@pytest.mark.parametrize("price", [Fraction(1, 20), Fraction(1)])
def test_coincidence_is_seldom_reported(price: Fraction) -> None:
    # Independent queries: nothing is there to be found, so 5 % of runs may find something.
    cells, noise = np.array([[300, 200], [600, 400]]), SeededRandomness(5)
    tables = [stumps(measured(STUMPS, cells, price, noise)) for _ in range(100)]
    lucky = [table for table in tables if Extractor(table, Constraints()).candidates()]
    assert len(lucky) <= 5


@pytest.mark.parametrize("price", [Fraction(1, 10), Fraction(1)])
def test_the_best_find_s_intervals_cover_the_truth(price: Fraction) -> None:
    # Chosen among all: the intervals must have accounted for it.
    trees = Tree(Side.LEFT, (0, 1, None)), Tree(Side.RIGHT, (0, None, 1))
    cells, noise, runs = np.array([[90, 60, 7], [5, 80, 20], [50, 9, 99]]), SeededRandomness(6), 50
    covered = joined = 0
    for _ in range(runs):
        extractor = Extractor(stumps(measured(trees, cells, price, noise)), ANY)
        best = extractor.describe(extractor.candidates()[0])
        left, right = list(best.left_ends), list(best.right_ends)
        both = int(cells[left][:, right].sum())
        lefts, rights = int(cells[left].sum()), int(cells[:, right].sum())
        jaccard, chance = both / (lefts + rights - both), lefts * rights / int(cells.sum())
        expected = chance / (lefts + rights - chance)
        corrected, known = (jaccard - expected) / (1 - expected), best.statistics
        covered += (
            known.jaccard.low <= jaccard <= known.jaccard.high
            and known.corrected.low <= corrected <= known.corrected.high
        )
        joined += len(left) + len(right) > 2
    assert covered / runs >= 0.95
    assert joined > 0
