"""The result file, field by field. `result.schema.json` beside this file is made from it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from redveil.base.display import Block, Displayed, Folded, Listing, Note
from redveil.errors import QueryError, ResultError
from redveil.findings.wording import interval_text
from redveil.losses import concentrated, loss
from redveil.losses.plan import StepKey, StepKind, steps_listing
from redveil.losses.promise import AS_PUBLISHED, NOT_MET, STRENGTH, Guarantee, Parameter
from redveil.query.formula import Query
from redveil.query.json_form import from_json, to_json
from redveil.query.text import to_text
from redveil.report.steering import steering_lines
from redveil.schema.view import plural

FORMAT_VERSION: Final = 1
CONFIRM: Final = "confirm"
# The algorithms that start from queries of an earlier result.
DERIVED: Final = ("refine", CONFIRM)

# A positive fraction in digits. Python reads whole numbers of up to 4300 digits.
Price = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3999}(/[1-9][0-9]{0,3999})?$")]


class Part(BaseModel):
    """A piece of the document: frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class StepPart(Part):
    """One paid step of the plan: what it released, and its price in ε or ρ, an exact fraction."""

    kind: StepKind
    trial: int | None = Field(default=None, description="counted from 1")
    number: int | None = Field(default=None, description="of the trial's tree or leaf table")
    level: int | None = Field(default=None, description="of a tree paid for level by level")
    part: str | None = Field(default=None, description="of a leaf table")
    mechanism: Literal["choose", "count", "walk"]
    epsilon: Price | None = None
    rho: Price | None = Field(default=None, description="zero-concentrated: if delta is not 0")

    @model_validator(mode="after")
    def _has_one_price(self) -> Self:
        """Refuse a step that cost nothing, or two things."""
        if (self.epsilon is None) == (self.rho is None):
            raise ValueError("a step costs epsilon, or rho")
        return self

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not set."""
        return {name: value for name, value in write(self).items() if value is not None}

    @property
    def name(self) -> str:
        """The step's name, for display."""
        return str(StepKey(self.kind, self.trial, self.number, self.level, self.part))

    @property
    def price(self) -> loss.Price:
        """What was paid."""
        return loss.Rho(Fraction(self.rho)) if self.rho else Fraction(self.epsilon or 0)


class CertificatePart(Displayed, Part):
    """What is promised, to whom, at which price, and on which conditions."""

    unit: str = Field(description="what one entity is called")
    protects: str = Field(description="what is protected: one entity, its rows in both views")
    neighbouring: str = Field(description="which data sets must be hard to tell apart")
    epsilon: Price = Field(description="the whole run's privacy loss, an exact fraction")
    delta: Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,3999}/[1-9][0-9]{0,3999})$")] = Field(
        default="0", description="0 is pure differential privacy, exactly or in the limit"
    )
    rho: Price | None = Field(
        default=None, description="the zero-concentrated loss that keeps epsilon and delta"
    )
    guarantee: Guarantee
    profile: str = Field(pattern="^(hardened|published)$")
    algorithm: str
    parameters: dict[str, Parameter]
    steps: tuple[StepPart, ...]
    schema_name: str
    schema_digest: str
    schema_status: Literal["declared", "draft"]
    conditions: tuple[str, ...] = Field(description="what the promise rests on")
    software: str
    schema_id: str | None = Field(
        default=None, description="the data set's id; null if its schema has none"
    )
    earlier: tuple[str | None, ...] = Field(
        default=(),
        description="the ids of all data sets that given queries were found or measured on before",
    )
    others: bool = Field(
        default=False,
        description="whether the owner vouches that a list was measured again on other entities",
    )
    given: GivenPart | None = Field(
        default=None,
        description="the queries that a person gave, if any; nothing was paid for them",
    )
    within: GivenPart | None = Field(
        default=None, description="which entities the result is about; all of them by default"
    )

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        """Refuse a certificate whose steps do not cost what it says."""
        price = loss.Rho(Fraction(self.rho)) if self.rho else Fraction(self.epsilon)
        if {type(step.price) for step in self.steps} != {type(price)}:
            raise ValueError("the steps are not priced in one unit")
        if loss.total(step.price for step in self.steps) != price:
            raise ValueError(f"the steps do not add up to {'rho' if self.rho else 'epsilon'}")
        if bool(self.rho) != (self.delta != "0"):
            raise ValueError("delta without rho, or rho without delta")
        promise = Fraction(self.epsilon), Fraction(self.delta)
        if self.rho and not concentrated.keeps(Fraction(self.rho), *promise):
            raise ValueError("rho does not keep epsilon and delta")
        return self

    @model_validator(mode="after")
    def _claims_no_more_than_it_can(self) -> Self:
        """Refuse a certificate whose guarantee is not that of its profile and steps."""
        walked = any(step.mechanism == "walk" for step in self.steps)
        private: Guarantee = "asymptotic" if walked else "exact"
        claimable = AS_PUBLISHED if self.profile == "published" else private
        # What is measured again, or refined, may come from a result that promises less.
        weaker = STRENGTH[STRENGTH.index(claimable) :] if self.algorithm in DERIVED else ()
        if self.guarantee not in (claimable, *weaker):
            raise ValueError(f"the guarantee is not {self.guarantee}")
        return self

    @model_validator(mode="after")
    def _lists_each_step_once(self) -> Self:
        """Refuse a certificate that lists a release twice."""
        if len({step.name for step in self.steps}) != len(self.steps):
            raise ValueError("a step is listed twice")
        return self

    @property
    def unmet(self) -> tuple[str, ...]:
        """The conditions that are known not to be met."""
        return tuple(one for one in self.conditions if one.startswith(NOT_MET))

    @property
    def is_another_dataset(self) -> bool | None:
        """Whether its data set is another one than all earlier ones, by its id; None if unknown."""
        if self.schema_id is not None and self.schema_id in self.earlier:
            return False
        if self.schema_id is None or None in self.earlier or not self.earlier:
            return None
        return True

    def measured_on(self) -> str | None:
        """Return what is known of the entities that a list was measured on again."""
        if self.algorithm != CONFIRM:
            return None
        known = {
            True: "another data set, by its id",
            False: "the same data set, by its id",
            None: "perhaps the same data set, as an id is missing",
        }[self.is_another_dataset]
        units = plural(self.unit)
        if self.others:
            return known
        if self.is_another_dataset:
            return f"{known}; nobody vouches that its {units} are others"
        return f"{known}; possibly the same {units}"

    @property
    def promise(self) -> str:
        """The loss as text; δ is mentioned if there is one."""
        return str(loss.Loss(Fraction(self.epsilon), Fraction(self.delta)))

    def listing(self, entities: IntervalPart | None = None) -> Listing:
        """Return the certificate as a table of facts.

        entities: the noisy number of entities, if it is known
        """
        pure = ", δ = 0" if self.guarantee == "exact" and self.rho is None else ""
        spent = loss.total(step.price for step in self.steps)
        # ε is a bare number, ρ has a name.
        price = f"ρ = {spent}" if isinstance(spent, loss.Rho) else str(spent)
        alone = ", private start alone" if self.parameters.get("alternations") == 0 else ""
        facts: list[tuple[str, str]] = [
            ("promise", f"{self.promise}{pure}, {self.guarantee}"),
            ("protects", self.protects),
            ("against", f"telling apart data sets that differ by {self.neighbouring}"),
            ("spent in", f"{len(self.steps)} steps that add up to exactly {price}"),
            ("method", f"{self.algorithm}{alone} ({self.profile}), {self.software}"),
        ]
        for number, line in enumerate(steering_lines(self.parameters)):
            facts.append(("steered" if number == 0 else "", line))
        if self.given is not None:
            facts.append(("given", " and ".join(one.text for one in self.given.queries)))
        if self.within is not None:
            facts.append(("within", " and ".join(one.text for one in self.within.queries)))
        if (where := self.measured_on()) is not None:
            facts.append(("measured on", where))
        if entities is not None:
            facts.append((plural(self.unit), f"{interval_text(entities, 0)} (noisy)"))
        facts += [
            ("schema", f"{self.schema_name} ({self.schema_status})"),
            ("digest", self.schema_digest),
        ]
        for number, condition in enumerate(self.conditions):
            unmet = condition in self.unmet
            text = Note(condition) if unmet else condition
            facts.append(("conditions" if number == 0 else "", text))
        return Listing((), facts, caption="Privacy certificate")

    def __repr__(self) -> str:
        return f"<Certificate: {self.promise}, {self.guarantee}, {len(self.steps)} steps>"

    def _shown(self) -> Iterator[Block]:
        yield self.listing()
        yield Folded("Steps and prices", steps_listing(self.steps))


class GivenPart(Part):
    """Queries that a person gave, one for each view or for one of them."""

    left: QueryPart | None = None
    right: QueryPart | None = None

    @property
    def queries(self) -> tuple[QueryPart, ...]:
        """The queries that hold for every entity."""
        return tuple(one for one in (self.left, self.right) if one is not None)


# What is written is checked, and would be worded twice.
@lru_cache(maxsize=4096)
def _worded(query: Query) -> str:
    return to_text(query)


class QueryPart(Part):
    """A query as text and as nested JSON."""

    text: str
    tree: dict[str, Any] = Field(alias="json")

    @classmethod
    def of(cls, query: Query) -> QueryPart:
        """Return a query in both forms."""
        return cls.model_construct(text=_worded(query), tree=to_json(query))

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        """Refuse a text that is not the query's own: it may be meant for other programs."""
        try:
            query = from_json(self.tree)
        except QueryError as error:
            raise ValueError(str(error)) from None
        if self.text != _worded(query):
            raise ValueError("text and json are not the same query")
        return self


class IntervalPart(Part):
    """An estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float


class SupportPart(Part):
    """Noisy support sizes."""

    left: IntervalPart
    right: IntervalPart
    both: IntervalPart


class TrueSupportPart(Part):
    """Exact support sizes. Not private."""

    left: int
    right: int
    both: int
    either: int


class TruePart(Part):
    """The true values, for the data owner. NOT private."""

    jaccard: float
    support: TrueSupportPart
    p_value: float


class SourcePart(Part):
    """Where in the released tables a redescription was read."""

    tree_pair: int
    left_ends: tuple[int, ...] = Field(description="places in the left tree's `ends`, from 0")
    right_ends: tuple[int, ...]


class BeforePart(Part):
    """What an earlier result said of the same two queries, and how the new one differs.

    These intervals and the new ones hold together with probability 95 %.
    """

    jaccard: IntervalPart
    difference: IntervalPart = Field(description="the new Jaccard index less the old one")


class RedescriptionPart(Part):
    """Two queries and how well they match, as far as the noise lets us know."""

    left: QueryPart
    right: QueryPart
    jaccard: IntervalPart
    expected_jaccard: float = Field(description="of unrelated queries with the same supports")
    corrected: IntervalPart = Field(
        description="the chance-corrected index: 0 for unrelated queries, 1 for equal supports"
    )
    support: SupportPart
    p_value: float = Field(description="the largest that is consistent with the noise, at 95 %")
    p_value_confirming: float = Field(description="the same at 99 %")
    p_value_estimate: float = Field(description="at the estimates")
    confirmed: bool | None = Field(
        default=None, description="whether it survives correction for all comparable pairs"
    )
    detail: int | None = Field(
        default=None,
        description="the number of the entry whose story it adds to; null if it tells its own",
    )
    source: SourcePart
    before: BeforePart | None = Field(
        default=None, description="what an earlier result said, in a confirmation"
    )
    true: TruePart | None = None

    def __str__(self) -> str:
        expected = f"expected if unrelated {self.expected_jaccard:.2f}"
        jaccard = f"Jaccard {interval_text(self.jaccard, 2)} ({expected})"
        return f"{self.left.text} ⟷ {self.right.text}: {jaccard}"

    def __repr__(self) -> str:
        return f"<Redescription {self}>"


class PendingPart(Part):
    """An entry of a confirmation that has not been read off its tables yet."""

    left: QueryPart
    right: QueryPart
    source: SourcePart
    before: IntervalPart = Field(description="the Jaccard index in the earlier result")


class PointPart(Part):
    """A redescription that was pruned: where it stood in the scatter plot."""

    support: float
    jaccard: float


class TreePart(Part):
    """A released tree: nodes in heap order, null where there is no split."""

    view: str
    splits: tuple[dict[str, Any] | None, ...]
    ends: tuple[QueryPart | None, ...] = Field(
        description="leaf queries, then null for each node where a missing value can stop an entity"
    )
    stuck_at: tuple[int, ...]
    unknown_is_false: bool = Field(
        default=False, description="whether an unknown split counts as false, as in a confirmation"
    )


class LeafTablePart(Part):
    """A released leaf table: noisy counts as measured, and fitted to one consistent table."""

    cells: tuple[tuple[int | float, ...], ...]
    left_margin: tuple[int | float, ...] | None = None
    right_margin: tuple[int | float, ...] | None = None
    cells_price: Price = Field(description="what they cost, in the currency of the steps")
    left_margin_price: Price | None = None
    right_margin_price: Price | None = None
    fitted: tuple[tuple[float, ...], ...]


class TreePairPart(Part):
    """Two trees and the table of their leaves."""

    left: TreePart
    right: TreePart
    leaf_table: LeafTablePart


class AttributePart(Part):
    """A declared attribute: what values there are. What is not set is left out."""

    name: str
    kind: Literal["boolean", "categorical", "ordinal", "numeric"]
    required: bool = Field(default=False, description="whether no value can be missing")
    categories: tuple[str, ...] = Field(default=(), description="in order, if ordinal")
    minimum: float | None = None
    maximum: float | None = None
    splits: int = Field(default=1, description="how many splits there are to choose from")
    title: str = Field(default="", description="what readers call it, with its unit")

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is not set: there can be thousands of attributes."""
        usual = {name: field.default for name, field in type(self).model_fields.items()}
        return {n: v for n, v in write(self).items() if getattr(self, n) is not usual[n]}


class AttributesPart(Part):
    """The declared attributes of both views, without which no question can be understood."""

    left: tuple[AttributePart, ...]
    right: tuple[AttributePart, ...]


class DiscoveryPart(Part):
    """How many of the redescriptions can be coincidences."""

    comparable: float = Field(
        description="log10 of the largest number of comparable pairs: as long, or of such a shape"
    )
    confirmed: int = Field(
        description="p-values below 1 % even when multiplied by the number of comparable pairs"
    )
    bound: float = Field(description="largest expected share of false ones among the reported")


class ListingPart(Part):
    """How the list was made, if not as it was mined: again from the released tables, for free."""

    constraints: dict[str, bool | int | float | str | None] = Field(
        description="what an entry must satisfy, in place of the certificate's parameters"
    )
    complement: bool = Field(
        default=False, description="whether every entry is the complement of one that was listed"
    )
    sort: Literal["rank", "corrected", "jaccard", "support", "p"] = "rank"
    top: int | None = Field(default=None, ge=1, description="how many were kept, the first ones")
    ranks: tuple[int, ...] = Field(
        description="the place of each entry in the list as it was made, counted from 1"
    )


class SignaturePart(Part):
    """A server's signature of the whole document, without `value` itself: redveil/signing."""

    algorithm: Literal["ed25519"]
    key: str = Field(description="the name of the server's key: part of its SHA-256")
    job: str = Field(description="the server's job")
    dataset: str = Field(description="the id of the data set")
    ledger: str = Field(description="the identity of the server's ledger")
    number: int = Field(description="the place of the charge in the ledger")
    hash: str = Field(description="the hash of the charge in the ledger")
    value: str = Field(description="the signature, in base 64")


class ResultDocument(Part):
    """A whole result file."""

    format: Literal["redveil-result"] = "redveil-result"
    version: Literal[1] = FORMAT_VERSION
    certificate: CertificatePart
    entities: IntervalPart | None = Field(description="noisy number of entities")
    redescriptions: tuple[RedescriptionPart, ...]
    pruned: tuple[PointPart, ...] = Field(
        default=(), description="what was dropped because its support may be noise"
    )
    tree_pairs: tuple[TreePairPart, ...]
    message: str | None = None
    false_discoveries: DiscoveryPart | None = None
    warning: str | None = Field(default=None, description="set when the file is not private")
    attributes: AttributesPart = Field(description="from the public schema")
    listing: ListingPart | None = Field(
        default=None, description="how the list was made, if not as it was mined"
    )
    unfinished: bool = Field(
        default=False, description="whether the run ended before a list was made from the tables"
    )
    pending: tuple[PendingPart, ...] = Field(
        default=(), description="the list that an unfinished confirmation is to read off its tables"
    )
    signature: SignaturePart | None = Field(default=None, description="of a server")

    @model_validator(mode="after")
    def _ranks_each_entry(self) -> Self:
        """Refuse ranks that are not those of the entries."""
        ranks = () if self.listing is None else self.listing.ranks
        if self.listing is not None and len(set(ranks)) != len(self.redescriptions):
            raise ValueError("listing.ranks do not fit the redescriptions")
        if any(rank < 1 for rank in ranks):
            raise ValueError("listing.ranks are counted from 1")
        return self


def must_be_listed(document: ResultDocument) -> None:
    """Refuse a result that has no list yet, so that nobody takes it for one that found nothing."""
    if document.unfinished:
        raise ResultError(
            "the list of this result has not been made, because the run ended before it was; "
            "`redveil show` and Result.filter make it from the tables, free of charge"
        )
