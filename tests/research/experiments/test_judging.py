from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import redveil
from oracle import worth as slow
from oracle.query_rows import Row
from redveil_research.experiments import datasets
from redveil_research.experiments.generators import generate
from redveil_research.experiments.judging import Judged, fisher, judge, judge_supports, worth
from redveil_research.experiments.subjects import PublicSubject

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data"


def support(text: str) -> np.ndarray:
    return np.array([one == "x" for one in text])


def judged(*pairs: tuple[str, str]) -> list[Judged]:
    supports = [(support(left), support(right)) for left, right in pairs]
    return list(judge_supports(supports, [2] * len(pairs)))


# By hand


def test_equal_supports_are_perfect_and_wholly_new() -> None:
    (one,) = judged(("xxxx....", "xxxx...."))
    assert (one.jaccard, one.corrected, one.novelty, one.share) == (1.0, 1.0, 1.0, 0.5)
    # Of the 70 ways to choose 4 of 8 one is this.
    assert one.p_value == pytest.approx(1 / 70)


def test_an_overlap_as_expected_is_worth_nothing_by_the_corrected_index() -> None:
    (one,) = judged(("xx..", "x.x."))
    assert one.jaccard == pytest.approx(1 / 3)
    assert one.corrected == pytest.approx(0.0)


def test_less_overlap_than_expected_has_a_negative_index() -> None:
    (one,) = judged(("xx..", "..xx"))
    # Expected: 1/4 in both, 3/4 in either.
    assert one.corrected == pytest.approx((0 - 1 / 3) / (1 - 1 / 3))
    assert one.p_value == 1.0


def test_what_was_told_is_not_new() -> None:
    first, again, complement, other = judged(
        ("xxxx....", "xxxx...."),
        ("xxxx....", "xxxx...."),
        ("....xxxx", "....xxxx"),
        ("xx..xx..", "xx..xx.."),
    )
    assert [first.novelty, again.novelty, complement.novelty] == pytest.approx([1, 0, 0])
    assert other.novelty == pytest.approx(1.0)


def test_half_of_what_was_told_is_new() -> None:
    # One query is as before; the other divides each half in two. Its entropy is that of quarters.
    _, second = judged(("xxxx....", "xxxx...."), ("xxxx....", "xx..xx.."))
    assert second.novelty == pytest.approx(math.log(2) / math.log(4))


def test_the_larger_query_decides_whether_it_is_a_larger_half() -> None:
    (one,) = judged(("x.......", "xxxxxx.."))
    assert one.share == 0.75


@pytest.mark.parametrize(("left", "right"), [("....", "...."), ("....", "xx.."), ("xxxx", "xxxx")])
def test_empty_and_full_supports_tell_nothing(left: str, right: str) -> None:
    (one,) = judged((left, right))
    assert one.corrected == 0.0
    assert one.p_value == 1.0


def test_worth_is_what_is_told_less_words_and_guesses() -> None:
    good = Judged(0.9, 0.8, 1e-5, 0.5, 3, 0.4)
    guess = Judged(0.9, 0.8, 0.011, 0.5, 3, 0.4)
    against = Judged(0.1, -0.3, 0.01, 1.0, 2, 0.4)
    assert worth([good]) == pytest.approx(0.8 * 0.5 * 0.99**3)
    assert worth([good, guess]) == pytest.approx(0.8 * 0.5 * 0.99**3 - 1)
    assert worth([against]) == 0.0
    assert worth([]) == 0.0


@pytest.mark.parametrize("table", [(8, 10, 9, 20), (1, 5, 5, 30), (0, 3, 4, 9), (5, 5, 5, 5)])
def test_fishers_tail_counts_ways(table: tuple[int, int, int, int]) -> None:
    both, left, right, n = table
    ways = [
        math.comb(left, k) * math.comb(n - left, right - k)
        for k in range(both, min(left, right) + 1)
    ]
    assert fisher(*table) == pytest.approx(sum(ways) / math.comb(n, right), rel=1e-9)


# Against the slow twin


def agrees(result: redveil.Result, fast: Sequence[Judged], rows: tuple[list[Row], ...]) -> None:
    expected = slow.judge(result, rows[0], rows[1])
    assert len(fast) == len(expected) > 0
    for one, other in zip(fast, expected, strict=True):
        for name in ("jaccard", "corrected", "p_value", "novelty", "literals", "share"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9), name


def rows_of(
    result: redveil.Result, left: Sequence[Mapping[str, str]], right: Sequence[Mapping[str, str]]
) -> tuple[list[Row], ...]:
    attributes = result.document.attributes
    return slow.typed_rows(left, attributes.left), slow.typed_rows(right, attributes.right)


@pytest.mark.parametrize("name", ["gradients", "survey", "claims"])
def test_lists_from_generated_data_are_judged_alike(name: str) -> None:
    made = generate(name, 300)
    # Without noise to speak of, lists are long; with depth 3 their queries are.
    result = redveil.mine(made.load(), 100, depth=3, trials=3)
    texts = [
        [{k: None if v is None else str(v) for k, v in row.items()} for row in table.to_pylist()]
        for table in (made.tables.left, made.tables.right)
    ]
    agrees(result, judge(result, made.tables.views()), rows_of(result, *texts))  # type: ignore[arg-type]


@pytest.mark.parametrize("schema", ["draft", "declared"])
@pytest.mark.parametrize("name", ["NPAS-2016", "NPAS"])
def test_lists_from_public_data_are_judged_alike(name: str, schema: str) -> None:
    one = datasets.find(name)
    if one.missing(FOLDER):
        pytest.skip(f"{name} is not beside the repository")
    loaded = PublicSubject(name, FOLDER, schema).load()  # type: ignore[arg-type]
    result = redveil.mine(loaded.dataset, 50, depth=2, trials=3)
    by_key = []
    for path in one.files(FOLDER):
        with path.open(encoding="utf-8", newline="") as file:
            by_key.append({row["id"]: row for row in csv.DictReader(file)})
    keys = [key for key in by_key[0] if key in by_key[1]]
    texts = [[side[key] for key in keys] for side in by_key]
    agrees(result, judge(result, loaded.views), rows_of(result, *texts))


@pytest.mark.parametrize("name", ["survey", "claims"])
def test_supports_are_those_of_the_sealed_data(name: str) -> None:
    made = generate(name, 1500)
    dataset = made.load()
    result = redveil.mine(dataset, 20, depth=3, trials=4)
    truth = redveil.truth(result, dataset)
    fast = judge(result, made.tables.views())
    assert [one.jaccard for one in fast] == [one.true.jaccard for one in truth if one.true]
    assert fast
