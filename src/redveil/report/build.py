"""From findings and a promise to the document that is kept of a run. Nothing is inferred here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redveil.findings.discovery import Discovery
from redveil.findings.estimate import Estimate
from redveil.findings.findings import Findings
from redveil.findings.leaf_table import LeafTable
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import Interval
from redveil.privacy.plan import Step
from redveil.privacy.promise import Promise
from redveil.query.condition import Condition
from redveil.query.formula import Query
from redveil.query.json_form import to_json
from redveil.query.latex import to_latex
from redveil.query.leaves import leaf_query, split_literal
from redveil.query.meaning import spelled_out, substituted
from redveil.query.simplify import simplified
from redveil.query.text import to_text
from redveil.report.document import (
    AttributePart,
    AttributesPart,
    CertificatePart,
    DiscoveryPart,
    GivenPart,
    IntervalPart,
    LeafTablePart,
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
from redveil.report.nothing_found import explanation
from redveil.schema import Attribute, Kind, Schema, Side
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from redveil.version import software

# What derived attributes stand for, by side and name.
Meanings = Mapping[Side, Mapping[str, Query]]
NO_MEANINGS: Final[Meanings] = {side: {} for side in Side}


def build(
    findings: Findings,
    promise: Promise,
    schema: Schema,
    meanings: Meanings = NO_MEANINGS,
    *,
    unknown_is_false: bool = False,
) -> ResultDocument:
    """Return the document of a run, in which derived attributes are spelled out.

    schema:   the schema whose splits the trees are made of
    meanings: the query that each derived attribute stands for
    unknown_is_false: whether derived attributes are false where their queries are unknown
    """
    declared, nothing = promise.schema, findings.nothing
    words = _Words(declared, meanings, unknown_is_false)
    return ResultDocument(
        certificate=certificate(promise),
        entities=None if findings.entities is None else _interval(findings.entities),
        redescriptions=tuple(_redescription(one, words) for one in findings.redescriptions),
        pruned=tuple(_point(one) for one in findings.pruned),
        tree_pairs=tuple(
            _tree_pair(table, fitted, schema, words)
            for table, fitted in zip(findings.tables, findings.estimates, strict=True)
        ),
        message=None if nothing is None else explanation(nothing, promise.loss, declared.unit),
        false_discoveries=_discovery(findings.discovery),
        attributes=AttributesPart(
            left=tuple(_attribute(one) for one in declared.left.attributes),
            right=tuple(_attribute(one) for one in declared.right.attributes),
        ),
    )


def certificate(promise: Promise) -> CertificatePart:
    """Return what a run promises."""
    schema, loss, method = promise.schema, promise.loss, promise.method
    return CertificatePart(
        unit=schema.unit,
        protects=f"one {schema.unit}: its row in both views",
        neighbouring=f"adding or removing one {schema.unit}",
        epsilon=str(loss.epsilon),
        delta=str(loss.delta),
        rho=str(promise.plan.price) if loss.delta else None,
        guarantee=method.guarantee,
        profile=method.profile,
        algorithm=method.algorithm,
        parameters=method.parameters,
        steps=tuple(_step(step, "rho" if loss.delta else "epsilon") for step in promise.plan.steps),
        schema_name=schema.name,
        schema_digest=schema.digest,
        schema_status=schema.status.value,
        conditions=promise.conditions,
        software=software(),
        given=_given(promise.given),
        within=_given(promise.part),
    )


def _given(conditions: Sequence[Condition]) -> GivenPart | None:
    if not conditions:
        return None
    return GivenPart.model_validate({one.side.value: _query(one.query) for one in conditions})


@dataclass(frozen=True, slots=True)
class _Words:
    """How queries over derived attributes read in terms of declared ones."""

    declared: Schema
    meanings: Meanings
    unknown_is_false: bool

    def query(self, query: Query, side: Side) -> QueryPart:
        """Return a query with the same support."""
        return _query(spelled_out(query, self.meanings[side], self.declared.view(side)))

    def split(self, split: Query, side: Side) -> dict[str, object]:
        """Return a split with the same value for every entity, as JSON."""
        return to_json(substituted(split, self.meanings[side]))


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


def _redescription(one: Redescription, words: _Words) -> RedescriptionPart:
    statistics = one.statistics
    return RedescriptionPart(
        left=words.query(one.left, Side.LEFT),
        right=words.query(one.right, Side.RIGHT),
        jaccard=_interval(statistics.jaccard),
        expected_jaccard=statistics.expected_jaccard,
        support=SupportPart(
            left=_interval(statistics.support_left),
            right=_interval(statistics.support_right),
            both=_interval(statistics.support_both),
        ),
        p_value=statistics.p_value,
        p_value_estimate=statistics.p_value_estimate,
        source=SourcePart(tree_pair=one.table, left_ends=one.left_ends, right_ends=one.right_ends),
    )


def _point(one: Redescription) -> PointPart:
    statistics = one.statistics
    return PointPart(support=statistics.support_both.estimate, jaccard=statistics.jaccard.estimate)


def _discovery(known: Discovery | None) -> DiscoveryPart | None:
    if known is None:
        return None
    return DiscoveryPart(
        comparable=known.comparable,
        confirmed=known.confirmed,
        bound=known.bound,
        unconfirmed=known.unconfirmed,
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
    )


def _query(query: Query) -> QueryPart:
    return QueryPart.model_validate(
        {"text": to_text(query), "json": to_json(query), "latex": to_latex(query)}
    )


def _interval(interval: Interval) -> IntervalPart:
    return IntervalPart(estimate=interval.estimate, low=interval.low, high=interval.high)


def _tree_pair(table: LeafTable, fitted: Estimate, schema: Schema, words: _Words) -> TreePairPart:
    prices = [None if price is None else str(price) for price in table.prices]
    return TreePairPart(
        left=_tree(table.left, schema, words),
        right=_tree(table.right, schema, words),
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


def _tree(tree: Tree, schema: Schema, words: _Words) -> TreePart:
    view = schema.view(tree.side)
    splits = Splits.of(view)
    leaves = [simplified(leaf_query(tree, splits, leaf), order=view.orders) for leaf in tree.leaves]
    # No query is true where another one is false or unknown.
    said = [
        not words.unknown_is_false or all(held for _, held in tree.path(leaf))
        for leaf in tree.leaves
    ]
    ends = [
        words.query(leaf, tree.side) if one else None
        for leaf, one in zip(leaves, said, strict=True)
    ]
    return TreePart(
        view=view.name,
        splits=tuple(
            None if s is None else words.split(split_literal(splits, s, held=True), tree.side)
            for s in tree.splits
        ),
        ends=(*ends, *(None for _ in tree.stuck)),
        stuck_at=tree.stuck,
        unknown_is_false=words.unknown_is_false,
    )
