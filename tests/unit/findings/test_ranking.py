"""Ranking: a list in which every entry says something new, and says it plainly."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from redveil.findings.estimate import Fit
from redveil.findings.extraction import Candidate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.ranking import appeal, ranked, ranked_by_novelty
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import Interval, Statistics
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Literal, Or, Query, attributes, literal_count
from redveil.query.text import parse_text, to_text
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree

some = settings(max_examples=60, deadline=None)
NUMBERS = itertools.count()
SUPPORT = Interval(100.0, 90.0, 110.0)
Coverages = tuple[tuple[int, ...], tuple[int, ...]]


def one(
    value: float,
    covered: Coverages = ((0,), (0,)),
    *,
    table: int = 0,
    left: str | None = None,
    right: str | None = None,
    half: float = 0.3,
    confirmed: bool = True,
) -> Candidate:
    """Return what ranking looks at; its attributes are its own if no queries are given."""
    queries = [
        parse_text(text) if text else Literal(f"a{next(NUMBERS)}", "<=", 1)
        for text in (left, right)
    ]
    return Candidate(table, queries[0], queries[1], *covered, value, half, confirmed=confirmed)


def listing(
    found: Sequence[Candidate], fits: Sequence[Fit], tables: Sequence[ReleasedTable] = ()
) -> list[Candidate]:
    """Return the list, without which of its entries are details."""
    return [replace(entry, detail=None) for entry in ranked_by_novelty(found, fits, tables)]


def fit_of(cells: np.ndarray | list[list[float]]) -> Fit:
    return Fit(np.array(cells, dtype=np.float64), 1.0, 1.0, 1.0, 1.0)


APART = fit_of(np.diag([100.0, 100.0, 100.0, 100.0]))
FIRST, SECOND, THIRD, FOURTH = (((i,), (i,)) for i in range(4))


# ——— Within a table ———


def test_the_most_valuable_comes_first() -> None:
    best, middling, last = one(0.6, FIRST), one(0.58, SECOND), one(0.56, THIRD)
    assert listing([last, middling, best], [APART]) == [best, middling, last]


def test_the_same_coverages_in_other_words_say_nothing_new() -> None:
    first, again = one(0.6, FIRST), one(0.6 - 1e-9, FIRST)
    assert listing([first, again], [APART]) == [first]


def test_a_complement_says_nothing_new() -> None:
    first, complement = one(0.6, FIRST), one(0.59, ((1, 2, 3), (1, 2, 3)))
    assert listing([first, complement], [APART]) == [first]


def test_half_a_complement_is_nearly_as_little() -> None:
    # Where left and right agree perfectly, so do a query on one side and the other's complement.
    first, crossed = one(0.6, FIRST), one(0.59, ((0,), (1, 2, 3)))
    assert listing([first, crossed], [APART]) == [first]


def test_a_union_of_what_is_known_says_nothing_new() -> None:
    first, second = one(0.6, FIRST), one(0.59, SECOND)
    union = one(0.58, ((0, 1), (0, 1)))
    assert listing([first, second, union], [APART]) == [first, second]
    # Nor does a part of a union whose other part is known.
    wide = one(0.7, ((0, 1), (0, 1)))
    assert listing([wide, first, second], [APART]) == [wide, first]


def test_novelty_counts_as_much_as_value() -> None:
    # The second overlaps with the first, the third is a little weaker but covers other entities.
    first = one(0.6, ((0, 1), (0, 1)))
    overlapping, apart = one(0.55, ((0, 1, 2), (0, 1, 2))), one(0.5, ((0, 2), (0, 2)))
    listed = listing([overlapping, apart, first], [APART])
    assert listed[:2] == [first, apart]


@pytest.mark.parametrize(("shifted", "is_kept"), [(2, False), (100, True)])
def test_a_few_entities_more_or_less_are_not_novel(shifted: int, is_kept: bool) -> None:  # noqa: FBT001
    table = fit_of([[100, 0, 0], [0, shifted, 0], [0, 0, 100]])
    narrow, wide = one(0.7, FIRST), one(0.69, ((0, 1), (0, 1)))
    assert (wide in listing([narrow, wide], [table])) is is_kept


def test_an_empty_table_tells_nothing() -> None:
    # A negative count is noise: no entity is there.
    empty = fit_of([[-5, 0], [0, -3]])
    assert listing([one(0.5, FIRST)], [empty]) == []
    assert listing([one(0.5, FIRST)], [fit_of([[50, -9], [-9, -2]])]) == []


def test_nothing_in_nothing_out() -> None:
    assert ranked([]) == ()
    assert listing([], []) == []
    assert listing([], [APART]) == []


@pytest.mark.parametrize(("value", "is_kept"), [(0.029, False), (0.031, True)])
def test_the_list_ends_where_the_value_falls_below_a_twentieth_of_the_first_entry_s(
    value: float,
    is_kept: bool,  # noqa: FBT001
) -> None:
    first, other = one(0.6, table=0), one(value, table=1)
    assert (other in listing([first, other], [APART, APART])) is is_kept


def test_a_story_that_is_worth_less_than_a_tenth_of_the_first_comes_after_details() -> None:
    first, weak = one(0.6, table=0), one(0.05, table=1)
    detail = one(0.04, SECOND, table=0)
    assert listing([detail, weak, first], [APART, APART]) == [first, weak, detail]
    weaker = one(0.05, SECOND, table=0)
    assert listing([weaker, one(0.04, table=1), first], [APART, APART])[1] == weaker


# ——— Between tables ———


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[a] & [b <= 2]", "[c]"),
        # Other cut points, or the complements: the same attributes are one fact.
        ("[a] & [b <= 7]", "[c]"),
        ("![a] | [b > 2]", "![c]"),
        # A part of what was said.
        ("[a]", "[c]"),
        ("[b > 1]", "[c]"),
    ],
)
def test_another_table_s_pair_of_the_same_attributes_is_left_out(left: str, right: str) -> None:
    first = one(0.9, left="[a] & [b <= 2]", right="[c]")
    again = one(0.7, left=left, right=right, table=1)
    assert listing([first, again], [APART, APART]) == [first]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("[a] & [e]", "[c]"),
        ("[a] & [b <= 2]", "[d]"),
        ("[e]", "[f]"),
        # The other way round: attributes of the two views are no relatives.
        ("[c]", "[a]"),
    ],
)
def test_another_table_s_pair_of_other_attributes_is_kept(left: str, right: str) -> None:
    first = one(0.9, left="[a] & [b <= 2]", right="[c]")
    other = one(0.8, left=left, right=right, table=1)
    assert set(listing([first, other], [APART, APART])) == {first, other}


def test_what_two_entries_say_together_is_not_what_a_pair_of_their_queries_says() -> None:
    first = one(0.9, left="[a]", right="[c]")
    second = one(0.85, SECOND, left="[b]", right="[d]")
    # Half of its pairs of attributes, a and c, b and d, are known.
    both = one(0.8, left="[a] & [b]", right="[c] & [d]", table=1)
    assert listing([first, second, both], [APART, APART])[-1] == both


def test_between_tables_coverages_do_not_matter_and_within_a_table_attributes_do_not() -> None:
    here, there = one(0.6, FIRST, table=0), one(0.5, FIRST, table=1)
    assert listing([here, there], [APART, APART]) == [here, there]
    same = [one(0.6, FIRST, left="[a]", right="[b]"), one(0.5, SECOND, left="![a]", right="[b]")]
    assert listing(same, [APART]) == same
    # But for other cut points.
    same = [one(x, y, left="[a]", right=f"[b <= {x}]") for x, y in ((0.6, FIRST), (0.5, SECOND))]
    assert listing(same, [APART]) == same[:1]


# ——— Stories, details and doubts ———


def test_a_simple_rule_comes_before_its_refinement() -> None:
    simple = one(0.5, ((0, 1), (0, 1)), left="[a]", right="[c]")
    refined = one(0.6, FIRST, left="[a] & [b]", right="[c] & [d]")
    entries = ranked_by_novelty([refined, simple], [APART])
    assert entries == [simple, replace(refined, detail=1)]
    # Unless it says far less.
    far_less = replace(simple, value=0.4)
    assert listing([refined, far_less], [APART])[0] == refined


def test_every_table_s_story_comes_before_all_details() -> None:
    stories = [one(0.6, FIRST), one(0.2, FIRST, table=1)]
    details = [one(0.5, SECOND), one(0.19, SECOND, table=1)]
    entries = ranked_by_novelty([*details, *stories], [APART, APART])
    numbered = [replace(detail, detail=number) for number, detail in enumerate(details, start=1)]
    assert entries == [*stories, *numbered]


def test_what_another_table_has_told_in_part_is_a_detail() -> None:
    story = one(0.6, left="[a]", right="[c]")
    partly = one(0.7, left="[a] & [b]", right="[c] & [d]", table=1)
    assert ranked_by_novelty([partly, story], [APART, APART]) == [
        story,
        replace(partly, detail=1),
    ]


def test_what_is_confirmed_comes_first() -> None:
    sure, doubtful = one(0.5, FIRST), one(0.9, SECOND, confirmed=False)
    assert listing([doubtful, sure], [APART]) == [sure, doubtful]
    # In other words, it has told what the other would.
    same = one(0.9, FIRST, confirmed=False)
    assert listing([same, sure], [APART]) == [sure]


@pytest.mark.parametrize(("value", "is_kept"), [(0.179, False), (0.181, True)])
def test_of_what_is_not_confirmed_only_the_most_valuable_is_listed(
    value: float,
    is_kept: bool,  # noqa: FBT001
) -> None:
    sure, doubtful = one(0.6, table=0), one(value, table=1, confirmed=False)
    assert (doubtful in listing([sure, doubtful], [APART, APART])) is is_kept
    # If nothing is confirmed, the rest is all there is.
    assert listing([doubtful], [APART, APART]) == [doubtful]


# ——— What reads well ———


def released(side: Side, *names: str) -> ReleasedTree:
    """Return a tree that asks for a first attribute, and where it is true for a second."""
    splits = tuple(Literal(name, "=", value=True) for name in names)
    asked = (*splits, None) if len(splits) > 1 else splits
    tree = Tree(side, tuple(None if one is None else n for n, one in enumerate(asked)))
    known = {name: Attribute(name, Kind.BOOLEAN, required=True) for name in "abcd"}
    return ReleasedTree(tree, asked, known)


def test_what_another_table_s_entry_says_is_known_where_the_trees_can_decide_it() -> None:
    """The rest of an entry, less a part of it, says nothing new."""
    trees = [
        (released(Side.LEFT, *left), released(Side.RIGHT, *right))
        for left, right in (("a", "c"), ("ab", "cd"))
    ]
    counts = np.diag([100, 100, 100])
    tables = [
        ReleasedTable(
            LeafTable(left.tree, right.tree, cells, None, None, Prices(Fraction(1))), left, right
        )
        for (left, right), cells in zip(trees, (np.diag([200, 100]), counts), strict=True)
    ]

    def found(value: float, left: str, right: str, table: int) -> Candidate:
        queries = parse_text(left), parse_text(right)
        lefts, rights = (
            tuple(np.flatnonzero(coverage(query, tree).covered).tolist())
            for query, tree in zip(queries, trees[table], strict=True)
        )
        return Candidate(table, *queries, lefts, rights, value, 0.3, confirmed=True)

    first = found(0.9, "[a]", "[c]", 0)
    part = found(0.8, "[a] & [b]", "[c] & [d]", 1)
    rest = found(0.7, "[a] & ![b]", "[c] & ![d]", 1)
    fits = [fit_of(np.diag([200.0, 100.0])), fit_of(counts)]
    assert listing([first, part, rest], fits, tables) == [first, part]
    assert listing([first, part, rest], fits) == [first, part, rest]


@pytest.mark.parametrize(("with_both", "first"), [(95, "[a]"), (70, "[a] & [b]")])
def test_no_story_begins_with_a_rider(with_both: int, first: str) -> None:
    """Nearly everybody with a also has b: then b only makes the rule longer."""
    left, right = released(Side.LEFT, "a", "b"), released(Side.RIGHT, "c")
    cells = np.array([[0, 200], [with_both, 0], [100 - with_both, 0]])
    table = ReleasedTable(
        LeafTable(left.tree, right.tree, cells, None, None, Prices(Fraction(1))), left, right
    )

    def found(value: float, query: str) -> Candidate:
        ends = [
            tuple(np.flatnonzero(coverage(parse_text(text), tree).covered).tolist())
            for text, tree in ((query, left), ("[c]", right))
        ]
        queries = parse_text(query), parse_text("[c]")
        return Candidate(0, *queries, ends[0], ends[1], value, 0.3, confirmed=True)

    simple, longer = found(0.5, "[a]"), found(0.6, "[a] & [b]")
    entries = ranked_by_novelty([longer, simple], [fit_of(cells.astype(float))], [table])
    assert to_text(entries[0].left) == first


def test_of_a_pair_and_its_complement_the_smaller_half_is_listed() -> None:
    large = one(0.6, ((1, 2, 3), (1, 2, 3)), half=0.75)
    small = one(0.5, FIRST, half=0.25)
    assert listing([large, small], [APART]) == [small]
    # Unless the larger half says far more.
    far_better = one(0.7, ((1, 2, 3), (1, 2, 3)), half=0.75)
    assert listing([far_better, small], [APART]) == [far_better]


def test_a_plain_query_is_listed_rather_than_a_negated_group() -> None:
    negated = one(0.55, FIRST, left="!([a] & [b])")
    plain = one(0.5, FIRST, left="![a] | ![b]")
    assert listing([negated, plain], [APART]) == [plain]


@pytest.mark.parametrize(
    ("left", "half", "keeps"),
    [
        ("[a]", 0.5, 1.0),
        ("[a]", 0.51, 0.75),
        ("!([a] & [b])", 0.3, 0.25),
        ("[a] | [b] | [c]", 0.3, 0.3 * 0.3),
        ("![a] & [b is known]", 0.3, 0.7),
        ("!([a] & [b]) & !([c] | [d])", 0.6, 0.75 * 0.25 * 0.25 * 0.3),
        ("![a]", 0.3, 1.0),
    ],
)
def test_appeal_is_value_less_what_is_common_and_negated(
    left: str, half: float, keeps: float
) -> None:
    assert appeal(one(0.5, left=left, half=half)) == pytest.approx(0.5 * keeps)
    assert appeal(one(0.5, right=left, half=half)) == pytest.approx(0.5 * keeps)


# ——— Against counting entities ———


def entropy(codes: Sequence[object]) -> float:
    """Return the entropy of a list of things, by counting them."""
    shares = [count / len(codes) for count in Counter(codes).values()]
    return -math.fsum(share * math.log(share) for share in shares)


def novelty(found: Candidate, before: Sequence[Candidate], cells: np.ndarray) -> float:
    """Return the share of what a candidate tells about each entity that is new."""
    entities = [(i, j) for i, j in np.ndindex(cells.shape) for _ in range(max(int(cells[i, j]), 0))]
    codes = [
        tuple((i in r.left_ends, j in r.right_ends) for r in (found, *before)) for i, j in entities
    ]
    alone = entropy([one[0] for one in codes]) if entities else 0.0
    if alone == 0:
        return 0.0
    return (entropy(codes) - entropy([one[1:] for one in codes])) / alone


def pairs_of(one: Candidate) -> set[tuple[str, str]]:
    return set(itertools.product(attributes(one.left), attributes(one.right)))


def left_by(found: Candidate, entries: Sequence[Candidate]) -> float:
    """Return the share of a candidate's pairs of attributes that no entry has."""
    theirs = set().union(*map(pairs_of, entries))
    return len(pairs_of(found) - theirs) / len(pairs_of(found))


def greedily(found: Sequence[Candidate], tables: Sequence[np.ndarray]) -> list[Candidate]:
    """Take, in three turns, whatever is worth most if it is novel and valuable enough."""
    kept: list[Candidate] = []
    stories: list[Candidate] = []
    first = 0.0
    for turn, least in (("stories", 0.1), ("details", 0.05), ("doubts", 0.3)):
        while True:
            values = values_now(
                [r for r in found if r.confirmed != (turn == "doubts")], kept, tables
            )
            if turn == "stories":
                values = {r: value for r, value in values.items() if begins(r, kept)}
            if turn == "details":
                values = {
                    r: value
                    for r, value in values.items()
                    if begins(r, kept)
                    or (adds(r, stories, tables[r.table]) and not any(repeats(r, k) for k in kept))
                }
            # Rounding decides ties, which are not what is compared here.
            distinct([least * first, *values.values()])
            offers = [r for r, value in values.items() if value >= least * first]
            ranks = {
                r: values[r] * (0.9 ** words_of(r) if turn == "stories" else 1) for r in offers
            }
            distinct(ranks.values())
            taken = max(offers, key=lambda r: ranks[r], default=None)
            if taken is None or ranks[taken] <= 0:
                break
            first = first or values[taken]
            stories += [taken] if begins(taken, kept) else []
            kept.append(taken)
    return kept


def repeats(found: Candidate, entry: Candidate) -> bool:
    """Return whether a candidate says the same as an entry of its table, or less of the same."""
    sides = ((found.left, entry.left), (found.right, entry.right))
    names = [(set(attributes(mine)), set(attributes(theirs))) for mine, theirs in sides]
    same = all(mine == theirs for mine, theirs in names)
    alike = all(("|" in to_text(mine)) == ("|" in to_text(theirs)) for mine, theirs in sides)
    fewer = not same and all(mine <= theirs for mine, theirs in names)
    return found.table == entry.table and (fewer or (same and alike))


def adds(found: Candidate, stories: Sequence[Candidate], cells: np.ndarray) -> bool:
    """Return whether a candidate is a detail, whatever stories its table has told."""
    mine = frozenset(found.left_ends), frozenset(found.right_ends)
    everything = tuple(frozenset(range(size)) for size in cells.shape)
    for story in stories:
        if story.table != found.table:
            continue
        told = frozenset(story.left_ends), frozenset(story.right_ends)
        turned = everything[0] - told[0], everything[1] - told[1]
        for base, least in ((told, 0.1), (turned, 0.25)):
            if mine[0] <= base[0] and mine[1] <= base[1]:
                within = index_of(mine, base, cells)
                assume(not math.isclose(within, least, rel_tol=1e-9))
                divides = all(
                    10 * people(here, cells) <= 9 * people(there, cells)
                    for here, there in (
                        ((mine[0], everything[1]), (base[0], everything[1])),
                        ((everything[0], mine[1]), (everything[0], base[1])),
                    )
                )
                if not (divides and within >= least):
                    return False
    return found.half <= 0.5 and "|" not in to_text(found.left) + to_text(found.right)


def people(ends: Sequence[frozenset[int]], cells: np.ndarray) -> int:
    return sum(max(int(cells[i, j]), 0) for i in ends[0] for j in ends[1])


def index_of(
    ends: Sequence[frozenset[int]], among: Sequence[frozenset[int]], cells: np.ndarray
) -> float:
    """Return the corrected index of two unions of ends among those in two others."""
    both, size = people(ends, cells), people(among, cells)
    left, right = people((ends[0], among[1]), cells), people((among[0], ends[1]), cells)
    if left + right == 0:
        return 0.0
    expected = left * right / (size * (left + right) - left * right)
    return (both / (left + right - both) - expected) / (1 - expected) if expected < 1 else 0.0


def values_now(
    found: Sequence[Candidate], kept: Sequence[Candidate], tables: Sequence[np.ndarray]
) -> dict[Candidate, float]:
    """Return what each candidate that is novel enough would add."""
    values = {}
    for r in found:
        here = [k for k in kept if k.table == r.table]
        new = novelty(r, here, tables[r.table])
        assert -1e-9 <= new <= 1 + 1e-9
        new = min(new, left_by(r, [k for k in kept if k.table != r.table]))
        assume(not math.isclose(new, 0.1, rel_tol=1e-9) or r in kept)
        if r not in kept and new >= 0.1:
            joined = to_text(r.left).count("|") + to_text(r.right).count("|")
            plain = 0.3**joined * (0.75 if r.half > 0.5 else 1.0)
            values[r] = r.value * plain * new
    return values


def begins(found: Candidate, kept: Sequence[Candidate]) -> bool:
    """Return whether nobody has begun to tell what a candidate is about."""
    others = [k for k in kept if k.table != found.table]
    return len(others) == len(kept) and left_by(found, others) == 1


def words_of(found: Candidate) -> int:
    return literal_count(found.left) + literal_count(found.right)


def distinct(numbers: Iterable[float]) -> None:
    ordered = sorted(numbers)
    assume(not any(math.isclose(a, b, rel_tol=1e-9) for a, b in itertools.pairwise(ordered)))


coverages = st.tuples(
    st.sets(st.integers(0, 2), min_size=1).map(tuple),
    st.sets(st.integers(0, 3), min_size=1).map(tuple),
)
# Odd numbers, so that no two candidates have exactly the same value.
counts = arrays(np.int64, (3, 4), elements=st.integers(-3, 97))
words = st.sets(st.sampled_from("abcde"), min_size=1, max_size=3).map(
    lambda chosen: (" | " if "e" in chosen else " & ").join(f"[{n}]" for n in sorted(chosen))
)


@some
@given(st.data(), st.tuples(counts, counts), st.lists(st.floats(0.01, 1), max_size=8, unique=True))
def test_what_is_kept_is_what_counting_entities_would_keep(
    data: st.DataObject, tables: tuple[np.ndarray, np.ndarray], values: list[float]
) -> None:
    found = [
        one(
            value,
            data.draw(coverages),
            table=data.draw(st.integers(0, 1)),
            left=data.draw(words),
            right=data.draw(words),
            half=data.draw(st.sampled_from([0.3, 0.6])),
            confirmed=data.draw(st.booleans()),
        )
        for value in values
    ]
    fits = [fit_of(cells) for cells in tables]
    kept = listing(found, fits)
    assert kept == greedily(found, tables)
    shuffled = Random(1).sample(found, len(found))
    assert listing(shuffled, fits) == kept, "the order of the input matters"
    assert listing(kept, fits) == kept


# ——— The published list ———


def listed(
    low: float,
    *,
    table: int = 0,
    left: Query | None = None,
    right: Query | None = None,
    estimate: float | None = None,
) -> Redescription:
    """Return what the paper's ranking looks at; its queries are its own if not given."""
    middle = low if estimate is None else estimate
    index = Interval(middle, low, 1.0)
    return Redescription(
        left or Literal(f"l{next(NUMBERS)}", "<=", 1),
        right or Literal(f"r{next(NUMBERS)}", "<=", 1),
        Statistics(index, 0.1, index, SUPPORT, SUPPORT, SUPPORT, 0.001, 0.002, 0.0001),
        table,
        *FIRST,
    )


def test_the_highest_lower_bound_comes_first_whatever_the_estimate() -> None:
    sure, lucky = listed(0.6, estimate=0.65), listed(0.56, estimate=0.9)
    middling = listed(0.58, estimate=0.7)
    assert ranked([lucky, middling, sure]) == (sure, middling, lucky)


def test_of_equal_bounds_the_shorter_wording_comes_first() -> None:
    wordy = Or((Literal("a", "<=", 1), Literal("b", "<=", 1)))
    long, short = listed(0.5, left=wordy), listed(0.5, left=Literal("z", "<=", 1))
    assert ranked([long, short]) == (short, long)


def test_the_same_wording_about_two_tables_is_listed_once() -> None:
    left, right = Literal("a", "<=", 1), Literal("b", ">", 2)
    better = listed(0.6, table=1, left=left, right=right)
    worse = listed(0.5, table=0, left=left, right=right)
    half_the_wording = listed(0.4, table=0, left=left)
    assert ranked([worse, half_the_wording, better]) == (better, half_the_wording)


def test_without_novelty_coverages_do_not_matter() -> None:
    first, again = listed(0.6), listed(0.5)
    assert ranked([again, first]) == (first, again)


@some
@given(st.lists(st.floats(0.01, 1), max_size=8))
def test_all_wordings_are_listed_by_their_bounds(bounds: list[float]) -> None:
    lows = [r.statistics.jaccard.low for r in ranked([listed(low) for low in bounds])]
    assert lows == sorted(bounds, reverse=True)
