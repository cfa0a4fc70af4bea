"""What the experiment reads off a result is what the rule in the program went by."""

from __future__ import annotations

from typing import Any

import pytest

import redveil
from redveil import mining
from redveil.algorithms import tuning, twin
from redveil.algorithms.catalogue import make_algorithm
from redveil.experiments import scouting
from redveil.experiments.generators import build
from redveil.privacy.loss import parse_loss
from redveil.report.result import Result
from redveil.schema import Side

DATA = build("gradients", 3000)


@pytest.fixture(scope="module")
def mined() -> Result:
    return redveil.mine(DATA, 1)


def test_the_strength_is_that_of_the_rule(mined: Result) -> None:
    assert mined.document.entities is not None
    expected = tuning.strength(DATA.schema, mined.document.entities.estimate)
    assert scouting.strength(mined) == pytest.approx(expected, rel=0.01)


def test_constants_are_those_of_the_rule() -> None:
    assert (scouting.REFERENCE_CHOICE, scouting.CAUTION) == (tuning.REFERENCE_CHOICE, twin.CAUTION)


def test_what_the_scout_saw_is_what_the_rule_saw() -> None:
    wanted = make_algorithm()
    reporting = wanted.profile.reporting(wanted.profile.constraints(), None)
    mined = mining.mine(DATA, wanted, reporting, parse_loss(1, None))
    result = mining.report(mined)
    # Fitted counts are rounded in a result file.
    expected = twin.related(mined.run.tables[0])
    assert scouting.related(result) == pytest.approx(expected, abs=1e-5)
    grown = mined.run.algorithm
    assert scouting.shape(result) == f"{grown.depth}×{grown.trials}"


def test_the_scout_sees_a_strong_relation_and_none(mined: Result) -> None:
    nothing = scouting.related(redveil.mine(build("noise", 3000), 1))
    something = scouting.related(mined)
    assert nothing is not None
    assert something is not None
    assert nothing < 0.04 < something


@pytest.mark.parametrize("given", [{"depth": 2, "trials": 1}, {"delta": "1e-6"}])
def test_a_deep_first_pair_or_other_noise_is_no_scout(given: dict[str, Any]) -> None:
    assert scouting.related(redveil.mine(DATA, 1, **given)) is None


def test_all_splits_of_both_views_are_counted(mined: Result) -> None:
    document = mined.document
    for side, attributes in (
        (Side.LEFT, document.attributes.left),
        (Side.RIGHT, document.attributes.right),
    ):
        assert sum(one.splits for one in attributes) == DATA.schema.view(side).split_count
