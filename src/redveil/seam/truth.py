"""The true rows of a data set, for who owns it. NOT private; nothing is charged."""

from __future__ import annotations

from redveil.data.dataset import Dataset, must_be_loaded, must_have_values
from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.findings.paper_extraction import estimates_only
from redveil.findings.reporting import Constraints
from redveil.losses.loss import read_count
from redveil.owner import WARNING, true_part
from redveil.query.formula import evaluate
from redveil.sealed import open_for_owner

__all__ = [
    "WARNING",
    "CodedColumn",
    "Column",
    "Constraints",
    "NumericColumn",
    "Table",
    "estimates_only",
    "evaluate",
    "read_count",
    "true_part",
    "true_table",
]


def true_table(dataset: Dataset, function: str) -> Table:
    """Return the true rows. NOT private.

    function: what was called, for messages

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> true_table(redveil.load(*clinic_frames(50), clinic_schema()), "baseline").rows
    50
    """
    must_have_values(must_be_loaded(dataset, function), function)
    return open_for_owner(dataset.table)
