"""Pairs of data sets and cases of the audit, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from redveil.algorithms.alternation import AltExpM
from redveil.errors import InputError
from redveil.findings.reporting import Reporting
from redveil.losses.loss import Loss
from redveil.mining import Mined, mine
from redveil.sealed import open_for_owner
from redveil_research.audit.audit import FEWEST, audit
from redveil_research.audit.cases import Pair, cases, pair, pairs
from redveil_research.audit.events import Observer
from support.seeded import FixedNoise


@pytest.mark.uncovered
def test_progress_only_grows_and_ends_at_one() -> None:
    def refused(*_: object) -> Mined:
        raise InputError("no run is needed to count them")

    shares: list[float] = []
    case = cases("alt-expm", "hardened")[0]
    audit(case, Loss(Fraction(1)), FEWEST, refused, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_too_few_runs_and_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="runs must be at least 400"):
        audit(cases("twin")[0], Loss(Fraction(1)), FEWEST - 1)
    with pytest.raises(InputError, match="unknown algorithm; use one of twin, alt-expm"):
        cases("oak")
    with pytest.raises(InputError, match="unknown profile; use one of hardened, published"):
        cases(profile="soft")
    with pytest.raises(InputError, match="twin has no published profile"):
        cases("twin", "published")
    with pytest.raises(InputError, match="no such pair of data sets; use one of an outlier"):
        pair("twins")


@pytest.mark.parametrize("one", pairs(), ids=lambda one: one.name)
def test_the_two_data_sets_differ_in_the_last_row_alone(one: Pair) -> None:
    without, having = (
        open_for_owner(one.dataset(with_entity=present).table) for present in (False, True)
    )
    assert having.rows == without.rows + 1 == len(one.others) + 1
    for side in ("left", "right"):
        for name, column in getattr(having, side).items():
            less = getattr(without, side)[name]
            values = "values" if hasattr(column, "values") else "codes"
            np.testing.assert_array_equal(getattr(column, values)[:-1], getattr(less, values))


@pytest.mark.parametrize("one", pairs(), ids=lambda one: one.name)
def test_without_noise_the_entity_alone_is_left_of_a_count(one: Pair) -> None:
    algorithm = AltExpM.of(alternations=1, counts="least-squares")
    for present in (False, True):
        mined = mine(
            one.dataset(with_entity=present),
            algorithm,
            Reporting(),
            Loss(Fraction(1)),
            lambda _: FixedNoise(0),
        )
        numbers = Observer(one).outcome(mined).numbers
        assert {name.partition(" (")[0] for name in numbers} == {
            "its cell",
            "the total",
            "its left leaf",
            "its right leaf",
        }
        assert set(numbers.values()) == {float(present)}


@pytest.mark.parametrize("one", pairs(), ids=lambda one: one.name)
def test_the_schemas_are_small_and_declared(one: Pair) -> None:
    for view in (one.schema.left, one.schema.right):
        assert 1 <= sum(attribute.splits for attribute in view.attributes) <= 5
    assert one.schema.status.value == "declared"


def test_every_case_has_a_pair_of_its_own() -> None:
    assert {case.own_pair for case in cases()} <= {one.name for one in pairs()}
