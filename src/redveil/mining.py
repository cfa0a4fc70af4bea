"""The whole story on one screen: from a sealed data set to a result.

The caller has charged the loss already.
"""

from __future__ import annotations

from dataclasses import dataclass

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.run import Progress, Run, Sources, run
from redveil.data.dataset import Dataset
from redveil.data.origin import Origin
from redveil.errors import InputError
from redveil.findings.discovery import given_choices
from redveil.findings.findings import Findings, find
from redveil.findings.reporting import Reporting
from redveil.findings.required_budget import Design
from redveil.privacy.loss import Loss, Price
from redveil.privacy.promise import Promise
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
    promise = Promise(
        schema=ran.declared,
        loss=mined.loss,
        plan=ran.plan,
        method=ran.algorithm.method(mined.reporting.public()),
        entities=None if entities is None else (entities.estimate, entities.high),
        part=mined.origin.part,
        given=mined.origin.given,
    )
    return Result(build(found, promise, ran.schema, mined.origin.meanings))


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
