"""A result as clired's `.queries` file."""

from __future__ import annotations

from pathlib import Path

from redveil.mining.clired import write_queries
from redveil.mining.query_json import from_json
from redveil.report.document import ResultDocument


def write_result_queries(document: ResultDocument, path: Path) -> None:
    """Write the redescriptions' queries with their noisy statistics, atomically."""
    write_queries(
        (
            (
                from_json(one.left.tree),
                from_json(one.right.tree),
                {"acc": one.jaccard.estimate, "pval": one.p_value},
            )
            for one in document.redescriptions
        ),
        path,
    )
