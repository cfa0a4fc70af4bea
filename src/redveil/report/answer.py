"""Free questions for people: an answer, and the list of what can be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from redveil.findings.questions import Answer
from redveil.findings.redescription import Interval
from redveil.report.chance import chance_text
from redveil.report.document import ResultDocument, TreePairPart, TreePart
from redveil.report.text import p_text

if TYPE_CHECKING:
    from rich.table import Table


def answer_view(answer: Answer, document: ResultDocument) -> Table:
    """Return an answer as a table of facts."""
    from rich.table import Table
    from rich.text import Text

    view = Table(box=None, show_header=False)
    view.add_column(style="bold", no_wrap=True)
    view.add_column(overflow="fold")
    number, count = answer.table + 1, len(document.tree_pairs)
    facts = {
        "left": answer.left,
        "right": answer.right,
        "Jaccard": _interval(answer.jaccard, 2) + _beside_chance(answer, document),
        "entities": f"{_interval(answer.support_both, 0)} in both",
        "": f"{_interval(answer.support_left, 0)} left, {_interval(answer.support_right, 0)} right",
        "p ≤": p_text(answer.p_value),
        "read off": f"table {number} of {count}",
        "costs": "nothing: read from released counts, not from rows",
    }
    for name, fact in facts.items():
        # Text, not str: attribute names may look like markup.
        view.add_row(name, Text(fact))
    return view


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return an answer in the words of the result file.

    >>> half, few = Interval(0.5, 0.4, 0.6), Interval(60, 50, 70)
    >>> answer_json(Answer("[a]", "[b]", half, few, few, few, 0.1, 0.1, table=0))["jaccard"]
    {'estimate': 0.5, 'low': 0.4, 'high': 0.6}
    """
    return {
        "left": answer.left,
        "right": answer.right,
        "jaccard": _plain(answer.jaccard),
        "support": {
            "left": _plain(answer.support_left),
            "right": _plain(answer.support_right),
            "both": _plain(answer.support_both),
        },
        "p_value": answer.p_value,
        "p_value_estimate": answer.p_value_estimate,
        "tree_pair": answer.table,
        "cost": str(answer.cost),
    }


def leaves_view(pairs: Iterable[TreePairPart]) -> Table:
    """Return the leaves of every table: their unions, negated or not, can be asked."""
    from rich.table import Table
    from rich.text import Text

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
    return [cell.text for cell in tree.ends if cell is not None]


def _beside_chance(answer: Answer, document: ResultDocument) -> str:
    """Return what the two supports alone let expect, if the number of entities was released."""
    sizes = answer.support_left.estimate, answer.support_right.estimate
    expected = chance_text(document, *sizes)
    return f" (by chance {expected})" if expected else ""


def _plain(interval: Interval) -> dict[str, float]:
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}


def _interval(interval: Interval, digits: int) -> str:
    low, high = f"{interval.low:,.{digits}f}", f"{interval.high:,.{digits}f}"
    return f"{interval.estimate:,.{digits}f} [{low}, {high}]"
