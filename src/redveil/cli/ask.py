"""`redveil ask`: ask a result about other queries, for free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from redveil.base.files import typed
from redveil.cli.arguments import JsonOutput, ResultFile
from redveil.cli.console import display, output, write, write_json
from redveil.errors import InputError, QueryError

if TYPE_CHECKING:
    from redveil.report.result import Result


LeftQuery = Annotated[str | None, typer.Argument(metavar="LEFT", help="Query over the left view.")]
RightQuery = Annotated[
    str | None, typer.Argument(metavar="RIGHT", help="Query over the right view.")
]


def ask(
    result: ResultFile,
    left: LeftQuery = None,
    right: RightQuery = None,
    as_json: JsonOutput = False,
) -> None:
    """Ask a result about other queries, at no privacy cost.

    Without queries, list the leaves. You can ask about their unions (|) and negations (!), as in

    redveil ask result.json '[gout]' '[uric acid > 7.5] | [eGFR <= 60]'
    """
    from redveil.findings.questions import parse_side
    from redveil.report.answer import answer_json
    from redveil.report.result import Result
    from redveil.schema import Side

    if left is not None and right is None:
        raise InputError("ask takes two queries, left and right, or none to list the leaves")
    read = Result.read(result)
    if left is None or right is None:
        _list(read, as_json)
        return
    parse_side(left, Side.LEFT)
    parse_side(right, Side.RIGHT)
    try:
        answer = read.ask(left, right)
    except QueryError as error:
        if not read.document.tree_pairs:
            raise
        # Syntax errors were raised above: a list of leaves does not help with a missing bracket.
        raise QueryError(f"{error} (`redveil ask {typed(result)}` lists the leaves)") from None
    if as_json:
        write_json(answer_json(answer))
    else:
        display(answer.listing().rich())


def _list(read: Result, as_json: bool) -> None:
    """Print the leaves of every table."""
    from redveil.report.answer import leaves_view

    pairs = read.document.tree_pairs
    if as_json:
        write_json(read.leaves())
    elif pairs:
        display(leaves_view(pairs, output().width))
    else:
        write("This result has no leaf tables, so there is nothing to ask.")
