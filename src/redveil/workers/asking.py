"""Questions of analysts: checked against a schema, and answered from a data set.

Both go through the functions that owners use: what the command line refuses, a server refuses, and
before anything is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import redveil
from redveil.budget.charges import PaidFor
from redveil.budget.charging import Till
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import Table
from redveil.errors import InputError, PlanError
from redveil.losses.loss import Loss, Rho
from redveil.losses.plan import Plan
from redveil.report.document import ResultDocument
from redveil.report.result import Result
from redveil.report.retest import retest
from redveil.schema import Schema
from redveil.sealed import Sealed

#: What a question may ask for besides what the functions allow.
Limits = Mapping[str, int | bool | str]
Answer = Callable[..., Result]

# The parameters that decide how a run spends its price; the others do not change its plan.
_PLANNED: Final = (
    *("algorithm", "depth", "trials", "alternations", "walk_steps", "tree_share", "counts"),
    *("pair_score", "root_score", "sampler", "start", "ignore", "only", "require", "unmatched"),
)


@dataclass(frozen=True, slots=True)
class Checked:
    """A question that can be asked: what it costs, and on what that would be spent."""

    loss: Loss
    plan: Plan

    def plain(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "epsilon": str(self.loss.epsilon),
            "delta": str(self.loss.delta),
            "unit": "rho" if isinstance(self.plan.price, Rho) else "epsilon",
            "steps": [
                {"name": step.name, "mechanism": str(step.mechanism), "price": str(step.price)}
                for step in self.plan.steps
            ],
        }


class _Enough(Exception):  # noqa: N818 - not an error: all that was wanted is known
    """The question was checked; nothing is to be computed."""

    def __init__(self, loss: Loss, paid_for: PaidFor) -> None:
        super().__init__()
        self.loss, self.paid_for = loss, paid_for


class _Till(Till):
    """Takes the charge that would be made, and stops there."""

    def charge(self, schema: Schema, loss: Loss, paid_for: PaidFor) -> None:  # noqa: ARG002
        raise _Enough(loss, paid_for)


class _Paid(Till):
    """Takes no charge: the server's ledger has it."""

    def charge(self, schema: Schema, loss: Loss, paid_for: PaidFor) -> None:
        """Do nothing."""


def check(
    question: Mapping[str, Any],
    schema: Schema,
    limits: Limits,
    *,
    earlier: Mapping[str, Any] | None = None,
    entities: int = 10_000,
) -> Checked:
    """Return what a question costs, or refuse it as the functions do. Needs no data.

    limits:   exact_only, least_epsilon, most_trials, most_walk_steps
    earlier:  the result that a question starts from
    entities: about how many entities there are, for the plan
    """
    _must_be_little_work(question, limits)
    nobody = Dataset(schema, Sealed(Table(0, {}, {})), Sealed(LoadReport(0)))
    try:
        _ask(question, nobody, earlier, ledger=_Till())
    except _Enough as enough:
        loss, paid_for = enough.loss, enough.paid_for
    else:
        raise PlanError("a question was answered without a charge")
    if loss.epsilon < Fraction(limits["least_epsilon"]):
        raise InputError(f"epsilon must be at least {limits['least_epsilon']} on this server")
    plan = _plan(question, schema, earlier, loss, paid_for, entities)
    if limits["exact_only"] and any(step.mechanism == "walk" for step in plan.steps):
        raise InputError(
            "algorithm: on this server the guarantee must be exact, and Markov chains are private "
            "only in the limit; leave out walk_steps, or use algorithm = twin"
        )
    return Checked(loss, plan)


def _must_be_little_work(question: Mapping[str, Any], limits: Limits) -> None:
    """Refuse parameters that multiply work beyond what a server allows, before any plan is made.

    The functions bound the others themselves: depth, lengths of queries, what is reported.
    """
    given = {name: question.get(name) or 0 for name in ("trials", "alternations", "walk_steps")}
    # An alternation grows a tree and measures a table, as a trial does.
    given["trials × alternations"] = max(given["trials"], 1) * given["alternations"]
    for name, number in given.items():
        most = int(limits["most_walk_steps" if name == "walk_steps" else "most_trials"])
        if number > most:
            raise InputError(f"{name} must be at most {most} on this server")


def answer(
    question: Mapping[str, Any], dataset: Dataset, *, earlier: Mapping[str, Any] | None = None
) -> Result:
    """Return the answer to a question that was checked, and has been charged already.

    What was released is paid for: if no list can be made of it, it is the answer without one.
    """
    released: list[Result] = []
    try:
        return _ask(question, dataset, earlier, keep=released.append, ledger=_Paid())
    except Exception:
        if not released:
            raise
        return released[0]


def _ask(
    question: Mapping[str, Any],
    dataset: Dataset,
    earlier: Mapping[str, Any] | None,
    **around: Any,
) -> Result:
    """Call the function that a question names."""
    given = {name: value for name, value in question.items() if value is not None}
    kind = given.pop("kind")
    given.pop("job", None)
    match kind:
        case "mine":
            return redveil.mine(dataset, **given, **around)
        case "describe":
            return redveil.describe(dataset, **given, **around)
        case "refine":
            return redveil.refine(result_of(earlier), dataset, **given, **around)
        case "confirm":
            return redveil.confirm(result_of(earlier), dataset, **given, **around)
    raise InputError("kind must be mine, describe, refine or confirm")


def _plan(
    question: Mapping[str, Any],
    schema: Schema,
    earlier: Mapping[str, Any] | None,
    loss: Loss,
    paid_for: PaidFor,
    entities: int,
) -> Plan:
    """Return the plan of a question that was checked."""
    given = {name: question[name] for name in _PLANNED if question.get(name) is not None}
    match question["kind"]:
        case "describe" | "refine" as kind:
            given["algorithm"] = kind
            # The depth of a refinement follows from the earlier result.
            known = paid_for.parameters.get("depth")
            given |= {} if known is None else {"depth": known}
        case "confirm":
            pairs = retest(result_of(earlier).document).pairs
            given = {"algorithm": "confirm", "trials": len(pairs)}
    return redveil.plan(loss.epsilon, entities, schema, delta=loss.delta or None, **given)


def result_of(document: Mapping[str, Any] | None) -> Result:
    """Return the result in a document that this server has stored."""
    if document is None:
        raise InputError("job: name an earlier job of yours that is done")
    plain = {name: value for name, value in document.items() if name != "signature"}
    return Result(ResultDocument.model_validate(plain))
