"""Answers to free questions as JSON, and the list of what can be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from redveil.findings.questions import Answer
from redveil.findings.statistics import Interval
from redveil.report.document import TreePairPart, TreePart
from redveil.report.text import NARROW_WIDTH, itemised

if TYPE_CHECKING:
    from rich.table import Table


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON, with the result file's names.

    >>> from redveil.findings.statistics import Statistics
    >>> half, few = Interval(0.5, 0.4, 0.6), Interval(60, 50, 70)
    >>> statistics = Statistics(half, 0.1, half, few, few, few, 1e-9, 1e-8, 1e-12)
    >>> answer_json(Answer("[a]", "[b]", statistics, table=0))["jaccard"]
    {'estimate': 0.5, 'low': 0.4, 'high': 0.6}
    """
    known = answer.statistics
    return {
        "left": answer.left,
        "right": answer.right,
        "jaccard": _plain(known.jaccard),
        "expected_jaccard": known.expected_jaccard,
        "corrected": _plain(known.corrected),
        "support": {
            "left": _plain(known.support_left),
            "right": _plain(known.support_right),
            "both": _plain(known.support_both),
        },
        "p_value": known.p_value,
        "p_value_confirming": known.p_value_confirming,
        "p_value_estimate": known.p_value_estimate,
        "tree_pair": answer.table,
        "cost": str(answer.cost),
    }


def leaves_view(pairs: Iterable[TreePairPart], width: int | None = None) -> Table:
    """Return the leaves of every table: their unions, negated or not, can be asked.

    width: of the terminal; on a narrow one, the sides are listed one below the other
    """
    from rich.table import Table
    from rich.text import Text

    if width is not None and width < NARROW_WIDTH:
        narrow = Table.grid(padding=(0, 2, 0, 0))
        narrow.add_column(style="bold", no_wrap=True)
        narrow.add_column(overflow="fold")
        for number, pair in enumerate(pairs, start=1):
            for side, tree in (("left", pair.left), ("right", pair.right)):
                narrow.add_row(f"{number} {side}", itemised(map(Text, leaf_texts(tree))))
        return narrow
    view = Table(box=None, header_style="bold", pad_edge=False)
    view.add_column("table", justify="right")
    view.add_column("leaves on the left", ratio=1, overflow="fold")
    view.add_column("leaves on the right", ratio=1, overflow="fold")
    for number, pair in enumerate(pairs, start=1):
        sides = ("\n".join(leaf_texts(tree)) for tree in (pair.left, pair.right))
        view.add_row(str(number), *map(Text, sides), end_section=True)
    return view


def leaf_texts(tree: TreePart) -> list[str]:
    """Return the queries of a tree's leaves."""
    return [leaf.text for leaf in tree.ends if leaf is not None]


def _plain(interval: Interval) -> dict[str, float]:
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
