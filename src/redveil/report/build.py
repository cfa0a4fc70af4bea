"""From what a run released to the document that is kept of it."""

from __future__ import annotations

import math
from typing import Any, Final

from redveil.algorithms.parameters import Parameters, Profile
from redveil.findings.discovery import false_discoveries
from redveil.findings.estimate import Estimate
from redveil.findings.findings import Mined
from redveil.findings.leaf_table import LeafTable
from redveil.findings.redescription import Interval, Redescription
from redveil.findings.required_budget import COMMON, RARE, Match, Need, good_match, needed
from redveil.privacy.loss import Loss
from redveil.query.formula import Query
from redveil.query.json_form import to_json
from redveil.query.latex import to_latex
from redveil.query.leaves import leaf_query, split_literal
from redveil.query.simplify import simplified
from redveil.query.text import to_text
from redveil.report.document import (
    AttributePart,
    AttributesPart,
    CertificatePart,
    DiscoveryPart,
    Guarantee,
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
from redveil.schema import Attribute, Kind, Schema, Side, Status
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from redveil.version import software

# Where a promise of e^ε is hardly one, and where δ may fail for somebody rather than for nobody.
LITTLE_PRIVACY: Final = 10
LARGE_SHARE: Final = 0.1


def build(mined: Mined, loss: Loss) -> ResultDocument:
    """Return the document of a run that was allowed a loss."""
    pairs = tuple(
        _tree_pair(table, guess, mined.schema)
        for table, guess in zip(mined.tables, mined.estimates, strict=True)
    )
    found = tuple(_redescription(one) for one in mined.redescriptions)
    return ResultDocument(
        certificate=certificate(mined, loss),
        entities=_entities(mined),
        redescriptions=found,
        pruned=tuple(
            PointPart(support=one.support_both.estimate, jaccard=one.jaccard.estimate)
            for one in mined.pruned
        ),
        tree_pairs=pairs,
        message=None if found else _nothing_found(mined, loss),
        false_discoveries=_false_discoveries(mined),
        attributes=AttributesPart(
            left=tuple(_attribute(one) for one in mined.declared.left.attributes),
            right=tuple(_attribute(one) for one in mined.declared.right.attributes),
        ),
    )


def certificate(mined: Mined, loss: Loss) -> CertificatePart:
    """State what the run promises."""
    schema, parameters = mined.declared, mined.parameters
    currency = "rho" if loss.delta else "epsilon"
    return CertificatePart(
        unit=f"one {schema.unit}: its row in both views",
        neighbouring=f"adding or removing one {schema.unit}",
        epsilon=str(loss.epsilon),
        delta=str(loss.delta),
        rho=str(mined.plan.price) if loss.delta else None,
        guarantee=_guarantee(parameters),
        profile=parameters.profile.value,
        algorithm=parameters.algorithm.value,
        parameters=parameters.public(),
        steps=tuple(
            StepPart.model_validate(
                {"name": s.name, "mechanism": s.mechanism, currency: str(s.price)}
            )
            for s in mined.plan.steps
        ),
        schema_name=schema.name,
        schema_digest=schema.digest,
        schema_status=schema.status.value,
        conditions=_conditions(schema, parameters, loss, _entities(mined)),
        software=software(),
    )


def _guarantee(parameters: Parameters) -> Guarantee:
    """Say how far the proof carries."""
    if parameters.profile is Profile.PUBLISHED:
        return "as published; see known limits"
    return "asymptotic" if parameters.walks else "exact"


def _conditions(
    schema: Schema, parameters: Parameters, loss: Loss, entities: IntervalPart | None
) -> tuple[str, ...]:
    """Say what the promise rests on."""
    adds = "epsilon and delta to these" if loss.delta else "epsilon to this one"
    conditions = [
        f"each {schema.unit} has one row a view, as the entity key declares",
        "the schema holds nothing that was learned from these rows without being paid for",
        "parameters, and the decision to publish this run, were not chosen by looking at the data",
        f"other results about the same entities add their own {adds}",
        "loading, randomness and what an observer can see are as docs/privacy-guarantee.md assumes",
    ]
    if loss.delta:
        conditions.append(_delta_condition(loss, entities))
    if loss.epsilon > LITTLE_PRIVACY:
        conditions.append(f"an epsilon above {LITTLE_PRIVACY} promises little to anybody")
    if schema.bought:
        price = sum(one.epsilon for one in schema.bought)
        names = {(side, n) for one in schema.bought for side in Side for n in one.names(side)}
        conditions.append(
            f"cut points of {len(names)} attributes were bought with epsilon {price} about the "
            "same entities: add it"
        )
    if parameters.profile is Profile.PUBLISHED:
        conditions.append(
            "NOT MET: the published profile takes cut points and targets from the data and stops "
            "when the data says so; use it on data that is not sensitive"
        )
    elif parameters.walks:
        conditions.append(
            f"the Markov chains have converged after {parameters.steps} steps; no bound is claimed"
        )
    if schema.status is Status.DRAFT:
        conditions.append(
            "NOT MET: the schema is a draft whose bounds or categories were read off the data; "
            "review it, then run `redveil schema accept`"
        )
    # What is not met comes first: nobody should have to look for it.
    return tuple(sorted(conditions, key=lambda one: not one.startswith("NOT MET")))


def _delta_condition(loss: Loss, entities: IntervalPart | None) -> str:
    """Hold δ against the number of entities, as far as that was released."""
    said = f"delta, {float(loss.delta):g}, is"
    if entities is not None and float(loss.delta) * entities.high > LARGE_SHARE:
        return (
            f"NOT MET: {said} not far below one over the number of entities, about "
            f"{entities.estimate:,.0f}; ask for a smaller one"
        )
    return f"{said} far below one over the number of entities"


def _entities(mined: Mined) -> IntervalPart | None:
    """Return the best of the noisy sizes with its interval, three standard errors wide."""
    if not mined.estimates:
        return None
    best = min(mined.estimates, key=lambda guess: guess.size_deviation)
    reach = 3 * best.size_deviation
    return IntervalPart(
        estimate=max(best.size, 0.0),
        low=max(best.size - reach, 0.0),
        high=max(best.size + reach, 0),
    )


def _nothing_found(mined: Mined, loss: Loss) -> str:
    """Say why the list is empty, and what it would have taken, from released values only."""
    entities = _entities(mined)
    size = entities.estimate if entities else 0.0
    noise = max((guess.cell_deviation for guess in mined.estimates), default=0.0)
    said = (
        f"Nothing satisfies the constraints and holds up against the noise. With about {size:,.0f} "
        f"entities, epsilon = {float(loss.epsilon):g} leaves an error of about {noise:,.0f} in "
        "every count that was measured."
    )
    if mined.parameters.profile is Profile.PUBLISHED:
        return said
    # What is common, and unless that was missed already, what is rare.
    for share in (COMMON, RARE):
        match = good_match(mined.parameters.constraints, share)
        need = needed(mined.parameters, mined.schema, size, loss, match)
        if need.epsilon > float(loss.epsilon):
            return f"{said} {_would_have(match)} {_needs(need)}."
    return f"{said} The data may hold nothing to be found, or nothing that this search meets."


def _would_have(match: Match) -> str:
    """Put a match into words."""
    part = "half" if match.share == COMMON else f"{match.share:.0%}".replace("%", " %")
    return (
        f"Two queries that each cover {part} of the entities, with a Jaccard index of "
        f"{match.jaccard:g},"
    )


def _needs(need: Need) -> str:
    """Put into words what it would have taken."""
    ways = []
    if not math.isinf(need.epsilon):
        ways.append(f"epsilon of about {need.epsilon:.2g} at this size")
    if not math.isinf(need.size):
        ways.append(f"about {need.size:,.0f} entities at this epsilon")
    if not ways:
        return "could not have been reported under these constraints"
    return f"would have needed {', or '.join(ways)}"


def _false_discoveries(mined: Mined) -> DiscoveryPart | None:
    if mined.parameters.profile is Profile.PUBLISHED:
        return None
    known = false_discoveries(mined.redescriptions, mined.tables, mined.schema)
    if known is None:
        return None
    return DiscoveryPart(
        searched=known.searched,
        surviving=known.surviving,
        bound=known.bound,
        doubtful=known.doubtful,
    )


def _redescription(one: Redescription) -> RedescriptionPart:
    return RedescriptionPart(
        left=_query(one.left),
        right=_query(one.right),
        jaccard=_interval(one.jaccard),
        support=SupportPart(
            left=_interval(one.support_left),
            right=_interval(one.support_right),
            both=_interval(one.support_both),
        ),
        p_value=one.p_value,
        p_value_estimate=one.p_value_estimate,
        source=SourcePart(
            tree_pair=one.table,
            left_ends=one.left_ends,
            right_ends=one.right_ends,
        ),
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


def _tree_pair(table: LeafTable, guess: Estimate, schema: Schema) -> TreePairPart:
    return TreePairPart(
        left=_tree(table.left, schema),
        right=_tree(table.right, schema),
        leaf_table=LeafTablePart(
            cells=_rows(table.cells),
            left_margin=None if table.left_margin is None else tuple(table.left_margin.tolist()),
            right_margin=None if table.right_margin is None else tuple(table.right_margin.tolist()),
            cells_price=str(table.cells_price),
            left_margin_price=None if table.left_price is None else str(table.left_price),
            right_margin_price=None if table.right_price is None else str(table.right_price),
            fitted=_rows(guess.cells),
        ),
    )


def _rows(matrix: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _tree(tree: Tree, schema: Schema) -> TreePart:
    view = schema.view(tree.side)
    splits = Splits.of(view)
    leaves = [simplified(leaf_query(tree, splits, leaf)) for leaf in tree.leaves]
    return TreePart(
        view=view.name,
        splits=tuple(
            None if s is None else to_json(split_literal(splits, s, held=True)) for s in tree.splits
        ),
        ends=(*(_query(leaf) for leaf in leaves), *(None for _ in tree.stuck)),
        stuck_at=tree.stuck,
    )
