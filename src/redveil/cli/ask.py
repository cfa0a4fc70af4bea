"""`redveil ask`: free questions to a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.console import output, write
from redveil.errors import InputError, QueryError

if TYPE_CHECKING:
    from redveil.report.result import Result


def ask(
    result: Annotated[Path, typer.Argument(help="A file that redveil mine wrote.")],
    left: Annotated[str | None, typer.Argument(help="Query over the left view.")] = None,
    right: Annotated[str | None, typer.Argument(help="Query over the right view.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a result about any two queries that its leaves make up. Costs no privacy.

    Without queries: list the leaves. Their unions (|) and negations (!) can be asked, as in

    redveil ask result.json '[gout]' '[uric acid > 7.5] | [eGFR <= 60]'
    """
    from redveil.findings.questions import parse_side
    from redveil.report.answer import answer_json, answer_view
    from redveil.report.result import Result
    from redveil.schema import Side

    if left is not None and right is None:
        raise InputError("ask takes two queries, left and right, or none to list what can be asked")
    read = Result.read(result)
    if left is None or right is None:
        _list(read, as_json)
        return
    parse_side(left, Side.LEFT)
    parse_side(right, Side.RIGHT)
    try:
        answer = read.evaluate(left, right)
    except QueryError as error:
        if not read.document.tree_pairs:
            raise
        # Not said of a forgotten bracket, for which a list of leaves is no remedy.
        raise QueryError(f"{error} (`redveil ask {result}` lists what can be asked)") from None
    if as_json:
        write(json.dumps(answer_json(answer), indent=1, ensure_ascii=False))
    else:
        output().print(answer_view(answer, read.document))


def _list(read: Result, as_json: bool) -> None:
    """Print what can be asked."""
    from redveil.report.answer import leaf_texts, leaves_view

    pairs = read.document.tree_pairs
    if as_json:
        listed = [
            {"left": leaf_texts(pair.left), "right": leaf_texts(pair.right)} for pair in pairs
        ]
        write(json.dumps(listed, indent=1, ensure_ascii=False))
    elif pairs:
        output().print(leaves_view(pairs))
    else:
        typer.echo("This result holds no leaf table, so there is nothing to ask.")
