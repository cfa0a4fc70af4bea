"""`redveil demo`: a generated clinic, mined."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.console import say
from redveil.cli.mine import mine
from redveil.errors import InputError


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the demo's files go.")] = Path(
        "demo-output"
    ),
    patients: Annotated[int, typer.Option(min=10, help="How many patients to generate.")] = 5000,
    epsilon: Annotated[str, typer.Option(help="Privacy loss of the run.")] = "1",
) -> None:
    """Generate a clinic (diagnoses × laboratory), mine it privately, and show what was found."""
    from redveil.data.synthetic import write_clinic

    try:
        left, right, schema = write_clinic(folder, patients)
    except OSError:
        raise InputError(f"{folder}: cannot be written; name a folder, or a new one") from None
    say(f"generated {patients} patients: {left}, {right}; schema: {schema}")
    mine(left, right, epsilon, schema=schema, result=folder / "result.json")
    say(f"next: {sys.argv[0]} show {folder / 'result.json'} --steps")
