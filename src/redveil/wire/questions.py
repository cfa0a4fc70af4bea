"""What analysts ask: the parameters of mine, describe, refine and confirm.

Names, meanings and defaults are those of the Python functions. What is not given is not sent, so
that defaults are the server's. Whether a question can be asked is decided by the code that the
functions use.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

#: The longest text of a query or a name.
LONGEST: int = 2_000
_MOST_NAMES: int = 1_000


def _text(value: object) -> object:
    """Return a number as it is written, so that it stays exact."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


#: An exact amount: a decimal number, as text ("0.25") or as a number.
Amount = Annotated[
    str,
    BeforeValidator(_text, json_schema_input_type=str | float),
    StringConstraints(min_length=1, max_length=60),
]
Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
Names = Annotated[list[Text], Field(max_length=_MOST_NAMES)]
Count = Annotated[int, Field(ge=0, le=2**31)]
Number = Annotated[float, Field(allow_inf_nan=False)]
JobId = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class Asked(BaseModel):
    """What all questions have: the price, and what to do with what is found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epsilon: Amount
    delta: Amount | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that were given, as the Python functions take them."""
        return self.model_dump(exclude_unset=True, exclude={"kind"})


class Reported(Asked):
    """What to report."""

    max_p_value: Number | None = None
    min_jaccard: Number | None = None
    min_support: Count | None = None
    max_support: Number | None = None
    max_disjuncts: Count | None = None


class Mine(Reported):
    """Mine redescriptions."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"kind": "mine", "epsilon": "1", "min_jaccard": 0.3}]},
    )

    kind: Literal["mine"]
    within: Text | Names | None = None
    algorithm: Text | None = None
    depth: Count | None = None
    trials: Count | None = None
    alternations: Count | None = None
    walk_steps: Count | None = None
    tree_share: Amount | None = None
    counts: Text | None = None
    pair_score: Text | None = None
    root_score: Text | None = None
    sampler: Text | None = None
    start: Text | None = None
    prune: Number | Text | None = None
    ignore: Names | None = None
    only: Names | None = None
    require: Names | None = None
    unmatched: Annotated[list[Names], Field(max_length=_MOST_NAMES)] | None = None
    max_literals: Count | None = None
    negation: bool | None = None
    disjunction: bool | None = None


class Describe(Reported):
    """Describe a query of one view by queries of the other."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"kind": "describe", "query": "[gout]", "epsilon": "0.5"}]},
    )

    kind: Literal["describe"]
    query: Text
    within: Text | Names | None = None
    depth: Count | None = None
    trials: Count | None = None
    tree_share: Amount | None = None


class Refine(Reported):
    """Look closer at one redescription of an earlier job's result.

    job: the earlier job, one of the analyst's own
    of:  the number of the redescription, from 1
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "kind": "refine",
                    "job": "3f8c0f0e9a0b4e0e8d435f5d2f3a8a11",
                    "of": 2,
                    "epsilon": "0.5",
                }
            ]
        },
    )

    kind: Literal["refine"]
    job: JobId
    of: Count = 1
    depth: Count | None = None
    tree_share: Amount | None = None


class Confirm(Asked):
    """Measure the list of an earlier job's result again, on the entities of this data set.

    job: the earlier job, one of the analyst's own, usually about another data set
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {"kind": "confirm", "job": "3f8c0f0e9a0b4e0e8d435f5d2f3a8a11", "epsilon": "1"}
            ]
        },
    )

    kind: Literal["confirm"]
    job: JobId


Question = Annotated[Mine | Describe | Refine | Confirm, Field(discriminator="kind")]


class JobRequest(BaseModel):
    """A question that is to be answered, and paid for."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"question": {"kind": "mine", "epsilon": "1", "min_jaccard": 0.3}}]
        },
    )

    question: Question


class PlanRequest(BaseModel):
    """A question whose price and steps are to be shown; free of charge.

    entities: about how many entities the analyst expects
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"question": {"kind": "mine", "epsilon": "1"}, "entities": 5000}]
        },
    )

    question: Question
    entities: Annotated[int, Field(ge=1, le=2**30)] = 10_000


class DetectableRequest(BaseModel):
    """What would runs with this ε detect? Free of charge."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"epsilon": "1", "entities": 5000}]},
    )

    epsilon: Amount
    delta: Amount | None = None
    entities: Annotated[int, Field(ge=1, le=2**30)]


class DummyDataRequest(BaseModel):
    """Draw tables of this many entities from the schema alone; free of charge."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"entities": 100}]}
    )

    entities: Annotated[int, Field(ge=1, le=10_000)] = 100
