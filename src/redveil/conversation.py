"""The public functions describe, refine and confirm: questions that follow on one another.

A question costs as much as it says, like a run of `mine`, and its result is one like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.budget.charges import DESCRIBE, PaidFor
from redveil.budget.charging import charge
from redveil.privacy.loss import parse_loss

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm
    from redveil.data.dataset import Dataset
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
    ledger: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Describe a query of one view by queries of the other, with differential privacy.

    The query is yours and public, so only the other side is searched. That is sharper than mining:
    much less ε is needed. A query that the schema does not allow is refused before anything is
    charged. The whole run costs ε exactly, also if nothing is found.

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
    min_support, max_support, max_disjuncts, result_name, ledger, progress.

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
    from redveil.algorithms.derived import with_derived
    from redveil.algorithms.describe import Describe
    from redveil.algorithms.population import part_of
    from redveil.query.condition import read_condition, read_conditions

    given = {"depth": depth, "trials": trials, "tree_share": tree_share}
    limits = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    mining.must_be_minable(dataset)
    asked = read_condition(query, dataset.schema, "query")
    part = read_conditions(within, dataset.schema, "within")
    wanted = Describe.of(given_side=asked.side, **_given(given))
    reporting = wanted.profile.reporting(wanted.profile.constraints(**limits), None)
    loss = parse_loss(epsilon, delta)
    parameters = _parameters(wanted) | reporting.public() | {"query": asked.text}
    paid_for = PaidFor(DESCRIBE, result_name, wanted.name, parameters).without(wanted.auto)
    charge(dataset.schema, loss, ledger, paid_for.with_part([one.text for one in part]))
    derived = with_derived(
        part_of(dataset, part), {asked.side: [asked.query]}, keep=False, given=(asked,)
    )
    mined = mining.mine(derived, wanted, reporting, loss, progress=progress or (lambda _: None))
    return mining.report(mined)


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}


def _parameters(wanted: Algorithm) -> dict[str, Any]:
    """Return an algorithm's public parameters, for a ledger."""
    return {"profile": wanted.profile.name, **wanted.public()}
