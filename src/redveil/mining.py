"""The whole story on one screen: from a sealed data set to a result.

The caller has charged the loss already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.run import Progress, Run, Sources, run
from redveil.data.dataset import Dataset
from redveil.findings.findings import Findings, explanation_for, find
from redveil.findings.released_table import ReleasedTable, split_counts
from redveil.findings.reporting import Reporting
from redveil.findings.required_budget import Design
from redveil.privacy.loss import Loss, Price
from redveil.privacy.promise import Promise
from redveil.report.build import build
from redveil.report.result import Result
from redveil.schema import Side


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """What a run released, and what was inferred from that alone."""

    run: Run
    findings: Findings
    reporting: Reporting
    loss: Loss


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

    def designer(size: float, price: Price) -> tuple[Design, ...]:
        return ran.algorithm.designs(ran.schema, size, price)

    # Whoever calls: what is required, and the schema's groups, hold for what is reported.
    required = algorithm.steering.required
    taste = replace(
        reporting.taste,
        required_left=required[Side.LEFT],
        required_right=required[Side.RIGHT],
        unmatched=ran.schema.unmatched,
    )
    reporting = replace(reporting, taste=taste)
    splits = split_counts(ran.schema)
    findings = find(
        [ReleasedTable.of(table, ran.schema) for table in ran.tables],
        splits,
        reporting,
        explanation_for(designer, reporting.constraints, splits, loss),
    )
    return Mined(ran, findings, reporting, loss)


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
    )
    return Result(build(found, promise))
