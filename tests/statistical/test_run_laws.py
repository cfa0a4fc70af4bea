"""Whole runs against their exact laws: the start, all trees and all tables together.

Every path through a run of an exact algorithm is taken, and must have the oracle's probability.
Random runs, walks among them, are then compared with the same law by χ².
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from oracle.entities import Entities, Views
from oracle.law import Law, merged
from oracle.run_law import Pair, Run, all_costs, table_prices, tables_of
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.twin import Twin, related
from redveil.findings.leaf_table import LeafTable
from support.enumeration import (
    ONE_BY_ONE,
    Ran,
    Way,
    all_ways,
    dataset_of,
    nodes_counted,
    price_of,
    release,
    schema_of,
)
from support.seeded import SeededRandomness
from support.surprise import surprise
from support.toys import EXACT, NARROW, WALKS, WIDE, entities_of

EPSILON = Fraction(10)
UNLIKELY = 1e-4
CLOSE = 1e-9

every_exact_run = pytest.mark.parametrize("name", EXACT)


def seen_by_oracle(entities: Entities, how: Algorithm, epsilon: Fraction) -> Law:
    """Return the law of the trees that an analyst sees."""
    return merged(Run(entities, how, epsilon).law(), tables_of)


def by_pairs(some: Sequence[tuple[tuple[Pair, ...], float]]) -> dict[Hashable, list[float]]:
    """Return the probabilities of all paths to the same trees."""
    found: dict[Hashable, list[float]] = {}
    for pairs, log in some:
        found.setdefault(pairs, []).append(log)
    return {pairs: sorted(logs) for pairs, logs in found.items()}


@every_exact_run
@pytest.mark.parametrize("size", [0, 12])
def test_every_path_through_a_run_has_its_exact_probability(name: str, size: int) -> None:
    toy = EXACT[name]
    entities = entities_of(toy.views, size, seed=1)
    law = Run(entities, toy.how, EPSILON).law()
    expected = by_pairs([(tables_of(outcome), log) for outcome, log in law.items()])
    ways = all_ways(entities, toy.how, EPSILON)
    found = by_pairs([(way.pairs, way.log) for way in ways])
    assert math.fsum(math.exp(way.log) for way in ways) == pytest.approx(1, abs=CLOSE)
    assert found.keys() == expected.keys()
    for pairs, logs in expected.items():
        assert found[pairs] == pytest.approx(logs, abs=CLOSE)
    for way in ways:
        must_count(way, entities, toy.how)


def must_count(way: Way, entities: Entities, how: Algorithm) -> None:
    """Require that a path's tables count all entities, with noise at the price of every part."""
    noises = iter(way.noises)
    prices = table_prices(how, EPSILON)
    for table, pair, paid in zip(way.tables, way.pairs, prices, strict=True):
        assert nodes_counted(table) == entities.cells(*pair)
        parts = [table.cells, table.left_margin, table.right_margin]
        for part, price in zip(parts, paid, strict=False):
            assert part is not None
            assert next(noises) == (price, part.size)
        for axis, margin in ((1, table.left_margin), (0, table.right_margin)):
            assert margin is None or margin.tolist() == table.cells.sum(axis=axis).tolist()
    assert next(noises, None) is None


@pytest.mark.parametrize("name", [*EXACT, *WALKS])
def test_plans_cost_what_the_oracle_says(name: str) -> None:
    how = (EXACT | WALKS)[name].how
    book = all_costs(how, EPSILON)
    chosen, counted = sum(one.chosen for one in book), sum(one.counted for one in book)
    assert price_of(how, EPSILON, "choose") + price_of(how, EPSILON, "walk") == chosen
    assert price_of(how, EPSILON, "count") == counted
    assert chosen + counted == EPSILON


def nudge(table: LeafTable, entities: Entities, pair: Pair) -> int:
    """Return the sign of the noise in a table's first cell."""
    noise = int(table.cells[0, 0]) - entities.cells(*pair)[table.left.ends[0], table.right.ends[0]]
    return max(-1, min(1, noise))


def chances(law: Law, price: Fraction | None = None) -> dict[Hashable, float]:
    """Return a law of trees as probabilities, with the sign of a cell's noise if it has a price."""
    if price is None:
        return {pairs: math.exp(log) for pairs, log in law.items()}
    decay = math.exp(-float(price))
    noise = {-1: decay / (1 + decay), 0: (1 - decay) / (1 + decay), 1: decay / (1 + decay)}
    return {
        (pairs, more): math.exp(log) * chance
        for pairs, log in law.items()
        for more, chance in noise.items()
    }


def runs_of(entities: Entities, how: Algorithm, epsilon: Fraction, draws: int) -> list[Ran]:
    """Run many times; independent trials all at once."""
    dataset = dataset_of(entities)
    if isinstance(how, ONE_BY_ONE):
        sources = [partial(_stream, i) for i in range(draws)]
        return [release(dataset, how, epsilon, source) for source in sources]
    assert how.trials == 1
    ran = release(dataset, replace(how, trials=draws), epsilon * draws, SeededRandomness)
    each = len(ran.tables) // draws
    return [replace(ran, tables=ran.tables[i * each : (i + 1) * each]) for i in range(draws)]


def _stream(repeat: int, number: int) -> SeededRandomness:
    return SeededRandomness(2 * repeat + number)


DRAWS = {
    "twin": 150,
    "twin, agreement": 250,
    "twin, two trials": 250,
    "twin, required": 600,
    "alt-expm, steered start": 1000,
    "twin, unmatched, two trials": 2500,
    "twin, steered, two levels": 800,
    "twin, two levels": 400,
    "twin, scout, deepened": 400,
    "alt-expm": 450,
    "alt-expm, random start": 400,
    "alt-expm, two levels": 250,
    "alt-mcmc, walk, two levels": 300,
    "tree-pair": 300,
    "tree-pair, purity": 800,
    "tree-pair, two levels": 800,
    "refine": 8000,
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if DRAWS.get(name, 200) > 700 else name
        for name in (*EXACT, *WALKS)
    ],
)
def test_runs_that_draw_follow_their_law(name: str) -> None:
    toy = (EXACT | WALKS)[name]
    entities, price = entities_of(toy.views, 10, seed=2), table_prices(toy.how, EPSILON)[-1][0]
    trees, both = Counter[Hashable](), Counter[Hashable]()
    for ran in runs_of(entities, toy.how, EPSILON, DRAWS.get(name, 200)):
        pairs = ran.pairs
        trees[pairs] += 1
        both[pairs, nudge(ran.tables[-1], entities, pairs[-1])] += 1
    law, cheap = (seen_by_oracle(entities, toy.how, e) for e in (EPSILON, EPSILON / 2))
    assert surprise(trees, chances(law)) > UNLIKELY
    assert surprise(both, chances(law, price)) > UNLIKELY
    # Trees at half their price would be noticed, and so would cells at a third of theirs.
    assert surprise(trees, chances(cheap)) < UNLIKELY
    assert surprise(both, chances(law, price / 3)) < UNLIKELY


# At this ε, a hundredth of which is 1, a noisy size of a few entities decides between many plans:
# one choice, or a scout, for a share that falls with the size, and another choice.
LAVISH = Fraction(100)
UNTUNED = Twin.of(tree_share="1/40")
SIZE_PRICE, REST = LAVISH / 100, LAVISH * 99 / 100


def plan_of(how: Algorithm) -> tuple[int, int, Fraction, bool]:
    """Return what the tuning rule has set."""
    assert isinstance(how, Twin)
    return how.depth, how.trials, how.scout, how.again


def tuned_law(entities: Entities) -> dict[Hashable, float]:
    """Return the law of plan and trees together.

    There is one attribute on the left: whatever a scout finds, it is followed by another choice.
    """
    size, decay = len(entities.members), math.exp(-float(SIZE_PRICE))
    found: dict[Hashable, float] = {}
    for noise in range(-50, 51):
        chance = (1 - decay) / (1 + decay) * decay ** abs(noise)
        how = UNTUNED.tuned(schema_of(entities.views), size + noise, LAVISH)
        for pairs, log in seen_by_oracle(entities, how, REST).items():
            key = plan_of(how), pairs
            found[key] = found.get(key, 0.0) + chance * math.exp(log)
    return found


def test_tuned_runs_follow_the_law_of_size_and_trees_together() -> None:
    entities = entities_of(NARROW, 3, seed=2)
    seen, plans = Counter[Hashable](), set[tuple[int, int, Fraction, bool]]()
    for ran in runs_of(entities, UNTUNED, LAVISH, 250):
        plan = plan_of(ran.algorithm)
        plans.add(plan)
        seen[plan, ran.pairs] += 1
    law = tuned_law(entities)
    assert math.fsum(law.values()) == pytest.approx(1, abs=CLOSE)
    assert len(plans) >= 3
    assert surprise(seen, law) > UNLIKELY
    assert surprise(seen, tuned_law(Entities(NARROW, entities.members[:2]))) < UNLIKELY


# What follows a scout: another choice, a pair that avoids its attributes, or one that deepens it.
AGAIN, OTHER, DEEPER = (1, True), (1, False), (2, False)
ADAPTIVE = Twin.of()


@pytest.mark.parametrize(
    ("views", "epsilon", "noise", "shapes"),
    [
        (WIDE, 10, 0, {AGAIN}),
        (WIDE, 10, 400, {OTHER}),
        (WIDE, 10, -3, {AGAIN, OTHER}),
        (NARROW, 60, -3, {DEEPER}),
    ],
)
def test_what_follows_a_scout_has_its_exact_law_given_what_the_scout_released(
    views: Views,
    epsilon: int,
    noise: int,
    shapes: set[tuple[int, bool]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every path through the package's own run: the scout's choice, its table, the rest."""
    # Otherwise trees are only deepened where there are too many to be listed.
    for name in ("FEWEST_DEEP_PAIRS", "FEWEST_DEEP_PAIRS_IF_STRONG", "FEWEST_ROOTS"):
        monkeypatch.setattr(f"redveil.algorithms.tuning.{name}", 1)
    entities, price = entities_of(views, 12, seed=1), Fraction(epsilon)
    tuned = ADAPTIVE.tuned(schema_of(views), 12, price)
    assert tuned.scout > 0
    ways = all_ways(entities, ADAPTIVE, price, steered=noise)
    assert math.fsum(math.exp(way.log) for way in ways) == pytest.approx(1, abs=CLOSE)
    laws: dict[Twin, dict[Hashable, list[float]]] = {}
    for way in ways:
        # The shape is a function of the released table.
        shaped = tuned.shaped(schema_of(views), 12, price, related(way.tables[0]))
        assert way.algorithm == shaped
        if shaped not in laws:
            law = Run(entities, shaped, price * 99 / 100).law()
            laws[shaped] = by_pairs([(tables_of(outcome), log) for outcome, log in law.items()])
        # Given the shape, everything that is chosen has the law of the shape.
        assert any(abs(log - way.log) < CLOSE for log in laws[shaped][way.pairs])
        # And everything that is counted has the price of the shape.
        paid = [one[0] for one in table_prices(shaped, price * 99 / 100)]
        assert [one for one, _ in way.noises] == paid
    assert {(how.depth, how.again) for how in laws} == shapes
