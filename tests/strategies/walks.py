"""Random data for walks, as the arrays that kernels take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.binning import words
from oracle.walk import Candidates, Run, Splits, candidates
from redveil.kernels.subtree import SplitSets
from strategies.arrays import code_columns, spread

# Numbers of entities: around the ends of 64-bit words, and in between.
entity_counts = st.sampled_from((65, 130, 64, 63, 128, 127, 1, 2, 7, 20, 100, 0))
trees_inner = st.sampled_from((3, 7, 1))  # inner nodes of full trees of depth 2, 3 and 1
rates = st.sampled_from((1e-3, 1e-4, 1e-2, 0.0, 1.0))


@st.composite
def offers(draw: st.DrawFn, rows: int) -> Candidates:
    """The splits of a small view: one to three attributes, some with many splits, some with one."""
    bins = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    values = draw(code_columns(rows, bins))
    runs: list[Run] = []
    for attribute, most in enumerate(bins):
        ends = st.tuples(st.integers(0, most - 1), st.integers(0, most - 1))
        pairs = draw(st.lists(ends, min_size=1, max_size=4))
        runs += [(attribute, min(pair), max(pair)) for pair in pairs]
    return candidates(values, runs)


def full_trees(view: Candidates, inner: int) -> st.SearchStrategy[Splits]:
    """Full trees with any split at any node."""
    return spread(st.integers(0, len(view.holds) - 1), inner).map(tuple)


def random_words(seed: int, walk_steps: int) -> NDArray[np.uint64]:
    """Three uniform words for each step, some of them the smallest and the largest there are."""
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, 2**64, size=(walk_steps, 3), dtype=np.uint64)
    drawn[generator.random((walk_steps, 3)) < 0.05] = np.uint64(0)
    drawn[generator.random((walk_steps, 3)) < 0.05] = np.uint64(2**64 - 1)
    return drawn


def packed(members: Iterable[int], rows: int) -> list[int]:
    """Return a set of entities as words."""
    inside = set(members)
    return words([entity in inside for entity in range(rows)])


def packed_sets(sets: Sequence[Iterable[int]], rows: int) -> NDArray[np.uint64]:
    """Return sets of entities as uint64[sets, words]."""
    array = np.zeros((len(sets), -(-rows // 64)), np.uint64)
    for i, members in enumerate(sets):
        array[i] = packed(members, rows)
    return array


def sets_array(view: Candidates, rows: int) -> SplitSets:
    """Return a view's splits as kernels take them; equal sets of known values are kept once."""
    known = sorted(set(view.known), key=sorted)
    return SplitSets(
        packed_sets(view.holds, rows),
        packed_sets(known, rows),
        np.array([known.index(one) for one in view.known], np.int32),
        np.array([0, *(offered.stop for offered in view.of_attribute)], np.int32),
    )
