"""The width of the split score: never exceeded, approached, and enough for ε end to end."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from redveil.counting.columns import count_at_nodes, score_splits, start
from redveil.data.binning import bin_view
from redveil.data.table import CodedColumn
from redveil.schema import Attribute, Kind, View
from redveil.trees.scores import SPLIT_GINI
from redveil.trees.splits import Splits

# Two Boolean attributes that may be missing, and two classes: every kind of entity there is.
VIEW = View("toy", "id", (Attribute("a", Kind.BOOLEAN), Attribute("b", Kind.BOOLEAN)))
ENTITIES = tuple(itertools.product((0, 1, 255), (0, 1, 255), (0, 1)))
UNIT = Fraction(1, 2**SPLIT_GINI.grid_bits)


def scores(entities: list[tuple[int, int, int]]) -> list[Fraction]:
    """Return −Σ n · Gini on the grid for both splits, computed by the real kernels."""
    table = np.array(entities, dtype=np.int32).reshape(len(entities), 3)
    columns = {
        name: CodedColumn(attribute, table[:, i].astype(np.uint8))
        for i, (name, attribute) in enumerate(zip("ab", VIEW.attributes, strict=True))
    }
    view = bin_view(columns, VIEW, len(entities))
    splits, root = Splits.of(VIEW), np.array([0])
    counts = count_at_nodes(view, splits, start(len(entities)), root, table[:, 2].copy(), 2)
    units = score_splits(counts, splits, 1, 2)
    return [int(u) * UNIT - len(entities) for u in units[0]]


def spread(entities: list[tuple[int, int, int]], one_more: tuple[int, int, int]) -> Fraction:
    """Return the width of the interval that holds both splits' changes."""
    before, after = scores(entities), scores([*entities, one_more])
    changes = [b - a for a, b in zip(before, after, strict=True)]
    assert all(-2 - 4 * SPLIT_GINI.rounding < c < 4 * SPLIT_GINI.rounding for c in changes)
    return max(changes) - min(changes)


def test_no_small_table_exceeds_the_width() -> None:
    for size in range(3):
        for entities in itertools.combinations_with_replacement(ENTITIES, size):
            for one_more in ENTITIES:
                assert spread(list(entities), one_more) <= SPLIT_GINI.width


@given(
    st.lists(st.tuples(st.sampled_from(ENTITIES), st.integers(0, 40)), max_size=6),
    st.sampled_from(ENTITIES),
)
def test_no_larger_table_exceeds_the_width(
    repeated: list[tuple[tuple[int, int, int], int]], one_more: tuple[int, int, int]
) -> None:
    entities = [entity for entity, times in repeated for _ in range(times)]
    assert spread(entities, one_more) <= SPLIT_GINI.width


def test_the_width_is_approached() -> None:
    # Split a: the newcomer joins its own kind, no change. Split b: it joins 500 of the other class.
    entities = [(0, 1, 1)] * 500 + [(1, 0, 0)] * 500
    assert spread(entities, (1, 1, 0)) > Fraction(199, 100)


def test_one_choice_costs_at_most_its_price_for_every_small_pair_of_neighbours() -> None:
    rate = float(SPLIT_GINI.rate(Fraction(1)) * 2**SPLIT_GINI.grid_bits)

    def law(entities: list[tuple[int, int, int]]) -> np.ndarray:
        weights = np.exp(rate * np.array([float(s) for s in scores(entities)]))
        return np.asarray(weights / weights.sum())

    worst = 0.0
    for size in range(3):
        for entities in itertools.combinations_with_replacement(ENTITIES, size):
            here = law(list(entities))
            for one_more in ENTITIES:
                there = law([*entities, one_more])
                worst = max(worst, float(np.abs(np.log(here / there)).max()))
    assert 0 < worst <= 1 + 1e-12


def test_one_choice_comes_close_to_its_price() -> None:
    rate = float(SPLIT_GINI.rate(Fraction(1)) * 2**SPLIT_GINI.grid_bits)
    # Nearly all weight on the split other than b makes the loss approach the full spread.
    entities = [(0, 1, 1)] * 500 + [(1, 0, 0)] * 500
    before, after = scores(entities), scores([*entities, (1, 1, 0)])
    loss = rate * abs(float((after[0] - before[0]) - (after[1] - before[1])))
    assert 0.99 < loss <= 1
    assert math.isclose(rate, 1 / float(SPLIT_GINI.width))
