"""Ranking, and leaving out what is not novel."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from redveil.findings.estimate import Fit
from redveil.findings.ranking import LEAST_NOVELTY, LEAST_RELATIVE_VALUE, ranked, ranked_by_novelty
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import Interval, Statistics
from redveil.query.formula import Literal, Or, Query
from redveil.query.text import parse_text

some = settings(max_examples=60, deadline=None)
NUMBERS = itertools.count()
SUPPORT = Interval(100.0, 90.0, 110.0)
Coverages = tuple[tuple[int, ...], tuple[int, ...]]


def one(
    low: float,
    covered: Coverages = ((0,), (0,)),
    *,
    table: int = 0,
    left: Query | None = None,
    right: Query | None = None,
    estimate: float | None = None,
) -> Redescription:
    """Return what ranking looks at; its queries are its own if not given."""
    middle = low if estimate is None else estimate
    return Redescription(
        left or Literal(f"l{next(NUMBERS)}", "<=", 1),
        right or Literal(f"r{next(NUMBERS)}", "<=", 1),
        Statistics(Interval(middle, low, 1.0), 0.1, SUPPORT, SUPPORT, SUPPORT, 0.001, 0.0001),
        table,
        *covered,
    )


def fit_of(cells: np.ndarray | list[list[float]]) -> Fit:
    return Fit(np.array(cells, dtype=np.float64), 1.0, 1.0, 1.0, 1.0)


APART = fit_of(np.diag([100.0, 100.0, 100.0, 100.0]))
FIRST, SECOND, THIRD, FOURTH = (((i,), (i,)) for i in range(4))
QUERIES = Literal("a", "<=", 1), Literal("b", ">", 2)


def test_the_highest_lower_bound_comes_first_whatever_the_estimate() -> None:
    sure = one(0.6, FIRST, estimate=0.65)
    lucky = one(0.56, SECOND, estimate=0.9)
    middling = one(0.58, THIRD, estimate=0.7)
    assert ranked([lucky, middling, sure]) == (sure, middling, lucky)
    assert ranked_by_novelty([lucky, middling, sure], [APART]) == (sure, middling, lucky)


def test_of_equal_bounds_the_shorter_wording_comes_first() -> None:
    wordy = Or((Literal("a", "<=", 1), Literal("b", "<=", 1)))
    long, short = one(0.5, FIRST, left=wordy), one(0.5, SECOND, left=Literal("z", "<=", 1))
    assert ranked([long, short]) == (short, long)
    assert ranked_by_novelty([long, short], [APART]) == (short, long)


def test_the_same_wording_about_two_tables_is_listed_once() -> None:
    left, right = QUERIES
    better = one(0.6, table=1, left=left, right=right)
    worse = one(0.5, table=0, left=left, right=right)
    half_the_wording = one(0.4, table=0, left=left)
    both = [APART, APART]
    assert ranked([worse, half_the_wording, better]) == (better, half_the_wording)
    assert ranked_by_novelty([worse, half_the_wording, better], both) == (better, half_the_wording)


def test_tables_are_compared_by_wording_only() -> None:
    here, there = one(0.6, table=0), one(0.5, table=1)
    assert ranked_by_novelty([here, there], [APART, APART]) == (here, there)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[a] & [b <= 2]", "[c] | [d]"),
        ("[b <= 2] & [a]", "[d] | [c]"),
        ("!(![a] | [b > 2])", "!(![c] & ![d])"),
        # The complements of both.
        ("![a] | [b > 2]", "!([d] | [c])"),
        ("!([b <= 2] & [a])", "![c] & ![d]"),
    ],
)
def test_another_table_s_pair_in_other_words_or_its_complement_is_left_out(
    left: str, right: str
) -> None:
    first = one(0.9, left=parse_text("[a] & [b <= 2]"), right=parse_text("[c] | [d]"))
    again = one(0.8, left=parse_text(left), right=parse_text(right), table=1)
    assert ranked_by_novelty([first, again], [APART, APART]) == (first,)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[a] & [b <= 2]", "!([c] | [d])"),
        ("[a] | [b <= 2]", "[c] | [d]"),
        ("[a] & [b <= 2] & [e]", "[c] | [d]"),
        ("[a] & [b > 2]", "[c] | [d]"),
    ],
)
def test_another_table_s_other_pair_is_kept(left: str, right: str) -> None:
    first = one(0.9, left=parse_text("[a] & [b <= 2]"), right=parse_text("[c] | [d]"))
    other = one(0.8, left=parse_text(left), right=parse_text(right), table=1)
    assert ranked_by_novelty([first, other], [APART, APART]) == (first, other)


def test_without_novelty_coverages_do_not_matter() -> None:
    first, again = one(0.6, FIRST), one(0.5, FIRST)
    assert ranked([again, first]) == (first, again)


def test_the_same_coverages_in_other_words_say_nothing_new() -> None:
    assert ranked_by_novelty([first := one(0.6, FIRST), one(0.6 - 1e-9, FIRST)], [APART]) == (
        first,
    )


def test_a_complement_says_nothing_new() -> None:
    first, complement = one(0.6, FIRST), one(0.59, ((1, 2, 3), (1, 2, 3)))
    assert ranked_by_novelty([first, complement], [APART]) == (first,)


def test_half_a_complement_is_nearly_as_little() -> None:
    # Where left and right agree perfectly, so do a query on one side and the other's complement.
    first, crossed = one(0.6, FIRST), one(0.59, ((0,), (1, 2, 3)))
    assert ranked_by_novelty([first, crossed], [APART]) == (first,)


def test_a_union_of_what_is_known_says_nothing_new() -> None:
    first, second = one(0.6, FIRST), one(0.59, SECOND)
    union = one(0.58, ((0, 1), (0, 1)))
    assert ranked_by_novelty([first, second, union], [APART]) == (first, second)
    # Nor does the rest, or a part of a union whose other part is known.
    assert ranked_by_novelty([one(0.7, ((0, 1), (0, 1))), first, second], [APART])[1:] == (first,)


def test_novelty_counts_as_much_as_the_lower_bound() -> None:
    # The second overlaps with the first, the third is a little weaker but covers other entities.
    first = one(0.6, ((0, 1), (0, 1)))
    overlapping, apart = one(0.55, ((0, 1, 2), (0, 1, 2))), one(0.5, ((0, 2), (0, 2)))
    assert ranked_by_novelty([overlapping, apart, first], [APART]) == (first, apart)
    assert ranked_by_novelty([overlapping, apart], [APART]) == (overlapping, apart)


@pytest.mark.parametrize(("low", "is_kept"), [(0.299, False), (0.301, True)])
def test_the_list_ends_where_the_value_falls_below_half_of_the_first_entry_s(
    low: float,
    is_kept: bool,  # noqa: FBT001
) -> None:
    first, other = one(0.6, table=0), one(low, table=1)
    assert (other in ranked_by_novelty([first, other], [APART, APART])) is is_kept


@pytest.mark.parametrize(("shifted", "is_kept"), [(2, False), (100, True)])
def test_a_few_entities_more_or_less_are_not_novel(shifted: int, is_kept: bool) -> None:  # noqa: FBT001
    table = fit_of([[100, 0, 0], [0, shifted, 0], [0, 0, 100]])
    narrow, wide = one(0.7, FIRST), one(0.69, ((0, 1), (0, 1)))
    assert (wide in ranked_by_novelty([narrow, wide], [table])) is is_kept


def test_an_empty_table_tells_nothing() -> None:
    # A negative count is noise: no entity is there.
    empty = fit_of([[-5, 0], [0, -3]])
    assert ranked_by_novelty([one(0.5, FIRST)], [empty]) == ()
    assert ranked_by_novelty([one(0.5, FIRST)], [fit_of([[50, -9], [-9, -2]])]) == ()


def test_nothing_in_nothing_out() -> None:
    assert ranked([]) == ()
    assert ranked_by_novelty([], []) == ()
    assert ranked_by_novelty([], [APART]) == ()


def entropy(codes: Sequence[object]) -> float:
    """Return the entropy of a list of things, by counting them."""
    shares = [count / len(codes) for count in Counter(codes).values()]
    return -math.fsum(share * math.log(share) for share in shares)


def novelty(found: Redescription, before: Sequence[Redescription], cells: np.ndarray) -> float:
    """Return the share of what a redescription tells about each entity that is new."""
    entities = [(i, j) for i, j in np.ndindex(cells.shape) for _ in range(max(int(cells[i, j]), 0))]
    codes = [
        tuple((i in r.left_ends, j in r.right_ends) for r in (found, *before)) for i, j in entities
    ]
    alone = entropy([one[0] for one in codes]) if entities else 0.0
    if alone == 0:
        return 0.0
    return (entropy(codes) - entropy([one[1:] for one in codes])) / alone


def greedily(
    found: Sequence[Redescription], tables: Sequence[np.ndarray]
) -> tuple[Redescription, ...]:
    """Take whatever has the largest value, if it is novel and half as valuable as the first."""
    kept: list[Redescription] = []
    while True:
        values = {}
        for r in found:
            new = novelty(r, [k for k in kept if k.table == r.table], tables[r.table])
            assert -1e-9 <= new <= 1 + 1e-9
            assume(not math.isclose(new, LEAST_NOVELTY, rel_tol=1e-9))
            if r not in kept and new >= LEAST_NOVELTY:
                values[r] = r.statistics.jaccard.low * new
        best = max(values, key=lambda r: values[r], default=None)
        if best is None:
            return tuple(kept)
        least = LEAST_RELATIVE_VALUE * kept[0].statistics.jaccard.low if kept else 0.0
        # Rounding decides ties, which are not what is compared here.
        others = [least, *(values[r] for r in values if r is not best)]
        assume(not any(math.isclose(values[best], other, rel_tol=1e-9) for other in others))
        if values[best] < least:
            return tuple(kept)
        kept.append(best)


coverages = st.tuples(
    st.sets(st.integers(0, 2), min_size=1).map(tuple),
    st.sets(st.integers(0, 3), min_size=1).map(tuple),
)
# Odd numbers, so that no two candidates have exactly the same value.
counts = arrays(np.int64, (3, 4), elements=st.integers(-3, 97))


def wordy(low: float, words: int, covered: Coverages = FIRST) -> Redescription:
    """A redescription with so many literals on the left, and one on the right."""
    literals = tuple(Literal(f"w{next(NUMBERS)}", "<=", 1) for _ in range(words))
    return one(low, covered, left=literals[0] if words == 1 else Or(literals))


@pytest.mark.parametrize(("low", "kept"), [(0.6, 1), (0.61, 1), (0.63, 4)])
def test_a_literal_costs_a_hundredth_of_the_value(low: float, kept: int) -> None:
    short, long = wordy(0.6, 1), wordy(low, 4)
    assert ranked_by_novelty([long, short], [APART]) == ((short,) if kept == 1 else (long,))


def test_however_long_it_is_the_only_find_is_listed() -> None:
    alone = wordy(0.1, 60)
    assert ranked_by_novelty([alone], [APART]) == (alone,)


@some
@given(st.data(), st.tuples(counts, counts), st.lists(st.floats(0.01, 1), max_size=8, unique=True))
def test_what_is_kept_is_what_counting_entities_would_keep(
    data: st.DataObject, tables: tuple[np.ndarray, np.ndarray], bounds: list[float]
) -> None:
    found = [one(low, data.draw(coverages), table=data.draw(st.integers(0, 1))) for low in bounds]
    fits = [fit_of(cells) for cells in tables]
    kept = ranked_by_novelty(found, fits)
    assert kept == greedily(found, tables)
    shuffled = Random(1).sample(found, len(found))
    assert ranked_by_novelty(shuffled, fits) == kept, "the order of the input matters"
    assert ranked_by_novelty(kept, fits) == kept
    if kept:
        lows = [r.statistics.jaccard.low for r in kept]
        assert lows[0] >= LEAST_RELATIVE_VALUE * max(lows)
    lows = [r.statistics.jaccard.low for r in ranked(found)]
    assert lows == sorted((r.statistics.jaccard.low for r in found), reverse=True)
