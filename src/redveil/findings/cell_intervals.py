"""Intervals of single cells, as wide as those of the answers to free questions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from redveil.findings.critical_values import (
    is_union,
    question_critical_values,
    weighting_critical_values,
)
from redveil.findings.estimate import estimate
from redveil.findings.leaf_table import LeafTable


def cell_intervals(
    table: LeafTable, tables: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the estimate and the two ends of each cell, each float64[left ends, right ends].

    They are what `ask` answers for the two ends: none is negative, and all of them hold together
    with probability 95 %, over all of `tables` tables.
    """
    best = estimate(table)
    height, width = best.cells.shape
    one = best.moments(np.eye(1, height, dtype=np.bool_), np.eye(1, width, dtype=np.bool_))
    deviation = math.sqrt(float(one.both_both[0]))
    of_rows, of_columns = (
        np.array([is_union(tree, end) for end in np.eye(len(tree.ends), dtype=np.bool_)])
        for tree in (table.left, table.right)
    )
    plain = np.logical_and.outer(of_rows, of_columns)
    usual = question_critical_values(table, tables).intervals
    wider = usual if plain.all() else weighting_critical_values(table, tables).intervals
    reach = deviation * np.where(plain, usual, wider)
    low, high = (np.maximum(best.cells + sign * reach, 0.0) for sign in (-1, 1))
    return np.maximum(best.cells, 0.0), low, high
