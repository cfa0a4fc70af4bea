"""Result documents made by hand."""

from __future__ import annotations

from redveil.losses.plan import StepKind
from redveil.query.formula import And, Literal, Not, Query
from redveil.query.json_form import to_json
from redveil.query.text import to_text
from redveil.report.document import (
    AttributePart,
    AttributesPart,
    CertificatePart,
    IntervalPart,
    LeafTablePart,
    QueryPart,
    RedescriptionPart,
    ResultDocument,
    SourcePart,
    StepPart,
    SupportPart,
    TreePairPart,
    TreePart,
    TruePart,
    TrueSupportPart,
)

CERTIFICATE = CertificatePart(
    unit="patient",
    protects="one patient: its row in both views",
    neighbouring="adding or removing one patient",
    epsilon="1",
    guarantee="exact",
    profile="hardened",
    algorithm="alt-expm",
    parameters={"depth": 2, "min_jaccard": 0.1},
    steps=(
        StepPart(kind=StepKind.TREE, trial=1, number=1, mechanism="choose", epsilon="1/3"),
        StepPart(
            kind=StepKind.LEAF_TABLE,
            trial=1,
            number=1,
            part="cells",
            mechanism="count",
            epsilon="2/3",
        ),
    ),
    schema_name="clinic",
    schema_digest="sha256:00",
    schema_status="declared",
    conditions=("each patient has one row in each view",),
    software="redveil 0",
)
TRUE = TruePart(
    jaccard=0.625,
    support=TrueSupportPart(left=60, right=70, both=50, either=80),
    p_value=0.00125,
)


def boolean(name: str) -> Literal:
    """Return the literal that a Boolean attribute is true."""
    return Literal(name, "=", value=True)


def query_part(query: Query) -> QueryPart:
    """Return a query in both notations."""
    return QueryPart.model_validate({"text": to_text(query), "json": to_json(query)})


def tree_part(view: str, *names: str) -> TreePart:
    """Return a tree of Boolean splits, each below where the one before holds."""
    held = [boolean(name) for name in names]
    leaves: list[Query] = [Not(held[0])]
    leaves += [And((*held[:place], Not(held[place]))) for place in range(1, len(held))]
    leaves.append(held[0] if len(held) == 1 else And(tuple(held)))
    splits: list[Query | None] = [None] * (2 ** (len(held) - 1))
    for level, one in enumerate(held):
        splits[2**level - 1] = one
    return TreePart(
        view=view,
        splits=tuple(None if one is None else to_json(one) for one in splits),
        ends=tuple(query_part(leaf) for leaf in leaves),
        stuck_at=(),
    )


def attribute_parts(*names: str) -> tuple[AttributePart, ...]:
    """Return Boolean attributes."""
    return tuple(AttributePart(name=name, kind="boolean", required=True) for name in names)


ATTRIBUTES = AttributesPart(left=attribute_parts("asthma"), right=attribute_parts("cough", "fever"))
TREES = TreePairPart(
    left=tree_part("diagnoses", "asthma"),
    right=tree_part("symptoms", "cough", "fever"),
    leaf_table=LeafTablePart(
        cells=((1, 2, 30), (400, 500, 67)),
        cells_price="2/3",
        fitted=((1, 2, 30), (400, 500, 67)),
    ),
)


def redescription(
    left: str = "asthma",
    right: str = "cough",
    *,
    confirmed: bool | None = None,
    true: TruePart | None = None,
) -> RedescriptionPart:
    """Return a redescription of one Boolean attribute by another."""
    return redescription_of(boolean(left), boolean(right), confirmed=confirmed, true=true)


def redescription_of(
    left: Query, right: Query, *, confirmed: bool | None = None, true: TruePart | None = None
) -> RedescriptionPart:
    """Return a redescription of one query by another."""
    return RedescriptionPart(
        left=query_part(left),
        right=query_part(right),
        jaccard=IntervalPart(estimate=0.5, low=0.25, high=0.75),
        # 60 and 65 of 1000 would have 3.9 in common.
        expected_jaccard=3.9 / (125 - 3.9),
        corrected=IntervalPart(estimate=0.48, low=0.22, high=0.74),
        support=SupportPart(
            left=IntervalPart(estimate=60, low=50, high=70),
            right=IntervalPart(estimate=65, low=55, high=75),
            both=IntervalPart(estimate=1234, low=1200, high=1268),
        ),
        p_value=1e-30,
        p_value_confirming=1e-28,
        p_value_estimate=1e-40,
        confirmed=confirmed,
        source=SourcePart(tree_pair=0, left_ends=(0,), right_ends=(1, 2)),
        true=true,
    )


def document(
    *redescriptions: RedescriptionPart,
    certificate: CertificatePart = CERTIFICATE,
    message: str | None = None,
    warning: str | None = None,
) -> ResultDocument:
    """Return a document that holds the given redescriptions, and trees to have read them from."""
    return ResultDocument(
        certificate=certificate,
        entities=IntervalPart(estimate=1000, low=990, high=1010),
        redescriptions=redescriptions,
        tree_pairs=(TREES,) if redescriptions else (),
        message=message,
        warning=warning,
        attributes=ATTRIBUTES if redescriptions else AttributesPart(left=(), right=()),
    )
