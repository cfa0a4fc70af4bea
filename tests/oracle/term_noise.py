"""The largest studentised error of all pairs of terms, one left term at a time."""

from __future__ import annotations

import numpy as np

from redveil.findings.estimate import estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.leverage import leverage_variance
from redveil.findings.noise import SIMULATIONS, left_margin, simulated_errors
from redveil.findings.statistics import jaccard_bounds, line_variance


def largest_of_terms(table: LeafTable, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the largest of the errors of overlaps, supports, Jaccard lines and leverages."""
    fitted = estimate(table)
    (errors,) = simulated_errors(table.cells.shape, table.prices, SIMULATIONS)
    margin = left_margin(errors)
    of_left, of_right = margin @ left.T.astype(np.float64), errors.cells.sum(axis=1) @ right.T
    largest = np.zeros(len(margin))
    for number, term in enumerate(left):
        m = fitted.moments(np.repeat(term[None], len(right), axis=0), right)
        jaccard = jaccard_bounds(m, 0.0)[0]
        both = (term.astype(np.float64) @ errors.cells) @ right.T
        one, size = of_left[:, [number]], margin.sum(axis=1, keepdims=True)
        entities = np.maximum(m.size, 1.0)
        share, other = np.clip(m.left / entities, 0, 1), np.clip(m.right / entities, 0, 1)
        surplus = both - other * one - share * of_right + share * other * size
        for error, variance in (
            (both, m.both_both),
            (one, m.left_left[:1]),
            (of_right, m.right_right),
            (both - jaccard * (one + of_right - both), line_variance(m, jaccard)),
            (surplus, leverage_variance(m, share, other)),
        ):
            largest = np.maximum(largest, np.abs(error / np.sqrt(variance)).max(axis=1))
    return largest
