"""The public functions describe, refine and confirm: questions that follow on one another.

A question costs as much as it says, like a run of `mine`, and its result is one like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from redveil.budget.charges import CONFIRM, DESCRIBE, REFINE, PaidFor
from redveil.budget.charging import Charged, charge
from redveil.errors import InputError
from redveil.handover import Handover
from redveil.losses.loss import parse_loss
from redveil.schema import Schema, Side
from redveil.schema.beside import USUAL

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm
    from redveil.algorithms.steering import Steering
    from redveil.data.dataset import Dataset
    from redveil.handover import Keep
    from redveil.query.condition import Condition
    from redveil.query.formula import Query
    from redveil.report.result import Result


def describe(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
    dataset: Dataset,
    query: str,
    epsilon: str | float | Fraction,
    *,
    delta: str | float | Fraction | None = None,
    within: str | Sequence[str] | None = None,
    depth: int | None = None,
    trials: int | None = None,
    tree_share: str | float | Fraction | None = None,
    max_p_value: float = 0.01,
    min_jaccard: float = 0.1,
    min_support: int = 10,
    max_support: float = 0.8,
    max_disjuncts: int | None = None,
    result_name: str | None = None,
    ledger: Charged = USUAL,
    progress: Callable[[float], None] | None = None,
    keep: Keep | None = None,
) -> Result:
    """Describe a query of one view by queries of the other, with differential privacy.

    The query is yours and public, so only the other side is searched. That is sharper than mining:
    much less ε is needed. A query that the schema does not allow, or answers by itself, is refused
    before anything is charged. The whole run costs ε exactly, also if nothing is found.

    dataset: what `load` returned
    query:   a query over one view, as in `"[gout]"` or `"[age > 65] & ![smoker]"`; if both views
        have its attributes, say which is meant, as in `"left: [age > 65]"`
    epsilon: the privacy loss ε
    delta:   the δ of (ε, δ)-privacy; 0, pure ε, by default
    within:  a query that tells which entities the question is about, or several

    How to search; by default this follows from a noisy number of entities.

    depth:      depth of the trees, 1 or 2
    trials:     number of trees, which share ε
    tree_share: share of ε for trees and not for counts, 1/2 by default

    What to report, and what surrounds the run, is as for `mine`: max_p_value, min_jaccard,
    min_support, max_support, max_disjuncts, result_name, ledger, progress, keep.

    >>> from redveil import load
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> clinic = load(*clinic_frames(2000), clinic_schema())
    >>> result = describe(clinic, "[gout]", epsilon=5)
    >>> sorted({one.left.text for one in result} - {"[gout]", "![gout]"})
    []
    >>> describe(clinic, "[goat]", epsilon=1)
    Traceback (most recent call last):
    redveil.errors.QueryError: query: no attribute goat; did you mean gout?
    """
    from redveil import mining
    from redveil.algorithms.derived import must_be_told, with_derived
    from redveil.algorithms.describe import Describe
    from redveil.algorithms.population import part_of
    from redveil.query.condition import must_be_open, read_condition, read_conditions

    given = {"depth": depth, "trials": trials, "tree_share": tree_share}
    limits = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    mining.must_be_minable(dataset, DESCRIBE)
    told, handover = mining.reporter(progress), Handover(keep)
    asked = read_condition(query, dataset.schema, "query")
    part = read_conditions(within, dataset.schema, "within")
    must_be_open(asked, part, dataset.schema, "query")
    wanted = Describe.of(given_side=asked.side, **_given(given))
    wanted = replace(wanted, steering=_apart_from(asked, dataset.schema))
    reporting = wanted.profile.reporting(wanted.profile.constraints(**limits), None)
    reporting = replace(reporting, given=(asked.side, asked.query))
    loss = parse_loss(epsilon, delta)
    parameters = _parameters(wanted) | reporting.public() | {"query": asked.text}
    paid_for = PaidFor(DESCRIBE, result_name, wanted.name, parameters).without(wanted.auto)
    must_be_told(dataset, [(one.side, one.query) for one in (asked, *part)])
    recorded = charge(dataset.schema, loss, ledger, paid_for.with_part([one.text for one in part]))
    derived = with_derived(
        part_of(dataset, part), {asked.side: [asked.query]}, keep=False, given=(asked,)
    )
    around: dict[str, Any] = {"progress": told, "handover": handover, "recorded": recorded}
    with handover.guarding():
        return mining.report(mining.mine(derived, wanted, reporting, loss, **around))


def refine(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
    result: Result,
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    of: int = 1,
    delta: str | float | Fraction | None = None,
    depth: int | None = None,
    tree_share: str | float | Fraction | None = None,
    max_p_value: float = 0.01,
    min_jaccard: float = 0.1,
    min_support: int = 10,
    max_support: float = 0.8,
    max_disjuncts: int | None = None,
    result_name: str | None = None,
    ledger: Charged = USUAL,
    progress: Callable[[float], None] | None = None,
    keep: Keep | None = None,
) -> Result:
    """Refine one redescription of a result: search below its two queries, with privacy.

    The two queries are released already, so nothing is paid for them: they are the roots of twin
    trees, and all of ε goes to the levels below and to one leaf table. The new result is one like
    any other. It is about the same part of the population as the old one.

    result:  the result that has the redescription
    dataset: what `load` returned, usually for the same tables
    epsilon: the privacy loss ε, which adds to that of the old result
    of:      the number of the redescription in the list, from 1
    delta:   the δ of (ε, δ)-privacy; 0, pure ε, by default
    depth:   depth of the trees, the given level included; by default 2 or 3, by the noisy number of
        entities in the old result
    tree_share: share of ε for trees and not for counts, 1/2 by default

    What to report, and what surrounds the run, is as for `mine`: max_p_value, min_jaccard,
    min_support, max_support, max_disjuncts, result_name, ledger, progress, keep.

    >>> from redveil import load, mine
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> clinic = load(*clinic_frames(2000), clinic_schema())
    >>> first = mine(clinic, epsilon=5)
    >>> refine(first, clinic, epsilon=2, of=1).certificate.algorithm
    'refine'
    """
    from redveil import mining
    from redveil.algorithms.derived import must_be_told, with_derived
    from redveil.algorithms.population import part_of
    from redveil.algorithms.refine import Refine, refining_depth
    from redveil.report.source import source_of

    limits = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    mining.must_be_minable(dataset, REFINE)
    told, handover = mining.reporter(progress), Handover(keep)
    roots = _listed(result, of, dataset.schema)
    part = _part_of(result, dataset.schema)
    wanted = Refine.of(**_given({"depth": depth, "tree_share": tree_share}))
    steering = _matchable(roots, dataset.schema)
    loss = parse_loss(epsilon, delta)
    if depth is None:
        size = 0.0 if result.document.entities is None else result.document.entities.estimate
        rule = refining_depth(dataset.schema, size, loss.price, wanted.tree_share)
        wanted = Refine.of(depth=rule, tree_share=wanted.tree_share)
    wanted = replace(wanted, steering=steering)
    reporting = wanted.profile.reporting(wanted.profile.constraints(**limits), None)
    texts = {one.side.value: one.text for one in roots}
    parameters = _parameters(wanted) | reporting.public() | texts
    paid_for = PaidFor(REFINE, result_name, wanted.name, parameters)
    source = source_of(result.document)
    must_be_told(dataset, [(one.side, one.query) for one in (*roots, *part)])
    recorded = charge(dataset.schema, loss, ledger, paid_for.with_part([one.text for one in part]))
    queries = {one.side: [one.query] for one in roots}
    derived = with_derived(part_of(dataset, part), queries, keep=True, given=roots, searched=True)
    around: dict[str, Any] = {"progress": told, "handover": handover, "source": source}
    around["recorded"] = recorded
    with handover.guarding():
        return mining.report(mining.mine(derived, wanted, reporting, loss, **around))


def confirm(
    result: Result,
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    delta: str | float | Fraction | None = None,
    others: bool = False,
    result_name: str | None = None,
    ledger: Charged = USUAL,
    progress: Callable[[float], None] | None = None,
    keep: Keep | None = None,
) -> Result:
    """Measure the list of a result again, with differential privacy.

    Nothing is searched for, so all of ε goes to counts: one table for each table that the list was
    read from. The new result has the same list, in the same order, with new numbers. `before` of
    each redescription has the old Jaccard index and the difference; all these intervals hold
    together with probability 95 %. They are about these entities and the earlier ones, not about
    populations that both are samples of. A redescription is confirmed if its p-value is below 1 %
    when multiplied by the length of the list. That holds only if the list was found without looking
    at these entities: a new cohort, or a part that was set aside. The ids of the schemas tell
    whether it is another data set; that its entities are others is for the owner to vouch for.

    result:  the result whose list is to be confirmed
    dataset: what `load` returned for the new tables; the schema must allow the listed queries
    epsilon: the privacy loss ε for the new entities
    others:  True if you vouch that none of these entities are among those that the list was found
        on; the certificate says so. Otherwise they are called possibly the same
    delta:   the δ of (ε, δ)-privacy; 0, pure ε, by default
    result_name, ledger, progress, keep: as for `mine`

    >>> from redveil import load, mine
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> first = mine(load(*clinic_frames(2000), clinic_schema()), epsilon=5)
    >>> again = confirm(first, load(*clinic_frames(1000), clinic_schema()), epsilon=2)
    >>> again.certificate.measured_on()
    'the same data set, by its id; possibly the same patients'
    >>> [one.left.text for one in again] == [one.left.text for one in first]
    True
    """
    from redveil import mining
    from redveil.algorithms.confirm import Confirm
    from redveil.algorithms.derived import must_be_told, with_derived
    from redveil.algorithms.population import part_of
    from redveil.query.condition import check_condition
    from redveil.report.result import Result
    from redveil.report.retest import compared, retest, said_before
    from redveil.report.source import source_of

    must_be_a_result(result)
    mining.must_be_minable(dataset, CONFIRM)
    if not isinstance(others, bool):
        raise InputError("others must be True or False")
    told, handover = mining.reporter(progress), Handover(keep)
    arranged = retest(result.document)
    wanted = Confirm.measuring(arranged.pairs)
    for side, queries in arranged.queries.items():
        for query in queries:
            check_condition(side, query, dataset.schema, "the list")
    for one in arranged.listed:
        left, right = (arranged.queries[side][n] for side, n in zip(Side, one.queries, strict=True))
        remedy = "confirm a result that was mined with this schema"
        _must_be_allowed(left, right, dataset.schema, "the list", remedy)
    part = _part_of(result, dataset.schema)
    listed = [(side, query) for side, all_ in arranged.queries.items() for query in all_]
    must_be_told(dataset, [*listed, *((one.side, one.query) for one in part)])
    loss = parse_loss(epsilon, delta)
    # Before the charge: a file can be damaged in ways that show only here.
    before = said_before(result.document)
    parameters = _parameters(wanted) | {"redescriptions": len(result)}
    paid_for = PaidFor(CONFIRM, result_name, wanted.name, parameters)
    source = replace(source_of(result.document), others=others)
    recorded = charge(dataset.schema, loss, ledger, paid_for.with_part([one.text for one in part]))
    derived = with_derived(
        part_of(dataset, part), arranged.queries, keep=False, unknown_is_false=True
    )
    around: dict[str, Any] = {"progress": told, "handover": handover, "source": source}
    around["recorded"] = recorded
    with handover.guarding():
        measured = mining.confirm(derived, wanted, arranged.listed, loss, before=before, **around)
        return Result(compared(mining.report(measured).document, before))


def _listed(result: Result, number: int, schema: Schema) -> tuple[Condition, ...]:
    """Return the two queries of a redescription, by its number from 1."""
    must_be_a_result(result)
    if not isinstance(number, int) or not 1 <= number <= len(result):
        listed = f"a number from 1 to {len(result)}" if len(result) else "a result that lists one"
        raise InputError(f"of: the result has no such redescription; use {listed}")
    one = result.redescriptions[number - 1]
    pairs = (Side.LEFT, one.left), (Side.RIGHT, one.right)
    return tuple(known_condition(side, query.tree, schema, "of") for side, query in pairs)


def _part_of(result: Result, schema: Schema) -> tuple[Condition, ...]:
    """Return the part of the population that a result is about."""
    within = result.certificate.within
    if within is None:
        return ()
    pairs = (Side.LEFT, within.left), (Side.RIGHT, within.right)
    return tuple(
        known_condition(side, query.tree, schema, "within") for side, query in pairs if query
    )


def _apart_from(asked: Condition, schema: Schema) -> Steering:
    """Leave out the attributes that the schema's groups do not let a given query be matched with.

    A query whose match would say nothing is refused before anything is charged.
    """
    from redveil.algorithms.steering import Steering
    from redveil.query.formula import attributes
    from redveil.schema.naming import written

    mentioned = {(asked.side, name) for name in attributes(asked.query)}
    barred = {
        (side, name)
        for group in schema.unmatched
        if not mentioned.isdisjoint(group.names)
        for side, name in group.names
        if side is not asked.side
    }
    return Steering.of(schema, ignore=[written(name) for name in sorted(barred)])


def _matchable(roots: Sequence[Condition], schema: Schema) -> Steering:
    """Return the schema's groups, or refuse a pair of queries that they forbid."""
    from redveil.algorithms.steering import Steering

    left, right = (one.query for one in roots)
    _must_be_allowed(left, right, schema, "of", "refine another redescription")
    return Steering.of(schema)


def _must_be_allowed(left: Query, right: Query, schema: Schema, name: str, remedy: str) -> None:
    """Refuse a pair of queries that the schema's groups forbid."""
    from redveil.query.formula import attributes

    for group in schema.unmatched:
        if group.is_matched(attributes(left), attributes(right)):
            raise InputError(f"{name}: the schema forbids to match {group}; {remedy}")


def must_be_a_result(result: object) -> None:
    """Refuse a file name in the place of a result.

    >>> must_be_a_result("result.json")
    Traceback (most recent call last):
    redveil.errors.InputError: give a result: read the file with redveil.Result.read
    """
    from redveil.report.result import Result as Kind

    if not isinstance(result, Kind):
        raise InputError("give a result: read the file with redveil.Result.read")


def known_condition(side: Side, tree: dict[str, Any], schema: Schema, name: str) -> Condition:
    """Return a query of a result file, or refuse one that a schema does not allow."""
    from redveil.query.condition import check_condition
    from redveil.query.json_form import from_json

    return check_condition(side, from_json(tree), schema, name)


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _parameters(wanted: Algorithm) -> dict[str, Any]:
    """Return an algorithm's public parameters, for a ledger."""
    return {"profile": wanted.profile.name, **wanted.public()}
