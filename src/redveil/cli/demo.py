"""`redveil demo`: generate a clinic's data and mine it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.console import say
from redveil.cli.mine import mine
from redveil.errors import InputError


def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder for the files.")] = Path(
        "demo-output"
    ),
    patients: Annotated[int, typer.Option(min=10, help="Number of patients.")] = 5000,
    epsilon: Annotated[str, typer.Option(metavar="<number>", help="Privacy loss ε.")] = "1",
) -> None:
    """Generate a clinic's data, mine it and show the result."""
    from redveil.data.synthetic import write_clinic

    try:
        left, right, schema = write_clinic(folder, patients)
    except OSError:
        raise InputError(f"{folder}: cannot write there; name another folder") from None
    say(f"generated {patients:,} patients: {left}, {right}; schema: {schema}")
    mine(left, right, epsilon, schema=schema, result=folder / "result.json")
    say(f"next: {sys.argv[0]} show {folder / 'result.json'} --plan")
