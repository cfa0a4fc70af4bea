"""Mine without privacy: run a method on all starts, and judge what it finds by true counts.

A baseline holds true values, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from redveil import Dataset, InputError, Schema
from redveil.seam.queries import Side
from redveil.seam.results import (
    Block,
    Code,
    Displayed,
    FileKind,
    Listing,
    Note,
    Parameter,
    Part,
    QueryPart,
    TruePart,
    p_text,
    plural,
    software,
    write_text,
)
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
from redveil_research.baselines.branches import BoolArray, Features, features_of, holds, query_of
from redveil_research.baselines.methods import METHODS, Growth, Match, Method, best_starts

if TYPE_CHECKING:
    import pyarrow as pa


class MatchPart(Part):
    """Two queries and their true values. NOT private."""

    left: QueryPart
    right: QueryPart
    true: TruePart


class BaselineDocument(Part):
    """A whole baseline file. NOT private."""

    format: Literal["redveil-baseline"] = "redveil-baseline"
    version: Literal[1] = 1
    warning: str = Field(pattern="^NOT PRIVATE", description="that the file is not private")
    method: str
    parameters: dict[str, Parameter]
    unit: str = Field(description="what one entity is called")
    schema_name: str
    schema_digest: str
    entities: int = Field(description="the true number of entities")
    redescriptions: tuple[MatchPart, ...]
    software: str


@dataclass(frozen=True, slots=True, repr=False)
class Baseline(Displayed):
    """Redescriptions that were mined without privacy, with true values. For the data owner only.

    >>> import redveil, redveil_research
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> dataset = redveil.load(*clinic_frames(500), clinic_schema())
    >>> found = redveil_research.baseline(dataset, "layered-trees", depth=2, starts=5)
    >>> found.document.warning[:11]
    'NOT PRIVATE'
    >>> found.to_arrow().column_names[:3]
    ['left', 'right', 'true_jaccard']
    """

    document: BaselineDocument

    @property
    def redescriptions(self) -> tuple[MatchPart, ...]:
        """The redescriptions, the largest Jaccard index first."""
        return self.document.redescriptions

    def __len__(self) -> int:
        return len(self.redescriptions)

    def __iter__(self) -> Iterator[MatchPart]:
        return iter(self.redescriptions)

    def __repr__(self) -> str:
        found = f"{len(self)} redescription{'' if len(self) == 1 else 's'}"
        return f"<Baseline: {found}, {self.document.method}, NOT PRIVATE>"

    def to_arrow(self) -> pa.Table:
        """Return the redescriptions as a PyArrow table, one a row."""
        import pyarrow as pa

        counts = ("left", "right", "both", "either")
        types: dict[str, Any] = {"left": pa.string(), "right": pa.string()}
        types |= {"true_jaccard": pa.float64()}
        types |= {f"true_support_{count}": pa.int64() for count in counts}
        types |= {"true_p_value": pa.float64()}
        rows = []
        for one in self.redescriptions:
            support = one.true.support
            values = [one.left.text, one.right.text, one.true.jaccard]
            values += [getattr(support, count) for count in counts]
            rows.append(dict(zip(types, [*values, one.true.p_value], strict=True)))
        return pa.Table.from_pylist(rows, schema=pa.schema(types))

    def to_json(self) -> str:
        """Return the text of the baseline's file."""
        return self.document.model_dump_json(by_alias=True, indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the file, atomically; replace nothing but an earlier baseline."""
        write_text(Path(path), self.to_json(), FileKind.BASELINE)

    def blocks(self) -> Iterator[Block]:
        """Yield what there is to see: the warning, the list, and how it was made."""
        document = self.document
        yield Note(document.warning)
        rows = [
            (
                str(number),
                Code(one.left.text),
                Code(one.right.text),
                f"{one.true.jaccard:.3f}",
                f"{one.true.support.both:,}",
                p_text(one.true.p_value),
            )
            for number, one in enumerate(self.redescriptions, start=1)
        ]
        heads = ("#", "left", "right", "true J", f"true {plural(document.unit)}", "true p")
        if rows:
            yield Listing(heads, rows, right=(0, 3, 4, 5), unbroken=(0, 3, 4, 5))
        given = ", ".join(f"{name} {value}" for name, value in document.parameters.items())
        yield Listing(
            (),
            [
                ("method", f"{document.method}, no privacy ({document.software})"),
                ("parameters", given),
                (plural(document.unit), f"{document.entities:,} (true)"),
                ("found", str(len(rows))),
                ("schema", document.schema_name),
            ],
            caption="Baseline, NOT PRIVATE",
        )

    _shown = blocks


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
