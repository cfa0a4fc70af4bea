"""Detection: the smallest match that a run would find, and confirm, from public values alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from redveil.algorithms.catalogue import make_algorithm
from redveil.data.synthetic import clinic_schema
from redveil.findings.detection import PRECISION, SHARES, Detection, detections, smallest_match
from redveil.findings.discovery import comparable_comparisons
from redveil.findings.released_table import split_counts
from redveil.findings.reporting import Constraints
from redveil.findings.required_budget import Match, is_chosen, is_confirmed, is_reported
from redveil.findings.statistics import expected_jaccard
from redveil.losses.loss import Loss
from redveil.schema import Schema
from support.booleans import boolean_schema

SCHEMA, AUTO, ANY = clinic_schema(), make_algorithm(), Constraints()
EPSILONS = ("0.03", "0.1", "0.3", "1")


def detected(size: float, *epsilons: str, schema: Schema = SCHEMA) -> tuple[Detection, ...]:
    return detections(
        lambda entities, price: AUTO.designs(schema, entities, price),
        ANY,
        split_counts(schema),
        size,
        [Loss(Fraction(one)) for one in epsilons],
    )


def strength(match: Match | None) -> float:
    """Return a number that grows with what a match needs; more than 1 if none is enough."""
    return 2.0 if match is None else match.corrected


def test_a_match_at_the_limit_is_found_and_confirmed_and_a_smaller_one_is_not() -> None:
    size, price = 20_000, Fraction(1, 10)
    [found] = detected(size, "0.1")
    assert list(found.limits) == list(SHARES) == ["rare", "medium", "common"]
    splits, designs = split_counts(SCHEMA), AUTO.designs(SCHEMA, size, price)

    def judged(match: Match) -> tuple[bool, bool]:
        each = [
            (
                is_chosen(one.choice, splits, size, match)
                and is_reported(one, ANY, size, match, {}),
                is_confirmed(one, comparable_comparisons(splits), size, match, {}),
            )
            for one in designs
        ]
        return any(is_found for is_found, _ in each), any(all(both) for both in each)

    for word, share in SHARES.items():
        limit = found.limits[word]
        assert limit.share == share
        assert limit.found is not None
        assert limit.confirmed is not None
        assert limit.confirmed.corrected >= limit.found.corrected > 0
        assert judged(Match(limit.found.jaccard + PRECISION, share))[0]
        assert not judged(Match(limit.found.jaccard - 2 * PRECISION, share))[0]
        assert judged(Match(limit.confirmed.jaccard + PRECISION, share))[1]
        assert not judged(Match(limit.confirmed.jaccard - 2 * PRECISION, share))[1]


def test_more_epsilon_and_more_entities_detect_less_or_as_little() -> None:
    few, many = detected(2_000, *EPSILONS), detected(40_000, *EPSILONS)
    for word in SHARES:
        for one in (few, many):
            needed = [strength(each.limits[word].found) for each in one]
            # In between, more ε may buy more or deeper trees, each a little less precise.
            assert needed[-1] == min(needed)
            assert needed[-1] < needed[0] or needed[0] > 1
        for less, more in zip(few, many, strict=True):
            assert strength(more.limits[word].found) <= strength(less.limits[word].found)


def test_what_is_common_is_found_first_and_the_least_is_more_than_chance() -> None:
    [weak] = detected(5_000, "0.03")
    assert weak.limits["rare"].found is None
    assert weak.limits["common"].found is not None
    for one in detected(10**6, "3"):
        for limit in one.limits.values():
            assert limit.found is not None
            by_chance = expected_jaccard(limit.share, limit.share, 1)
            assert limit.found.jaccard > by_chance


def test_among_more_splits_a_match_must_be_larger() -> None:
    few, many = (
        detected(3_000, "0.3", schema=boolean_schema(n, n))[0].limits["common"] for n in (5, 300)
    )
    assert strength(few.found) < strength(many.found)


@pytest.mark.parametrize("share", SHARES.values())
def test_the_smallest_match_is_found_by_bisection(share: float) -> None:
    wanted = (expected_jaccard(share, share, 1) + 1) / 2
    tried: list[float] = []

    def detects(match: Match) -> bool:
        tried.append(match.jaccard)
        assert match.share == share
        return match.jaccard >= wanted

    found = smallest_match(share, detects)
    assert found is not None
    assert wanted - 0.001 <= found.jaccard <= wanted + PRECISION
    assert len(tried) < 12
    assert smallest_match(share, lambda _: False) is None
