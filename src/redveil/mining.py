"""The whole story on one screen: from a sealed data set to a result.

The caller has charged the loss already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.confirm import Confirm
from redveil.algorithms.run import Progress, Run, Sources, run
from redveil.data.dataset import Dataset, must_be_loaded
from redveil.data.origin import Origin
from redveil.errors import InputError
from redveil.findings.confirmation import Retested, confirmation, read_off
from redveil.findings.discovery import given_choices
from redveil.findings.findings import Findings, explanation_for, find, not_yet_found
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable, split_counts
from redveil.findings.reporting import Reporting
from redveil.findings.required_budget import Design
from redveil.findings.statistics import Interval
from redveil.handover import Handover
from redveil.losses.loss import Loss, Price
from redveil.losses.promise import Promise, Source
from redveil.query.meaning import Wording
from redveil.report.build import build
from redveil.report.result import Result
from redveil.schema import Side


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """What a run released, and what was inferred from that alone.

    origin: how the rows that it worked on follow from those that were loaded; public
    source: the earlier result that its queries come from, if any
    recorded: whether a ledger recorded the loss
    """

    run: Run
    findings: Findings
    reporting: Reporting
    loss: Loss
    origin: Origin
    source: Source | None = None
    recorded: bool = True


def mine(  # noqa: PLR0913 - what a run is, and what surrounds it
    dataset: Dataset,
    algorithm: Algorithm,
    reporting: Reporting,
    loss: Loss,
    sources: Sources | None = None,
    progress: Progress = lambda _: None,
    workers: int | None = None,
    handover: Handover | None = None,
    source: Source | None = None,
    *,
    recorded: bool = True,
    explained: bool = True,
) -> Mined:
    """Run on sealed data, then infer findings from the released leaf tables alone.

    handover:  is given what was released, before anything is inferred
    source:    the earlier result that queries come from, if any
    recorded:  whether a ledger recorded the loss
    explained: whether an empty list says what ε it would have needed, which takes a while
    """
    ran = run(dataset, algorithm, loss.price, sources, progress, workers)

    def designer(size: float, price: Price) -> tuple[Design, ...]:
        return ran.algorithm.designs(ran.schema, size, price)

    origin = dataset.origin
    # Whoever calls: what is required, and the schema's groups, hold for what is reported.
    required = algorithm.steering.required
    taste = replace(
        reporting.taste,
        required_left=required[Side.LEFT],
        required_right=required[Side.RIGHT],
        unmatched=algorithm.steering.applied(origin.declared).unmatched,
    )
    reporting = replace(reporting, taste=taste)
    splits = split_counts(ran.schema)
    tables = _in_words(ran, origin)
    released = Mined(ran, not_yet_found(tables), reporting, loss, origin, source, recorded)
    (handover or Handover()).take(lambda: report(released))
    findings = find(
        tables,
        splits,
        reporting,
        explanation_for(designer, reporting.constraints, splits, loss) if explained else None,
        _earlier_choices(origin),
    )
    return replace(released, findings=findings)


def _in_words(ran: Run, origin: Origin) -> tuple[ReleasedTable, ...]:
    """Return the tables that a run released, with their trees in words."""
    return tuple(ReleasedTable.of(table, ran.schema, _wording(origin)) for table in ran.tables)


def _wording(origin: Origin) -> Wording | None:
    """Return how derived attributes read, if there are any."""
    if not any(origin.meanings.values()):
        return None
    return Wording(origin.declared, origin.meanings, origin.unknown_is_false)


def _earlier_choices(origin: Origin) -> float:
    """Return log10 of how many pairs the given queries were chosen from, on the same rows."""
    if not origin.searched:
        return 0.0
    given = {one.side: one.query for one in origin.given}
    return given_choices(given, split_counts(origin.declared))


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
        source=mined.source,
        recorded=mined.recorded,
    )
    return Result(build(found, promise))


def confirm(  # noqa: PLR0913 - what a run is, and what surrounds it
    dataset: Dataset,
    algorithm: Confirm,
    listed: Sequence[Retested],
    loss: Loss,
    sources: Sources | None = None,
    progress: Progress = lambda _: None,
    workers: int | None = None,
    handover: Handover | None = None,
    source: Source | None = None,
    before: Sequence[Interval] = (),
    *,
    recorded: bool = True,
) -> Mined:
    """Measure given trees on sealed data, then read off what was listed. Nothing is searched for.

    dataset:  with the listed queries as its attributes
    listed:   where to read each redescription of the list
    handover: is given what was released, before anything is inferred
    source:   the earlier result that the list is from
    before:   what it said of each redescription
    recorded: whether a ledger recorded the loss
    """
    # Other runs need not load it.
    from redveil.report.retest import awaiting

    ran = run(dataset, algorithm, loss.price, sources, progress, workers)
    origin = dataset.origin
    nothing = not_yet_found(_in_words(ran, origin))
    released = Mined(ran, nothing, Reporting(), loss, origin, source, recorded)
    meanings = {side: tuple(origin.meanings[side].values()) for side in Side}
    pending = tuple(zip(listed, before, strict=True)) if before else ()
    (handover or Handover()).take(
        lambda: Result(awaiting(report(released).document, meanings, pending))
    )
    left, right = (meanings[side] for side in Side)
    found = [
        Redescription(left[one.queries[0]], right[one.queries[1]], statistics, one.table, *one.ends)
        for one, statistics in zip(listed, read_off(ran.tables, listed), strict=True)
    ]
    redescriptions, discovery = confirmation(found)
    return replace(
        released,
        findings=replace(
            released.findings,
            redescriptions=redescriptions,
            discovery=discovery,
            is_listed=True,
        ),
    )


def reporter(progress: Progress | None) -> Progress:
    """Return what is told about progress; refuse what cannot be called, before a charge.

    >>> reporter(5)
    Traceback (most recent call last):
    redveil.errors.InputError: progress: give a function, which is told the share that is done
    """
    if progress is not None and not callable(progress):
        raise InputError("progress: give a function, which is told the share that is done")
    return progress or (lambda _: None)


def must_be_minable(dataset: object, function: str = "mine") -> None:
    """Refuse frames, file names, and views that offer no split, before anything is charged.

    function: what was called

    >>> must_be_minable("diagnoses.csv")
    Traceback (most recent call last):
    redveil.errors.InputError: mine takes what redveil.load returns; load the two tables first
    """
    schema = must_be_loaded(dataset, function).schema
    for side in Side:
        view = schema.view(side)
        if view.split_count == 0:
            raise InputError(
                f"{view.name}: no attribute can be split; declare cut points, or two categories"
            )
