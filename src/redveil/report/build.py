"""From findings and a promise to the document that is kept of a run. Nothing is inferred here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from redveil.base.version import software
from redveil.findings.discovery import Discovery
from redveil.findings.estimate import Estimate
from redveil.findings.findings import Findings
from redveil.findings.pruning import Pruned
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import Interval
from redveil.losses.plan import Step
from redveil.losses.promise import Promise
from redveil.query.condition import Condition
from redveil.query.coverage import ReleasedTree
from redveil.query.json_form import to_json
from redveil.query.leaves import node_query
from redveil.query.simplify import simplified
from redveil.report.document import (
    AttributePart,
    AttributesPart,
    CertificatePart,
    DiscoveryPart,
    GivenPart,
    IntervalPart,
    LeafTablePart,
    ListingPart,
    PointPart,
    QueryPart,
    RedescriptionPart,
    ResultDocument,
    SourcePart,
    StepPart,
    SupportPart,
    TreePairPart,
    TreePart,
)
from redveil.report.nothing_found import UNFINISHED, explanation
from redveil.schema import Attribute, Kind, Schema


def build(findings: Findings, promise: Promise) -> ResultDocument:
    """Return the document of a run."""
    declared, nothing = promise.schema, findings.nothing
    message = None if nothing is None else explanation(nothing, promise.loss, declared.unit)
    if not findings.is_listed:
        message = UNFINISHED
    return ResultDocument(
        certificate=certificate(promise),
        entities=None if findings.entities is None else _interval(findings.entities),
        redescriptions=tuple(_redescription(one) for one in findings.redescriptions),
        pruned=pruned_points(findings.pruned),
        tree_pairs=tuple(
            _tree_pair(table, fitted, declared)
            for table, fitted in zip(findings.tables, findings.estimates, strict=True)
        ),
        message=message,
        false_discoveries=_discovery(findings.discovery),
        attributes=AttributesPart(
            left=tuple(_attribute(one) for one in declared.left.attributes),
            right=tuple(_attribute(one) for one in declared.right.attributes),
        ),
        unfinished=not findings.is_listed,
    )


def with_list(
    document: ResultDocument,
    found: Iterable[Redescription],
    discovery: Discovery | None,
    listing: ListingPart | None,
) -> ResultDocument:
    """Return a document with another list. What else is known of a pair stays, if it was listed.

    That is its true values, and what an earlier result said of it.
    """
    known = {(one.left.text, one.right.text): one for one in document.redescriptions}
    update = {
        "redescriptions": tuple(
            _with_known(one, known.get((one.left.text, one.right.text)))
            for one in map(_redescription, found)
        ),
        "false_discoveries": _discovery(discovery),
        "message": None,
        "listing": listing,
        # The server signed another list.
        "signature": None,
    }
    return document.model_copy(update=update)


def _with_known(one: RedescriptionPart, listed: RedescriptionPart | None) -> RedescriptionPart:
    """Add what was known of the same pair."""
    if listed is None:
        return one
    return one.model_copy(update={"true": listed.true, "before": listed.before})


def pruned_points(pruned: Iterable[Pruned]) -> tuple[PointPart, ...]:
    """Return where pruned redescriptions stood in the scatter plot."""
    return tuple(PointPart(support=one.support, jaccard=one.jaccard) for one in pruned)


def certificate(promise: Promise) -> CertificatePart:
    """Return what a run promises."""
    schema, loss, method = promise.schema, promise.loss, promise.method
    source = promise.source
    return CertificatePart(
        unit=schema.unit,
        protects=f"one {schema.unit}: its row in both views",
        neighbouring=f"adding or removing one {schema.unit}",
        epsilon=str(loss.epsilon),
        delta=str(loss.delta),
        rho=str(promise.plan.price) if loss.delta else None,
        guarantee=promise.guarantee,
        profile=method.profile,
        algorithm=method.algorithm,
        parameters=method.parameters,
        steps=tuple(_step(step, "rho" if loss.delta else "epsilon") for step in promise.plan.steps),
        schema_name=schema.name,
        schema_digest=schema.digest,
        schema_status=schema.status.value,
        conditions=promise.conditions,
        software=software(),
        schema_id=(schema.id or "").strip() or None,
        earlier=() if source is None else source.datasets,
        others=source is not None and source.others,
        given=_given(promise.given),
        within=_given(promise.part),
    )


def _given(conditions: Sequence[Condition]) -> GivenPart | None:
    if not conditions:
        return None
    return GivenPart.model_validate({one.side.value: QueryPart.of(one.query) for one in conditions})


def _step(step: Step, currency: str) -> StepPart:
    key = step.key
    return StepPart.model_validate(
        {
            "kind": key.kind.value,
            "trial": key.trial,
            "number": key.number,
            "level": key.level,
            "part": key.part,
            "mechanism": step.mechanism,
            currency: str(step.price),
        }
    )


def _redescription(one: Redescription) -> RedescriptionPart:
    statistics = one.statistics
    return RedescriptionPart(
        left=QueryPart.of(one.left),
        right=QueryPart.of(one.right),
        jaccard=_interval(statistics.jaccard),
        expected_jaccard=statistics.expected_jaccard,
        corrected=_interval(statistics.corrected),
        support=SupportPart(
            left=_interval(statistics.support_left),
            right=_interval(statistics.support_right),
            both=_interval(statistics.support_both),
        ),
        p_value=statistics.p_value,
        p_value_confirming=statistics.p_value_confirming,
        p_value_estimate=statistics.p_value_estimate,
        confirmed=one.confirmed,
        detail=one.detail,
        source=SourcePart(tree_pair=one.table, left_ends=one.left_ends, right_ends=one.right_ends),
    )


def _discovery(known: Discovery | None) -> DiscoveryPart | None:
    if known is None:
        return None
    return DiscoveryPart(
        comparable=known.comparable,
        confirmed=known.confirmed,
        bound=known.bound,
    )


def _attribute(one: Attribute) -> AttributePart:
    bounds = (one.minimum, one.maximum) if one.kind is Kind.NUMERIC else (None, None)
    return AttributePart(
        name=one.name,
        kind=one.kind.value,
        required=one.required,
        categories=one.categories,
        minimum=bounds[0],
        maximum=bounds[1],
        splits=one.splits,
        title=one.title,
    )


def _interval(interval: Interval) -> IntervalPart:
    return IntervalPart(estimate=interval.estimate, low=interval.low, high=interval.high)


def _tree_pair(released: ReleasedTable, fitted: Estimate, schema: Schema) -> TreePairPart:
    table = released.counts
    prices = [None if price is None else str(price) for price in table.prices]
    left, right = _trees(released, schema.left.name, schema.right.name)
    return TreePairPart(
        left=left,
        right=right,
        leaf_table=LeafTablePart(
            cells=_rows(table.cells),
            left_margin=None if table.left_margin is None else tuple(table.left_margin.tolist()),
            right_margin=None if table.right_margin is None else tuple(table.right_margin.tolist()),
            cells_price=str(table.prices.cells),
            left_margin_price=prices[1],
            right_margin_price=prices[2],
            fitted=_rows(fitted.cells),
        ),
    )


def _rows(matrix: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


# A run writes its trees twice: when they were released, and with the list.
@lru_cache(maxsize=128)
def _trees(released: ReleasedTable, left: str, right: str) -> tuple[TreePart, TreePart]:
    """Return the two trees of a table, given the names of the views."""
    return _tree(released.left, left), _tree(released.right, right)


def _tree(released: ReleasedTree, view: str) -> TreePart:
    tree, orders = released.tree, released.orders
    leaves = [simplified(node_query(released, leaf), order=orders) for leaf in tree.leaves]
    # No query is true where another one is false or unknown.
    said = [
        not released.unknown_is_false or all(held for _, held in tree.path(leaf))
        for leaf in tree.leaves
    ]
    ends = [QueryPart.of(leaf) if one else None for leaf, one in zip(leaves, said, strict=True)]
    # Reading checks that a query says the same in all its forms; these were made of one.
    return TreePart.model_construct(
        view=view,
        splits=tuple(None if one is None else to_json(one) for one in released.splits),
        ends=(*ends, *(None for _ in tree.stuck)),
        stuck_at=tree.stuck,
        unknown_is_false=released.unknown_is_false,
    )
