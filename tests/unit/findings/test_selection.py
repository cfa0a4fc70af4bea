from __future__ import annotations

from dataclasses import replace

import pytest

from redveil.errors import InputError
from redveil.findings.redescription import Redescription
from redveil.findings.selection import Selection
from redveil.findings.statistics import Interval, Statistics
from redveil.query.formula import And, Literal

HALF, FEW = Interval(0.5, 0.4, 0.6), Interval(60, 50, 70)
GOUT, OLD = Literal("gout", "=", value=True), Literal("age", ">", 40)
FOUND = Redescription(
    GOUT,
    And((GOUT, OLD)),
    Statistics(HALF, 0.1, HALF, FEW, FEW, FEW, 1e-9, 1e-8, 1e-12),
    0,
    (0,),
    (1,),
)


def test_nothing_is_refused_unless_somebody_asks() -> None:
    negative = replace(FOUND.statistics, corrected=Interval(-0.2, -0.5, 0.1))
    assert Selection().allows(FOUND)
    assert Selection().allows(replace(FOUND, statistics=negative))


@pytest.mark.parametrize(("least", "allowed"), [(0.4, True), (0.5, True), (0.51, False)])
def test_the_corrected_index_is_judged_at_its_estimate(least: float, *, allowed: bool) -> None:
    assert Selection(min_corrected=least).allows(FOUND) is allowed


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_corrected": -0.1}, "min_corrected must lie between 0 and 1"),
        ({"min_corrected": "much"}, "min_corrected must lie between 0 and 1"),
        ({"confirmed": "yes"}, "confirmed must be True or False"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Selection(**given)  # type: ignore[arg-type]
