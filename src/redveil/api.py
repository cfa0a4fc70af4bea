"""The public functions: load, plan, mine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.budget.charges import MINE, PaidFor
from redveil.budget.charging import charge
from redveil.errors import InputError
from redveil.findings.reporting import read_prune
from redveil.privacy.loss import parse_loss
from redveil.schema import Schema, Side

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm
    from redveil.data.dataset import Dataset
    from redveil.findings.reporting import Constraints, Reporting
    from redveil.privacy.plan import Plan
    from redveil.report.result import Result


def load(left: Any, right: Any, schema: Schema | str | Path) -> Dataset:
    """Load two tables that describe the same entities, and seal them.

    left, right: paths (CSV, CSV in gzip, Parquet, ARFF) or pandas, Polars or Arrow tables
    schema:      a Schema, or the path of a `datapackage.json`

    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> load(*clinic_frames(100), clinic_schema())
    <Dataset clinic: 18 left and 14 right attributes>
    """
    from redveil.data.loading import load as load_tables

    return load_tables(left, right, schema)


def plan(
    epsilon: str | float | Fraction,
    entities: float = 10_000,
    schema: Schema | None = None,
    *,
    delta: str | float | Fraction | None = None,
    algorithm: str | None = None,
    profile: str | None = None,
    **parameters: Any,
) -> Plan:
    """Return what a run would spend on what. Needs no data; takes the parameters of `mine`.

    The price is the same for every data set. How it is spent follows, by a public rule, from the
    noisy number of entities and from the schema's number of splits: give the number you expect.
    With `delta`, prices are in ρ, and add up to the largest ρ that keeps (ε, δ).

    >>> [step.name for step in plan(1, entities=1000).steps]
    ['size', 'trial 1, twin trees, level 1', 'trial 1, leaf table 1, cells']
    """
    from redveil.algorithms.catalogue import make_algorithm

    # What is reported of the released tables does not change what they cost.
    priced = {k: v for k, v in parameters.items() if k not in ("constraints", "prune")}
    loss, wanted = parse_loss(epsilon, delta), make_algorithm(algorithm, profile, **priced)
    wanted.profile.check_loss(loss)
    return wanted.tuned(schema, entities, loss.price).plan(loss.price)


def mine(  # noqa: PLR0913 - one keyword for each parameter, so that editors can list them
    dataset: Dataset,
    epsilon: str | float | Fraction,
    *,
    delta: str | float | Fraction | None = None,
    algorithm: str | None = None,
    profile: str | None = None,
    depth: int | None = None,
    trials: int | None = None,
    alternations: int | None = None,
    walk_steps: int | None = None,
    tree_share: str | float | Fraction | None = None,
    counts: str | None = None,
    pair_score: str | None = None,
    root_score: str | None = None,
    sampler: str | None = None,
    start: str | None = None,
    variance_threshold: float | None = None,
    constraints: Constraints | None = None,
    prune: float | str | None = None,
    result_name: str | None = None,
    ledger: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Mine redescriptions with ε-differential privacy, or with (ε, δ) if a `delta` is given.

    The price is `epsilon`, exactly: `1`, `0.25` or `"1/3"`. Nothing else has to be given: the shape
    of trees follows from a private size. `algorithm` is twin, alt-expm, alt-mcmc or tree-pair;
    `profile` hardened or published (for data that is not sensitive). A `ledger` file records the
    run and its `result_name`; a schema with a budget needs one. `progress` gets the share done.

    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> result = mine(load(*clinic_frames(2000), clinic_schema()), epsilon=2)
    >>> sum(Fraction(step.epsilon) for step in result.certificate.steps)
    Fraction(2, 1)
    """
    from redveil import mining
    from redveil.algorithms.catalogue import make_algorithm

    wanted = make_algorithm(
        algorithm,
        profile,
        variance_threshold=variance_threshold,
        depth=depth,
        trials=trials,
        alternations=alternations,
        walk_steps=walk_steps,
        tree_share=tree_share,
        counts=counts,
        pair_score=pair_score,
        root_score=root_score,
        sampler=sampler,
        start=start,
    )
    reporting = wanted.profile.reporting(constraints, read_prune(prune))
    wanted.profile.check_loss(loss := parse_loss(epsilon, delta))
    _must_be_minable(dataset)
    charge(dataset.schema, loss, ledger, _paid_for(wanted, reporting, result_name))
    mined = mining.mine(dataset, wanted, reporting, loss, progress=progress or (lambda _: None))
    return mining.report(mined)


def _paid_for(wanted: Algorithm, reporting: Reporting, result_name: str | None) -> PaidFor:
    """Return what a run pays for; what the tuning rule sets is not known before it."""
    parameters = {"profile": wanted.profile.name, **wanted.public(), **reporting.public()}
    return PaidFor(MINE, result_name, wanted.name, parameters).without(wanted.auto)


def _must_be_minable(dataset: object) -> None:
    """Refuse frames, file names, and views that offer no split, before anything is charged."""
    from redveil.data.dataset import Dataset

    if not isinstance(dataset, Dataset):
        raise InputError("mine takes what redveil.load returns; load the two tables first")
    for side in Side:
        view = dataset.schema.view(side)
        if view.split_count == 0:
            raise InputError(
                f"{view.name}: no attribute can be split; declare cut points, or two categories"
            )
