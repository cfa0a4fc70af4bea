"""Mine without privacy: run a method on all starts, and judge what it finds by true counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict

import numpy as np

from redveil import Dataset, InputError, Schema
from redveil.seam.queries import Side
from redveil.seam.results import QueryPart, software
from redveil.seam.truth import (
    WARNING,
    Constraints,
    Table,
    evaluate,
    read_count,
    true_part,
    true_table,
)
from redveil_research.baselines import BaselineName
from redveil_research.baselines.branches import BoolArray, holds, query_of
from redveil_research.baselines.features import Features, features_of
from redveil_research.baselines.methods import METHODS, Growth, Match, Method
from redveil_research.baselines.report import Baseline, BaselineDocument, MatchPart
from redveil_research.baselines.starts import best_starts


def baseline(
    dataset: Dataset,
    method: BaselineName = "split-trees",
    *,
    depth: int = 4,
    starts: int = 100,
    min_leaf: int | None = None,
    max_p_value: float = 0.01,
    min_jaccard: float = 0.1,
    min_support: int = 10,
    max_support: float = 0.8,
    progress: Callable[[float], None] | None = None,
) -> Baseline:
    """Mine without privacy, to compare with. NOT private: for the data owner only.

    Nothing is charged, because nothing may be released.

    dataset:     what `redveil.load` returns
    method:      "split-trees" (SplitT), "layered-trees" (LayeredT) or "cartwheels"
    depth:       of the trees, 1 to 10
    starts:      how many attributes to start from, the best first
    min_leaf:    the fewest entities in a leaf; by default, a fifth of `min_support`
    max_p_value: the largest p-value (Fisher's)
    min_jaccard: the smallest Jaccard index
    min_support: the smallest overlap, in entities
    max_support: the largest share of the entities that a query may cover
    progress:    called with the share that is done

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(500), clinic_schema())
    >>> found = baseline(dataset, "split-trees", depth=2, starts=5)
    >>> found.redescriptions[0].true.jaccard > 0.5
    True
    """
    limits = Constraints(max_p_value, min_jaccard, min_support, max_support)
    run, growth, count = read_parameters(method, depth, starts, min_leaf, limits)
    table = true_table(dataset, "baseline")
    views = {side: features_of(table.view(side), table.rows) for side in Side}
    entries = sorted(
        _entries(
            _matches(views, run, growth, count, limits, progress), table, dataset.schema, limits
        ),
        key=lambda one: (-one.true.jaccard, -one.true.support.both),
    )
    parameters = {"depth": growth.depth, "starts": count, "min_leaf": growth.min_leaf}
    constraints = asdict(limits)
    # Trees have as many leaves as they have.
    del constraints["max_disjuncts"]
    return Baseline(
        BaselineDocument(
            warning=WARNING,
            method=method,
            parameters={**parameters, **constraints},
            unit=dataset.schema.unit,
            schema_name=dataset.schema.name,
            schema_digest=dataset.schema.digest,
            entities=table.rows,
            redescriptions=tuple(entries),
            software=software(),
        )
    )


def read_parameters(
    method: str, depth: object, starts: object, min_leaf: object, limits: Constraints
) -> tuple[Method, Growth, int]:
    """Return the method, the size of its trees and the number of starts, all checked.

    >>> read_parameters("trees", 4, 100, None, Constraints())
    Traceback (most recent call last):
    redveil.errors.InputError: method must be one of split-trees, layered-trees, cartwheels
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}")
    levels, count = read_count(depth), read_count(starts)
    if levels is None or not 1 <= levels <= 10:
        raise InputError("depth must be a whole number from 1 to 10")
    if count is None or count < 1:
        raise InputError("starts must be a whole number of at least 1")
    leaf = max(limits.min_support // 5, 1) if min_leaf is None else read_count(min_leaf)
    if leaf is None or leaf < 1:
        raise InputError("min_leaf must be a whole number of at least 1")
    return METHODS[method], Growth(levels, leaf), count


def _matches(
    views: Mapping[Side, Features],
    method: Method,
    growth: Growth,
    count: int,
    limits: Constraints,
    progress: Callable[[float], None] | None,
) -> Iterator[Match]:
    """Yield what a method finds from each start, once for each pair of supports."""
    seen: set[bytes] = set()
    starts = best_starts(views, count, limits.min_support, limits.max_support)
    for number, start in enumerate(starts, start=1):
        for match in method(views, start, growth):
            supports = [holds(match[side], views[side].rows) for side in Side]
            key = np.packbits(np.concatenate(supports)).tobytes()
            if key not in seen and _is_within(supports[0], supports[1], limits):
                seen.add(key)
                yield match
        if progress is not None:
            progress(number / len(starts))


def _is_within(left: BoolArray, right: BoolArray, limits: Constraints) -> bool:
    """Return whether a pair satisfies the constraints that need no p-value."""
    both, either = int((left & right).sum()), int((left | right).sum())
    most = limits.max_support * left.size
    return (
        both >= max(limits.min_support, 1)
        and both >= limits.min_jaccard * either
        and max(int(left.sum()), int(right.sum())) <= most
    )


def _entries(
    matches: Iterator[Match], table: Table, schema: Schema, limits: Constraints
) -> Iterator[MatchPart]:
    """Yield significant matches as queries, with the true values of exactly these queries."""
    for match in matches:
        queries = {side: query_of(match[side], schema.view(side)) for side in Side}
        left, right = (evaluate(queries[side], table.view(side)).true for side in Side)
        true = true_part(left, right)
        if true.p_value <= limits.max_p_value:
            parts = (QueryPart.of(queries[side]) for side in Side)
            yield MatchPart(left=next(parts), right=next(parts), true=true)
