"""What a run promises, and the conditions on which the promise rests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from redveil.algorithms.catalogue import make_algorithm
from redveil.data.synthetic import clinic_schema
from redveil.findings.reporting import Reporting
from redveil.losses.loss import Loss
from redveil.losses.promise import NOT_MET, Method, Promise
from redveil.mining import mine, report
from redveil.schema import Schema, Status
from redveil.schema.purchase import Purchase
from support.clinic import clinic
from support.seeded import SeededRandomness

METHOD = Method("twin", "hardened", "exact", {"depth": 1})
MILLIONTH = Fraction(1, 10**6)


def promise(
    loss: Loss,
    *,
    schema: Schema | None = None,
    method: Method = METHOD,
    entities: tuple[float, float] | None = (2000.0, 2010.0),
) -> Promise:
    plan = make_algorithm("twin", depth=1, trials=1, root_score="leverage").plan(loss.price)
    return Promise(schema or clinic_schema(), loss, plan, method, entities)


def test_every_promise_rests_on_five_conditions() -> None:
    conditions = promise(Loss(Fraction(1))).conditions
    assert len(conditions) == 5
    assert conditions[0] == "each patient has one row in each view, as the entity key declares"
    assert "other results about the same entities add their own ε to this one" in conditions
    assert not any(NOT_MET in one for one in conditions)


def test_a_draft_is_a_condition_that_is_not_met() -> None:
    draft = replace(clinic_schema(), status=Status.DRAFT)
    conditions = promise(Loss(Fraction(1)), schema=draft).conditions
    assert conditions[0].startswith("NOT MET: the schema is a draft")
    assert "redveil schema accept" in conditions[0]
    assert len(conditions) == 6


def test_conditions_of_the_method_are_added_and_what_is_not_met_comes_first() -> None:
    given = "the Markov chains have converged", "NOT MET: the method"
    conditions = promise(Loss(Fraction(1)), method=replace(METHOD, conditions=given)).conditions
    assert conditions[0] == "NOT MET: the method"
    assert conditions[-1] == "the Markov chains have converged"


@pytest.mark.parametrize(
    ("delta", "most", "met"),
    [
        (MILLIONTH, 2010.0, True),
        # 2000 patients: a δ of 1e-4 is a fifth of one over their number.
        (Fraction(1, 10**4), 2010.0, False),
        # The upper end of the noisy number counts, not the estimate.
        (Fraction(1, 10**4), 999.0, True),
        (Fraction(1, 10**4), 1001.0, False),
    ],
)
def test_a_delta_is_compared_with_the_number_of_entities(
    delta: Fraction,
    most: float,
    met: bool,  # noqa: FBT001
) -> None:
    conditions = promise(Loss(Fraction(1), delta), entities=(990.0, most)).conditions
    start = f"δ = {float(delta):g} is"
    if met:
        assert f"{start} far below one over the number of entities" in conditions
        assert not any(NOT_MET in one for one in conditions)
    else:
        assert conditions[0] == (
            f"NOT MET: {start} not far below one over the number of entities, about 990; "
            "use a smaller one"
        )
    assert any("ε and δ to these" in one for one in conditions)


def test_a_delta_that_cannot_be_compared_is_a_condition() -> None:
    conditions = promise(Loss(Fraction(1), Fraction(1, 10**4)), entities=None).conditions
    assert "δ = 0.0001 is far below one over the number of entities" in conditions


@pytest.mark.parametrize(("epsilon", "large"), [(1, False), (10, False), (11, True)])
def test_a_large_epsilon_is_called_what_it_is(epsilon: int, large: bool) -> None:  # noqa: FBT001
    conditions = promise(Loss(Fraction(epsilon))).conditions
    assert ("an ε above 10 protects hardly anyone" in conditions) is large


def test_bought_cut_points_are_added() -> None:
    bought = replace(clinic_schema(), bought=(Purchase(Fraction(1, 4), left=("age",)),))
    conditions = promise(Loss(Fraction(1)), schema=bought).conditions
    assert "add ε = 1/4, already spent on the cut points of 1 attribute" in conditions


def test_a_run_promises_its_loss_by_its_plan() -> None:
    loss = Loss(Fraction(1), Fraction(1, 10**4))
    algorithm = make_algorithm(trials=1, depth=1)
    mined = mine(clinic(), algorithm, Reporting(), loss, SeededRandomness)
    certificate = report(mined).certificate
    assert mined.findings.entities is not None
    entities = mined.findings.entities.estimate, mined.findings.entities.high
    made = Promise(
        clinic_schema(), loss, mined.run.plan, algorithm.method(Reporting().public()), entities
    )
    assert certificate.conditions == made.conditions
    assert certificate.conditions[0].startswith("NOT MET: δ = 0.0001 is not far below one over")
    assert (certificate.epsilon, certificate.delta) == ("1", "1/10000")
    assert certificate.rho == str(mined.run.plan.price)
    careful = Loss(Fraction(1), MILLIONTH)
    fine = report(mine(clinic(), algorithm, Reporting(), careful, SeededRandomness)).certificate
    assert not any(one.startswith(NOT_MET) for one in fine.conditions)
