"""`redveil compare`: what two results have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import JsonOutput
from redveil.cli.console import display, output, write_json
from redveil.cli.listing import read_listed

FirstResult = Annotated[
    Path, typer.Argument(metavar="FIRST", help="Result file, written by redveil mine.")
]
SecondResult = Annotated[Path, typer.Argument(metavar="SECOND", help="Another result file.")]


def compare(first: FirstResult, second: SecondResult, as_json: JsonOutput = False) -> None:
    """Show what two results have in common, at no privacy cost.

    For every entry of either list: what the other result says about it, in its list or by its
    tables, and whether the two are compatible.
    """
    from redveil.base.display import Listing, rich_text
    from redveil.report.compare import compare as compared
    from redveil.report.text import NARROW_WIDTH

    names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    found = compared(read_listed(first), read_listed(second), names)
    if as_json:
        write_json(found.to_json())
        return
    for block in found.blocks(narrow=output().width < NARROW_WIDTH):
        display(block.rich() if isinstance(block, Listing) else rich_text(str(block)))
