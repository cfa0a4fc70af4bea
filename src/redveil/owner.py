"""Look at the data, for its owner only. Nothing here is private, and nothing is charged.

Apart from this module, only the published profile and `seam`, for redveil-research, open seals
without paying.
"""

from __future__ import annotations

import numpy as np

from redveil.data.dataset import Dataset, must_be_here, must_be_loaded
from redveil.data.report import LoadReport
from redveil.data.table import BoolArray, Table
from redveil.errors import InputError, ResultError
from redveil.findings.binomial import binomial_p_values
from redveil.findings.fisher import fisher_p_value
from redveil.findings.statistics import SignificanceTest
from redveil.query.formula import evaluate
from redveil.query.json_form import from_json
from redveil.report.document import RedescriptionPart, TruePart, TrueSupportPart
from redveil.report.released import significance_test
from redveil.report.result import Result
from redveil.schema import Side
from redveil.sealed import open_for_owner

WARNING = (
    "NOT PRIVATE: this file contains true values, computed from the data without noise. "
    "It is for the data owner; do not share it."
)


def load_report(dataset: Dataset) -> LoadReport:
    """Return the load report: missing, outside and undeclared values, and unmatched entities.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> load_report(redveil.load(*clinic_frames(50), clinic_schema())).joined
    50
    """
    return open_for_owner(must_be_loaded(dataset, "load_report").report)


def truth(result: Result, dataset: Dataset) -> Result:
    """Return the result with true values added to every redescription. NOT private.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(500), clinic_schema())
    >>> redveil.truth(redveil.mine(dataset, epsilon=1), dataset).document.warning[:11]
    'NOT PRIVATE'
    """
    if not isinstance(result, Result):
        raise InputError("truth takes a result and what redveil.load returns, in this order")
    must_be_here(must_be_loaded(dataset, "truth"), "truth")
    if result.certificate.schema_digest != dataset.schema.digest:
        raise ResultError("the result was mined with another schema; load the data with that one")
    table = _about(result, open_for_owner(dataset.table))
    test = significance_test(result.document)
    with_truth = tuple(
        one.model_copy(update={"true": _true_values(one, table, test)})
        for one in result.redescriptions
    )
    update = {"redescriptions": with_truth, "warning": WARNING}
    return Result(result.document.model_copy(update=update))


def _about(result: Result, table: Table) -> Table:
    """Return the entities that a result is about."""
    within = result.certificate.within
    if within is None:
        return table
    keep = np.ones(table.rows, dtype=np.bool_)
    for side, query in ((Side.LEFT, within.left), (Side.RIGHT, within.right)):
        if query is not None:
            keep &= evaluate(from_json(query.tree), table.view(side)).true
    return table.only(keep)


def _true_values(one: RedescriptionPart, table: Table, test: SignificanceTest) -> TruePart:
    """Return a redescription's true Jaccard index, supports and p-value."""
    left = evaluate(from_json(one.left.tree), table.left).true
    right = evaluate(from_json(one.right.tree), table.right).true
    return true_part(left, right, test)


def true_part(
    left: BoolArray, right: BoolArray, test: SignificanceTest = SignificanceTest.FISHER
) -> TruePart:
    """Return the true values of two queries, from where each is true, bool[N]. NOT private.

    >>> sick, tall = np.array([True, True, False]), np.array([True, False, False])
    >>> true_part(sick, tall).jaccard
    0.5
    """
    both, either = int((left & right).sum()), int((left | right).sum())
    lefts, rights = int(left.sum()), int(right.sum())
    return TruePart(
        jaccard=both / either if either else 0.0,
        support=TrueSupportPart(left=lefts, right=rights, both=both, either=either),
        p_value=_true_p_value(both, lefts, rights, left.size, test),
    )


def _true_p_value(both: int, left: int, right: int, rows: int, test: SignificanceTest) -> float:
    """Return Fisher's exact p-value, or the paper's binomial tail."""
    if test is SignificanceTest.BINOMIAL:
        return float(binomial_p_values(both, left, right, rows))
    return fisher_p_value(both, left, right, rows)
