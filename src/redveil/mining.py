"""The whole story on one screen: from a sealed data set to a result.

The caller has charged the loss already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.confirm import Confirm
from redveil.algorithms.run import Progress, Run, Sources, run
from redveil.data.dataset import Dataset
from redveil.data.origin import Origin
from redveil.errors import InputError
from redveil.findings.confirmation import Retested, confirmation, read_off
from redveil.findings.discovery import given_choices
from redveil.findings.estimate import estimate
from redveil.findings.findings import Findings, find, number_of_entities
from redveil.findings.redescription import Redescription
from redveil.findings.reporting import Reporting
from redveil.findings.required_budget import Design
from redveil.privacy.loss import Loss, Price
from redveil.privacy.promise import Promise
from redveil.query.formula import Literal
from redveil.report.build import build
from redveil.report.result import Result
from redveil.schema import Side


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """What a run released, and what was inferred from that alone.

    origin: how the rows that it worked on follow from those that were loaded; public
    """

    run: Run
    findings: Findings
    reporting: Reporting
    loss: Loss
    origin: Origin


def mine(
    dataset: Dataset,
    algorithm: Algorithm,
    reporting: Reporting,
    loss: Loss,
    sources: Sources | None = None,
    progress: Progress = lambda _: None,
    workers: int | None = None,
) -> Mined:
    """Run on sealed data, then infer findings from the released leaf tables alone."""
    ran = run(dataset, algorithm, loss.price, sources, progress, workers)

    def designer(size: float, price: Price) -> Design:
        return ran.algorithm.design(ran.schema, size, price)

    origin = dataset.origin
    choices = given_choices(origin.given, origin.declared) if origin.searched else 0.0
    findings = find(ran.tables, ran.schema, reporting, designer, loss, choices)
    return Mined(ran, findings, reporting, loss, origin)


def report(mined: Mined) -> Result:
    """Return the result of a run: its findings, and what it promises."""
    ran, found = mined.run, mined.findings
    entities = found.entities
    # A given list is reported as it is.
    reported = {} if isinstance(ran.algorithm, Confirm) else mined.reporting.public()
    promise = Promise(
        schema=ran.declared,
        loss=mined.loss,
        plan=ran.plan,
        method=ran.algorithm.method(reported),
        entities=None if entities is None else (entities.estimate, entities.high),
        part=mined.origin.part,
        given=mined.origin.given,
    )
    meanings, unknown_is_false = mined.origin.meanings, mined.origin.unknown_is_false
    document = build(found, promise, ran.schema, meanings, unknown_is_false=unknown_is_false)
    return Result(document)


def confirm(
    dataset: Dataset,
    algorithm: Confirm,
    listed: Sequence[Retested],
    loss: Loss,
    sources: Sources | None = None,
    progress: Progress = lambda _: None,
    workers: int | None = None,
) -> Mined:
    """Measure given trees on sealed data, then read off what was listed. Nothing is searched for.

    dataset: with the listed queries as its attributes
    listed:  where to read each redescription of the list
    """
    ran = run(dataset, algorithm, loss.price, sources, progress, workers)
    names = ran.schema.left.names, ran.schema.right.names
    found = read_off(ran.tables, listed)
    redescriptions = tuple(
        Redescription(
            left=Literal(names[0][one.queries[0]], "=", value=True),
            right=Literal(names[1][one.queries[1]], "=", value=True),
            statistics=statistics,
            table=one.table,
            left_ends=one.ends[0],
            right_ends=one.ends[1],
        )
        for one, statistics in zip(listed, found, strict=True)
    )
    estimates = tuple(estimate(table) for table in ran.tables)
    findings = Findings(
        entities=number_of_entities(estimates),
        tables=ran.tables,
        estimates=estimates,
        redescriptions=redescriptions,
        pruned=(),
        discovery=confirmation(found),
        nothing=None,
    )
    return Mined(ran, findings, Reporting(), loss, dataset.origin)


def must_be_minable(dataset: object) -> None:
    """Refuse frames, file names, and views that offer no split, before anything is charged.

    >>> must_be_minable("diagnoses.csv")
    Traceback (most recent call last):
    redveil.errors.InputError: mine takes what redveil.load returns; load the two tables first
    """
    if not isinstance(dataset, Dataset):
        raise InputError("mine takes what redveil.load returns; load the two tables first")
    for side in Side:
        view = dataset.schema.view(side)
        if view.split_count == 0:
            raise InputError(
                f"{view.name}: no attribute can be split; declare cut points, or two categories"
            )
