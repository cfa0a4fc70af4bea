"""A part of the population: the entities for which public queries are true.

Proof: algorithms/population.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from redveil.data.dataset import Dataset
from redveil.data.table import Table
from redveil.query.condition import Condition
from redveil.query.formula import evaluate


def part_of(dataset: Dataset, conditions: Sequence[Condition]) -> Dataset:
    """Return the data set of the entities for which all conditions are true.

    Every entity is in or out by its own rows alone; one for which a condition is unknown is out.
    The schema stays the same.

    >>> from redveil.data.synthetic import wide_dataset
    >>> from redveil.query.condition import read_conditions
    >>> dataset = wide_dataset(100, 2, 2)
    >>> women = read_conditions(f"[{dataset.schema.left.names[0]}]", dataset.schema, "within")
    >>> part_of(dataset, women).origin.part == women
    True
    """
    if not conditions:
        return dataset
    origin = replace(dataset.origin, part=tuple(conditions))
    return replace(dataset.mapped(partial(_only, tuple(conditions))), derived=origin)


def _only(conditions: Sequence[Condition], table: Table) -> Table:
    keep = np.ones(table.rows, dtype=np.bool_)
    for one in conditions:
        keep &= evaluate(one.query, table.view(one.side)).true
    return table.only(keep)
