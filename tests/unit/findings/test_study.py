"""Studies: parts that add up, and what each would detect."""

from __future__ import annotations

from fractions import Fraction

import pytest

from redveil.algorithms.catalogue import make_algorithm
from redveil.data.synthetic import clinic_schema
from redveil.findings.detection import detections
from redveil.findings.released_table import split_counts
from redveil.findings.reporting import Constraints
from redveil.findings.required_budget import Design
from redveil.findings.study import REFINED_SHARE, Part, study
from redveil.losses.loss import Loss, Price

SCHEMA = clinic_schema()


def designs(size: float, price: Price) -> tuple[Design, ...]:
    return make_algorithm().designs(SCHEMA, size, price)


def studied(size: float, loss: Loss) -> tuple[Part, ...]:
    return study(designs, Constraints(), split_counts(SCHEMA), size, loss)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
def test_the_parts_add_up_exactly(delta: Fraction) -> None:
    parts = studied(20_000, Loss(Fraction(7, 3), delta))
    assert [one.name for one in parts] == ["explore", "refine", "confirm"]
    assert sum(one.loss.epsilon for one in parts) == Fraction(7, 3)
    assert sum(one.loss.delta for one in parts) == delta


def test_exploring_is_what_a_run_for_its_share_would_detect() -> None:
    size, loss = 20_000, Loss(Fraction(1, 2))
    explore, refine, confirm = studied(size, loss)
    [alone] = detections(
        designs, Constraints(), split_counts(SCHEMA), size, [Loss(Fraction(3, 10))]
    )
    assert explore.limits == alone.limits
    assert (explore.size, refine.size, confirm.size) == (size, size * REFINED_SHARE, size)


def test_confirming_chooses_nothing_so_it_detects_what_is_rare_too() -> None:
    [confirm] = [one for one in studied(50_000, Loss(Fraction(1))) if one.name == "confirm"]
    for limit in confirm.limits.values():
        assert limit.confirmed is not None
        assert limit.confirmed.corrected < 0.5


def test_with_more_there_is_more_to_detect() -> None:
    for less, more in zip(
        studied(5_000, Loss(Fraction(1, 5))), studied(50_000, Loss(Fraction(1))), strict=True
    ):
        weak, strong = less.limits["common"].confirmed, more.limits["common"].confirmed
        assert strong is not None
        assert weak is None or strong.corrected <= weak.corrected
