"""Confirmation: what new leaf tables say about a list that was found before.

Nothing is searched for, so nothing but the listed pairs has to be corrected for. The intervals of
the old and of the new Jaccard indices hold together with probability 95 %, and so do those of their
differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from redveil.findings.critical_values import report_critical_values
from redveil.findings.discovery import FAMILY_WISE_ERROR, Discovery
from redveil.findings.estimate import Estimate, estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import (
    CONFIRMING_CONFIDENCE,
    CriticalValues,
    Interval,
    Statistics,
    statistics_of,
)
from redveil.query.leaves import term_ends

# Old and new intervals share the 5 %.
OLD_AND_NEW = 2


@dataclass(frozen=True, slots=True)
class Retested:
    """Where a listed pair of queries is read.

    table:   the number of the table, from 0
    queries: the numbers of the left and the right query among those that are asked for
    ends:    the places of the ends that each covers in its tree
    """

    table: int
    queries: tuple[int, int]
    ends: tuple[tuple[int, ...], tuple[int, ...]]


def read_off(tables: Sequence[LeafTable], listed: Sequence[Retested]) -> list[Statistics]:
    """Return the statistics of each listed pair, with intervals that share the error with others.

    Used for the old tables as for the new ones.
    """
    known = {number: _read(tables[number], len(tables)) for number in {one.table for one in listed}}
    found: list[Statistics] = []
    for one in listed:
        fitted, critical = known[one.table]
        left, right = (
            np.isin(np.arange(size), ends)[None]
            for size, ends in zip(fitted.cells.shape, one.ends, strict=True)
        )
        found.append(statistics_of(fitted.moments(left, right), fitted, critical))
    return found


def _read(table: LeafTable, tables: int) -> tuple[Estimate, CriticalValues]:
    """Return the estimates of a table, and how many standard errors its intervals allow for."""
    terms = term_ends(table.left, inner=True), term_ends(table.right, inner=True)
    return estimate(table), report_critical_values(table, *terms, OLD_AND_NEW * tables)


def difference(new: Interval, old: Interval) -> Interval:
    """Return the difference of two numbers, whose intervals hold together.

    >>> difference(Interval(0.5, 0.4, 0.6), Interval(0.75, 0.5, 1.0))
    Interval(estimate=-0.25, low=-0.6, high=0.09999999999999998)
    """
    return Interval(new.estimate - old.estimate, new.low - old.high, new.high - old.low)


def confirmation(
    found: Sequence[Redescription],
) -> tuple[tuple[Redescription, ...], Discovery]:
    """Return listed pairs that know whether they are confirmed, in their order, and how many are.

    Correcting for as many as are listed is enough if the list was found without these entities.

    >>> confirmation([])[1].confirmed
    0
    """
    listed = max(len(found), 1)
    marked = tuple(
        replace(one, confirmed=one.statistics.p_value_confirming * listed <= FAMILY_WISE_ERROR)
        for one in found
    )
    return marked, confirmed_share(marked, math.log10(listed))


def confirmed_share(found: Sequence[Redescription], comparable: float) -> Discovery:
    """Return what is known of false discoveries in a list that was measured again, or in a part.

    comparable: log10 of how many were listed
    """
    confirmed = sum(bool(one.confirmed) for one in found)
    error = 1 - CONFIRMING_CONFIDENCE + FAMILY_WISE_ERROR
    bound = min(1.0, 1 - confirmed / max(len(found), 1) + error)
    return Discovery(comparable=comparable, confirmed=confirmed, bound=bound)
