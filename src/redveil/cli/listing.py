"""Options that list a result differently, at no privacy cost."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from redveil.cli.arguments import naming_options

if TYPE_CHECKING:
    from redveil.report.result import Result

#: The panels of the options.
LISTED: Final = "What to list, at no privacy cost"
ORDERED: Final = "In which order"


class SortBy(StrEnum):
    """The orders of a list."""

    RANK = "rank"
    CORRECTED = "corrected"
    JACCARD = "jaccard"
    SUPPORT = "support"
    P = "p"


MaxPValue = Annotated[
    float | None, typer.Option("--max-p-value", help="Largest p-value.", rich_help_panel=LISTED)
]
MinJaccard = Annotated[
    float | None,
    typer.Option("--min-jaccard", help="Smallest Jaccard index.", rich_help_panel=LISTED),
]
MinCorrected = Annotated[
    float | None,
    typer.Option(
        "--min-corrected",
        help="Smallest chance-corrected index, 0 to 1.",
        rich_help_panel=LISTED,
    ),
]
MinSupport = Annotated[
    int | None,
    typer.Option("--min-support", help="Smallest overlap, in entities.", rich_help_panel=LISTED),
]
MaxSupport = Annotated[
    float | None,
    typer.Option(
        "--max-support",
        help="Largest share of the entities a query may cover.",
        rich_help_panel=LISTED,
    ),
]
MaxLiterals = Annotated[
    int | None,
    typer.Option("--max-literals", help="Most literals on a side.", rich_help_panel=LISTED),
]
MaxDisjuncts = Annotated[
    int | None,
    typer.Option(
        "--max-disjuncts", help='Most terms joined by "or" in one query.', rich_help_panel=LISTED
    ),
]
Confirmed = Annotated[
    bool | None,
    typer.Option(
        "--confirmed/--all", help="Only what is confirmed, or everything.", rich_help_panel=LISTED
    ),
]
Prune = Annotated[
    str | None,
    typer.Option(
        "--prune",
        metavar="<number|auto|none>",
        help="Drop noisy supports below this number; none keeps all.",
        rich_help_panel=LISTED,
        autocompletion=lambda: ["auto", "none"],
    ),
]
Complement = Annotated[
    bool,
    typer.Option(
        "--complement",
        help="Show the complement of every entry: what it says of all others.",
        rich_help_panel=LISTED,
    ),
]
Sort = Annotated[
    SortBy | None,
    typer.Option(
        "--sort", help="Strongest first; rank is the list's own order.", rich_help_panel=ORDERED
    ),
]
Top = Annotated[
    int | None, typer.Option("--top", min=1, help="Only the first few.", rich_help_panel=ORDERED)
]


def read_listed(path: Path) -> Result:
    """Read a result file; make the list of one that was cut off before it was made."""
    from redveil.report.result import Result as Read

    return listed(Read.read(path), {})


def listed(
    read: Result,
    constraints: dict[str, float | int | str | bool | None],
    *,
    complement: bool = False,
    sort: SortBy | None = None,
    top: int | None = None,
) -> Result:
    """Return a result as the options ask for it: constraints first, then order, then length.

    constraints: the arguments of `Result.filter`, None for those that were not given
    """
    with naming_options():
        # One that was cut off has no list yet.
        if read.document.unfinished or any(value is not None for value in constraints.values()):
            from redveil.report.listing import filtered
            from redveil.report.result import Result as Listed

            read = Listed(filtered(read.document, constraints))
        if complement:
            read = read.complement()
        if sort is not None:
            read = read.sort(sort.value)
        return read if top is None else read.top(top)
