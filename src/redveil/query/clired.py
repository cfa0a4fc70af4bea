"""Files of pairs of queries, as clired, the command-line tool behind ReReMi and Siren, has them.

A `.queries` file is a table with tabs between its columns. Its header names `query_LHS` and
`query_RHS`, and statistics such as `acc` (the Jaccard index), `pval`, and the sizes `card_Exo`,
`card_Eox`, `card_Exx` and `card_Eoo` of the four parts that two supports cut the entities into.
How the queries themselves are written is told in `clired_text`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from redveil.errors import QueryError
from redveil.files import write_text
from redveil.query.clired_text import Names, from_clired, to_clired
from redveil.query.formula import Query

__all__ = ["from_clired", "read_queries", "to_clired", "write_queries"]

_LEADING = ("rid", "query_LHS", "query_RHS")
_STATISTICS = ("acc", "pval", "card_Exo", "card_Eox", "card_Exx", "card_Eoo")


def write_queries(
    pairs: Iterable[tuple[Query, Query, Mapping[str, float]]],
    path: str | os.PathLike[str],
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> None:
    """Write pairs of queries with their statistics; the file is there in full or not at all.

    Sizes (`card_…`) are rounded, because clired reads whole numbers only. What is not finite, or
    not given, becomes `-`.

    >>> from tempfile import TemporaryDirectory
    >>> left, right = from_clired("Moose"), from_clired("t5~<4.5")
    >>> with TemporaryDirectory() as folder:
    ...     write_queries([(left, right, {"acc": 0.75})], f"{folder}/my.queries")
    ...     Path(f"{folder}/my.queries").read_text().split()
    ['rid', 'query_LHS', 'query_RHS', 'acc', '1', '[Moose]', '[t5~<4.5]', '0.75']
    """
    rows = list(pairs)
    given = dict.fromkeys(name for _, _, statistics in rows for name in statistics)
    columns = [name for name in _STATISTICS if name in given]
    columns += [name for name in given if name not in _STATISTICS]
    for name in columns:
        if name in _LEADING or not re.fullmatch(r"\w+", name):
            raise QueryError(f"statistic {name!r}: give it a name of letters, digits and _ alone")
    left, right = names or (None, None)
    lines = [[*_LEADING, *columns]]
    for number, (query_left, query_right, statistics) in enumerate(rows, start=1):
        cells = [_cell(name, statistics.get(name)) for name in columns]
        lines.append(
            [str(number), to_clired(query_left, left), to_clired(query_right, right), *cells]
        )
    write_text(Path(path), "".join("\t".join(line) + "\n" for line in lines))


def read_queries(
    path: str | os.PathLike[str],
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> list[tuple[Query, Query]]:
    r"""Read the pairs of queries of a file; empty lines and lines that start with `#` are skipped.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.queries"
    ...     _ = path.write_text("query_LHS\tquery_RHS\nMoose\tt5~<4.5\n")
    ...     read_queries(path)[0][1]
    Literal(attribute='t5~', op='<=', value=4.5)
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError):
        raise QueryError(f"{path}: cannot be read; it must be a UTF-8 text file") from None
    places: list[int] | None = None
    pairs: list[tuple[Query, Query]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if places is None:
            places = _query_places(cells, f"{path}, line {number}")
            continue
        left, right = (
            _read_cell(cells, place, f"{path}, line {number}", side_names)
            for place, side_names in zip(places, names or (None, None), strict=True)
        )
        pairs.append((left, right))
    if places is None:
        raise QueryError(f"{path}: no header with query_LHS and query_RHS")
    return pairs


def _query_places(header: Sequence[str], place: str) -> list[int]:
    # Files of older versions spell the columns without the underscore.
    older = {"queryLHS": "query_LHS", "queryRHS": "query_RHS"}
    spelled = [older.get(cell, cell) for cell in header]
    if "query_LHS" not in spelled or "query_RHS" not in spelled:
        raise QueryError(f"{place}: expected a header with query_LHS and query_RHS between tabs")
    return [spelled.index("query_LHS"), spelled.index("query_RHS")]


def _read_cell(cells: Sequence[str], index: int, place: str, names: Names) -> Query:
    if index >= len(cells):
        raise QueryError(f"{place}: column {index + 1} is missing; separate columns by tabs")
    try:
        return from_clired(cells[index], names)
    except QueryError as error:
        raise QueryError(f"{place}, column {index + 1}, {error}") from None


def _cell(column: str, value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    return str(round(value)) if column.startswith("card_") else repr(float(value))
