"""`redveil demo`: generate a clinic's data and mine it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.console import program_name, say
from redveil.commands.mine import mine
from redveil.data.address import Address
from redveil.errors import InputError


def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder for the files.")] = Path(
        "demo-output"
    ),
    patients: Annotated[int, typer.Option(min=10, help="Number of patients.")] = 5000,
    epsilon: Annotated[str, typer.Option(metavar="<number>", help="Privacy loss ε.")] = "1",
) -> None:
    """Generate a clinic's data, mine it and show the result."""
    try:
        left, right, schema = _generated(folder, patients)
    except OSError:
        raise InputError(f"{folder}: cannot write there; name another folder") from None
    say(f"generated {patients:,} patients: {left}, {right}; schema: {schema}")
    tables = Address.of(left), Address.of(right)
    mine(*tables, epsilon, schema=schema, result=folder / "result.json")
    say(f"next: {program_name()} show {folder / 'result.json'} --plan")


def _generated(folder: Path, patients: int) -> list[Path]:
    """Write the clinic's files into a folder; files that differ are somebody's own, and stay."""
    from redveil.data.synthetic import write_clinic

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".redveil-") as aside:
        made = {path: folder / path.name for path in write_clinic(Path(aside), patients)}
        for new, target in made.items():
            if target.exists() and target.read_bytes() != new.read_bytes():
                raise InputError(f"{target}: not replaced by generated data; name another folder")
        for new, target in made.items():
            shutil.move(new, target)
    return list(made.values())
