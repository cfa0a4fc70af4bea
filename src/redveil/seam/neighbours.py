"""Runs on neighbouring data that somebody made up, and all that they release: for audits."""

from __future__ import annotations

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.catalogue import EVERYTHING, PROFILES, make_algorithm
from redveil.algorithms.confirm import Confirm
from redveil.algorithms.derived import derived_column, with_derived
from redveil.algorithms.describe import Describe
from redveil.algorithms.refine import Refine
from redveil.counting.columns import Positions, cross_tabulate, route
from redveil.data.binning import bin_view
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn, Table
from redveil.findings.leaf_table import LeafTable
from redveil.findings.reporting import Constraints, Reporting
from redveil.losses.loss import Loss, parse_loss
from redveil.mining import Mined, mine
from redveil.query.leaves import split_literal
from redveil.schema import Schema
from redveil.sealed import Sealed
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from redveil.waiting import awaited
from redveil.wire.names import AnyAlgorithmName

__all__ = [
    "EVERYTHING",
    "MISSING",
    "PROFILES",
    "Algorithm",
    "AnyAlgorithmName",
    "CodedColumn",
    "Column",
    "Confirm",
    "Constraints",
    "Describe",
    "LeafTable",
    "Loss",
    "Mined",
    "NumericColumn",
    "Positions",
    "Refine",
    "Reporting",
    "Splits",
    "Table",
    "Tree",
    "awaited",
    "bin_view",
    "cross_tabulate",
    "derived_column",
    "make_algorithm",
    "mine",
    "parse_loss",
    "route",
    "sealed_dataset",
    "split_literal",
    "with_derived",
]


def sealed_dataset(schema: Schema, table: Table) -> Dataset:
    """Return rows that somebody made up, sealed as loaded ones are."""
    return Dataset(schema, Sealed(table), Sealed(LoadReport(table.rows)))
