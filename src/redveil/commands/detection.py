"""The part of `redveil plan` that says what runs would detect: --detect and --study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.console import display_table, note, write_json
from redveil.errors import InputError

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm
    from redveil.losses.loss import Loss
    from redveil.schema import Schema

Detect = Annotated[
    bool, typer.Option("--detect", help="Show the smallest match that runs would find and confirm.")
]
Study = Annotated[
    bool, typer.Option("--study", help="Propose how to divide ε over a study, and for what.")
]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be shown.

    >>> Asked().anything, Asked(study=True).anything
    (False, True)
    """

    detect: bool = False
    study: bool = False

    @property
    def anything(self) -> bool:
        """Whether anything is to be shown at all."""
        return self.detect or self.study


def show_detection(
    wanted: Algorithm,
    loss: Loss,
    entities: int | None,
    schema: Schema | None,
    asked: Asked,
    as_json: bool,
) -> None:
    """Show what runs would detect, a proposal for a study, or both."""
    from redveil.detecting import detected
    from redveil.report.detection import EXPLAINED, limits_listing, study_listing

    if not entities:
        raise InputError("what runs detect depends on the number of entities; give --entities")
    found = detected(wanted, loss, entities, schema)
    if as_json:
        left_out = {"detect": not asked.detect, "study": not asked.study}
        plain = found.plain().items()
        write_json({name: value for name, value in plain if not left_out.get(name)})
    else:
        if asked.detect:
            display_table(limits_listing(entities, found.detections).rich())
        if asked.study:
            display_table(study_listing(found.study).rich())
        if asked.detect or asked.study:
            note(" ".join(EXPLAINED.split()))
