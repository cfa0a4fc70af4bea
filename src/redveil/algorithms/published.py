"""The published profile: the paper's method as it stands. For data that is not sensitive.

Candidate splits are the values that occur in the data, numeric targets have Freedman–Diaconis
bins, walks stop when their scores settle, and noise is floating-point Laplace. Each of these
depends on the data or leaks it (docs/explanation/known-limits.md); certificates made here say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.alternation import Sampler, Start
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.profile import Profile, Targets
from redveil.algorithms.targets import Target
from redveil.algorithms.tree_pair import PairScore
from redveil.counting.columns import Classes
from redveil.counting.labels import AttributeLabels
from redveil.counting.prepared import PreparedData
from redveil.data.dataset import Dataset
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn, Table
from redveil.errors import InputError
from redveil.findings.binomial import must_have_scipy
from redveil.findings.reporting import AUTO, Constraints, Reporting
from redveil.growing.rules import Rules
from redveil.losses.loss import Loss
from redveil.losses.promise import AS_PUBLISHED, NOT_MET, Guarantee
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.schema import Attribute, Kind, Side, View
from redveil.sealed import Sealed, open_for_owner, within
from redveil.trees.scores import GRID_BITS, SPLIT_GINI

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm

# Bytes for the sets of entities that walks keep for every candidate split.
LARGEST_SET_BYTES = 8e9
# Algorithms that the paper does not have.
OURS: Final = ("twin", "describe", "refine", "confirm")
# Where known limits are explained; the published widths have no proof.
KNOWN_LIMITS: Final = "docs/explanation/known-limits.md"


@dataclass(frozen=True)
class Published(Profile):
    """The published profile.

    variance_threshold: walks stop when the variance of their last 500 scores falls below it, times
        the length of the range of their scores

    >>> Published().rules.split.width
    Fraction(4, 1)
    """

    name: ClassVar[str] = "published"
    default_algorithm: ClassVar[str] = "alt-expm"
    is_private: ClassVar[bool] = False
    needs_values: ClassVar[bool] = True
    tunes: ClassVar[bool] = False
    warning: ClassVar[str | None] = (
        "warning: the published profile is NOT private in practice; see Known limits in the "
        "documentation"
    )

    # A simple query has up to three disjuncts more.
    usual: ClassVar[Constraints] = Constraints(max_disjuncts=4)

    variance_threshold: float = 0.005

    def __post_init__(self) -> None:
        if not 0 <= self.variance_threshold < math.inf:
            raise InputError("variance_threshold must be a number from 0 on, as in 0.005")

    @property
    def rules(self) -> Rules:
        """The paper's rules: exponents ε·q/4 and ε·s/2, early stopping."""
        return published_rules(self.variance_threshold)

    def defaults(self, algorithm: type[Algorithm]) -> dict[str, Any]:
        """Return the paper's parameters for its smaller data sets."""
        paper: dict[str, Any] = {
            "depth": 4,
            "trials": 4 if algorithm.name == "tree-pair" else 1,
            "counts": Counts.TWO_PASS,
            "alternations": 4,
            "start": Start.RANDOM,
            "sampler": Sampler.WALK,
            "tree_share": Fraction(1, 10),
            "pair_score": PairScore.PURITY,
        }
        return {name: paper[name] for name in algorithm.parameter_names() if name in paper}

    def check(self, algorithm: Algorithm) -> None:
        """Refuse what the paper does not have, and to go on without what its test takes."""
        if algorithm.name in OURS:
            raise InputError(
                f"{algorithm.name} is not a published algorithm; leave out the published profile"
            )
        if algorithm.name == "alt-mcmc" and not algorithm.walks:
            raise InputError("published alt-mcmc always uses Markov chains; leave out sampler")
        # Before anything is charged: p-values are computed last.
        must_have_scipy()

    def check_loss(self, loss: Loss) -> None:
        """Refuse a δ: the paper's method knows none."""
        if loss.delta:
            raise InputError(
                "the published profile does not support δ; leave out delta or the published profile"
            )

    def observed(self, dataset: Dataset) -> Dataset:
        """Return the data set under the schema that its own values make."""
        return observed_dataset(dataset)

    def targets(self, dataset: Dataset) -> Targets:
        """Return what makes an attribute a target: Freedman–Diaconis bins of its values."""
        return ObservedTargets(dataset.table)

    def first_side(self, attribute_side: Side) -> Side:
        """Return the attribute's own view: the paper's `side` is that of the initial target."""
        return attribute_side

    def randomness(self) -> Randomness:
        """Return randomness whose Laplace noise is floating-point."""
        # Its noise is not whole-numbered, which is what is wrong with it.
        return PublishedRandomness()  # type: ignore[return-value]

    def reporting(self, constraints: Constraints | None, prune: float | str | None) -> Reporting:
        """Judge by estimates, and prune."""
        wanted = constraints or self.usual
        return Reporting(wanted, AUTO if prune is None else prune, noise_aware=False)

    def guarantee(self, *, walks: bool) -> Guarantee:  # noqa: ARG002 - the same for both
        """Return how far the paper's proof carries."""
        return AS_PUBLISHED

    def conditions(self, _algorithm: Algorithm) -> tuple[str, ...]:
        """Return why the promise does not hold on sensitive data."""
        return (
            f"{NOT_MET}: the published profile takes cut points and targets from the data and "
            "stops when the data says so; use it on data that is not sensitive",
        )

    def public(self) -> dict[str, float]:
        """Return the profile's own parameters, for a certificate."""
        return {"variance_threshold": self.variance_threshold}


PUBLISHED: Final = Published()


def published_rules(variance_threshold: float) -> Rules:
    """Return the paper's rules.

    >>> published_rules(0.005).window
    500
    """
    gini, pair = (
        replace(
            SPLIT_GINI,
            name=f"published {name}",
            change=width,
            monotone=False,
            rounding=Fraction(0),
            proof=KNOWN_LIMITS,
        )
        for name, width in (("Gini", Fraction(4)), ("pair", Fraction(2)))
    )
    return Rules(
        split=gini,
        tree=gini,
        pair=pair,
        association=replace(pair, grid_bits=GRID_BITS + 1),
        # Entities that a missing value stops are left out of the score.
        placed_cost=1 << GRID_BITS,
        normalised=True,
        window=500,
        threshold=variance_threshold,
    )


class PublishedRandomness(SystemRandomness):
    """The system's randomness with Laplace noise as the paper has it: real numbers, scale 1/ε."""

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.float64]:  # type: ignore[override]
        """Return floating-point Laplace noise, float64[count]."""
        seed = int.from_bytes(self.words(2).tobytes())
        return np.random.default_rng(seed).laplace(0.0, 1.0 / float(epsilon), count)


def observed_dataset(dataset: Dataset) -> Dataset:
    """Return the data set under the schema that its own values make. NOT private.

    Every value that occurs is a cut point or a category; attributes with one value are left out,
    except Boolean ones, of which the paper's data sets have some.
    """
    table = open_for_owner(dataset.table)
    columns = {side: _observed_view(dataset.schema.view(side), table, side) for side in Side}
    left, right = (
        replace(dataset.schema.view(side), attributes=tuple(c.attribute for c in columns[side]))
        for side in Side
    )
    schema = replace(dataset.schema, left=left, right=right)
    if not left.attributes or not right.attributes:
        raise InputError("a view has no attribute with two values; there is nothing to split")
    splits = schema.left.split_count + schema.right.split_count
    if splits * table.rows / 8 > LARGEST_SET_BYTES:
        raise InputError(
            f"{splits} different values are too many candidate splits for the published profile; "
            "use the hardened one, whose cut points are declared"
        )
    named = [{one.attribute.name: one for one in columns[side]} for side in Side]
    # The others stay, because given queries may name them.
    every = Table(table.rows, {**table.left, **named[0]}, {**table.right, **named[1]})
    return replace(dataset, schema=schema, table=within(lambda _: every, dataset.table))


class ObservedTargets:
    """Initial targets by the Freedman–Diaconis rule, from the values themselves."""

    def __init__(self, table: Sealed[Table]) -> None:
        self._table = table

    def __call__(self, data: PreparedData, side: Side, number: int) -> Target:
        """Return an attribute as a target."""
        attribute = data.schema.view(side).attributes[number]
        if attribute.kind is not Kind.NUMERIC:
            # Each value is a class, also of ordered categories.
            return Target(AttributeLabels(side, number, attribute.bins), attribute.bins)
        column = open_for_owner(self._table).view(side)[attribute.name]
        assert isinstance(column, NumericColumn)
        values = column.bounded().values
        bins = freedman_diaconis_bins(values)
        classes = within(lambda _: _equal_width(values, bins), self._table)
        return Target(data.here.give(classes), bins)


def freedman_diaconis_bins(values: NDArray[np.float64]) -> int:
    """Return the number of equal-width bins: range / (2 · IQR · n^(-1/3)), rounded up.

    >>> freedman_diaconis_bins(np.arange(1000.0))
    10
    """
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, [0.25, 0.75]) if known.size else (0.0, 0.0)
    width = 2 * (high - low) / max(known.size, 1) ** (1 / 3)
    if width <= 0:
        # More than half of the values are the same: the rule says nothing, two bins do.
        return 2
    return int(np.clip(np.ceil((known.max() - known.min()) / width), 1, 256))


def _equal_width(values: NDArray[np.float64], bins: int) -> Classes:
    known = ~np.isnan(values)
    classes = np.full(values.size, -1, dtype=np.int32)
    if known.any():
        low, high = values[known].min(), values[known].max()
        share = (values[known] - low) / (high - low if high > low else 1.0)
        classes[known] = np.minimum((share * bins).astype(np.int32), bins - 1)
    return classes


def _observed_view(view: View, table: Table, side: Side) -> list[Column]:
    """Return the columns of a view, each with the splits that its values make."""
    columns = [_observed(one, table.view(side)[one.name]) for one in view.attributes]
    return [column for column in columns if column.attribute.splits > 0]


def _observed(attribute: Attribute, column: Column) -> Column:
    """Return a column whose cut points, or categories, are the values that occur."""
    if isinstance(column, NumericColumn):
        column = column.bounded()
        known = column.values[column.known]
        # value <= largest holds for every entity, so the largest is no cut.
        cuts = tuple(np.unique(known)[:-1].tolist())
        return replace(column, attribute=replace(attribute, cuts=cuts))
    if attribute.kind is Kind.BOOLEAN:
        return column
    present = np.unique(column.codes[column.known])
    codes = np.full(MISSING + 1, MISSING, dtype=np.uint8)
    codes[present] = np.arange(present.size)
    categories = tuple(attribute.categories[code] for code in present)
    return CodedColumn(replace(attribute, categories=categories), codes[column.codes])
