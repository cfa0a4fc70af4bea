"""`redveil prepare`: turn the raw files of a public data set into two views and a schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from redveil import InputError
from redveil.seam.commands import say

if TYPE_CHECKING:
    from redveil_research.preparation.prepared import Prepared

DatasetName = Literal["cms", "npas", "mammals", "mimic"]


def prepare(
    name: Annotated[
        DatasetName, typer.Argument(metavar="NAME", help="cms, npas, mammals or mimic.")
    ],
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="Folder with the publisher's files.")],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for left.csv, right.csv and their schema.")
    ],
    segments: Annotated[
        int | None, typer.Option(help="cms: how many of the 16 segments [default: all]")
    ] = None,
) -> None:
    """Turn the raw files of a public data set into two views and a schema."""
    from redveil_research.preparation.prepared import must_be_free

    if segments is not None and name != "cms":
        raise InputError(f"--segments does nothing for {name}; leave it out")
    if segments is not None and not 1 <= segments <= 16:
        raise InputError("--segments must be a whole number from 1 to 16")
    must_be_free(out)
    prepared = _preparation(name, segments)(raw)
    prepared.write(out)
    for note in prepared.notes:
        say(f"owner only: {note}", "dim")
    left, right = prepared.schema.left.attributes, prepared.schema.right.attributes
    say(f"written to {out}: {len(left)} left and {len(right)} right attributes")


def _preparation(name: DatasetName, segments: int | None) -> Callable[[Path], Prepared]:
    """Return what prepares a data set."""
    match name:
        case "cms":
            from redveil_research.preparation.cms import SEGMENTS, prepare_cms

            return lambda raw: prepare_cms(raw, segments or SEGMENTS)
        case "npas":
            from redveil_research.preparation.npas import prepare_npas

            return prepare_npas
        case "mammals":
            from redveil_research.preparation.mammals import prepare_mammals

            return prepare_mammals
        case "mimic":
            from redveil_research.preparation.mimic import prepare_mimic

            return prepare_mimic
