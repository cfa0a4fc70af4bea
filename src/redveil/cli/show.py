"""`redveil show`: print a result as a table or in another format, listed as one likes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from redveil.base.file_kind import FileKind
from redveil.cli import listing
from redveil.cli.arguments import ResultFile
from redveil.cli.console import display, display_table, output, say, write_file
from redveil.cli.outputs import STANDARD_OUTPUT, check_output, is_standard_output, save
from redveil.errors import InputError

if TYPE_CHECKING:
    from redveil.report.document import ResultDocument
    from redveil.report.result import Result


class Format(StrEnum):
    """Output formats of a result."""

    TABLE = "table"
    CSV = "csv"
    EXCEL = "excel"
    HTML = "html"
    JSON = "json"


_BY_SUFFIX: Final = {
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".xlsx": Format.EXCEL,
    ".html": Format.HTML,
}
_KINDS: Final = {
    form: FileKind.RESULT if form is Format.JSON else FileKind.LIST for form in _BY_SUFFIX.values()
}


FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format", "-f", help="Output format [default: table, or as the output is called]"
    ),
]
Target = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write to this file: .json (a result again), .csv, .xlsx or .html.",
    ),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Also list every step of the plan and its price.")
]
Full = Annotated[
    bool, typer.Option("--full", help="With all supports, and the leaf table of each entry.")
]


def show(
    result: ResultFile,
    form: FormatOption = None,
    target: Target = None,
    plan: Plan = False,
    full: Full = False,
    max_p_value: listing.MaxPValue = None,
    min_jaccard: listing.MinJaccard = None,
    min_corrected: listing.MinCorrected = None,
    min_support: listing.MinSupport = None,
    max_support: listing.MaxSupport = None,
    max_literals: listing.MaxLiterals = None,
    max_disjuncts: listing.MaxDisjuncts = None,
    confirmed: listing.Confirmed = None,
    prune: listing.Prune = None,
    complement: listing.Complement = False,
    sort: listing.Sort = None,
    top: listing.Top = None,
) -> None:
    """Show a result: redescriptions and privacy certificate.

    The list can be made again with other constraints, from the file alone and at no cost, as in

    redveil show result.json --max-support 0.5 --sort corrected --top 5
    """
    form = _format(form, target)
    # A table goes nowhere else.
    target = None if form is Format.TABLE else target
    if target is not None:
        check_output(target, _KINDS[form], [result])
    from redveil.report.result import Result

    constraints = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_corrected": min_corrected,
        "min_support": min_support,
        "max_support": max_support,
        "max_literals": max_literals,
        "max_disjuncts": max_disjuncts,
        "confirmed": confirmed,
        "prune": prune,
    }
    read = listing.listed(
        Result.read(result), constraints, complement=complement, sort=sort, top=top
    )
    if target is not None:
        _write(read, form, target, full=full)
    else:
        _print(read, form, plan=plan, full=full)


def _format(given: Format | None, target: Path | None) -> Format:
    """Return the format, by its option or by the name of the output."""
    if target is None or target == STANDARD_OUTPUT:
        form = given or (Format.TABLE if target is None else Format.JSON)
        if form is Format.EXCEL:
            raise InputError("--format excel: name a file with --output, such as list.xlsx")
        return form
    form = given or _BY_SUFFIX.get(target.suffix.lower(), Format.TABLE)
    if form is Format.TABLE:
        known = ", ".join(one.value for one in _KINDS)
        raise InputError(f"{target}: say what to write with --format: {known}")
    return form


def _print(read: Result, form: Format, *, plan: bool, full: bool) -> None:
    """Print a result to standard output."""
    from redveil.report.text import result_view

    document = read.document
    if form is not Format.TABLE:
        _warn(document)
        write_file(_text(read, form, full=full).removesuffix("\n"))
    elif full:
        from redveil.report.full import below_view, full_table

        _warn(document)
        if document.redescriptions:
            display_table(full_table(document))
        for part in below_view(document, steps=plan):
            display(part)
    else:
        display(result_view(document, steps=plan, width=output().width))


def _write(read: Result, form: Format, target: Path, *, full: bool) -> None:
    """Write a result to a file."""
    from redveil.base.files import replace_bytes
    from redveil.report.excel import workbook

    _warn(read.document)
    # An earlier result may have been paid for, and a list edited, or begin like one by chance.
    if form is Format.EXCEL:
        kept = replace_bytes(target, workbook(read.document), _KINDS[form])
    else:
        kept = save(_text(read, form, full=full), target, _KINDS[form])
    if kept:
        say(f"previous {'result' if form is Format.JSON else 'list'} kept as {kept}")
    if not is_standard_output(target):
        say(f"written to {target}")


def _text(read: Result, form: Format, *, full: bool) -> str:
    """Return a result as text in some format, with a line end."""
    from redveil.base.csv_text import csv_text
    from redveil.report.full import full_fragment
    from redveil.report.html import fragment

    if form is Format.JSON:
        return read.to_json()
    if form is Format.CSV:
        return csv_text(read.to_arrow())
    page = full_fragment if full else fragment
    return f"{page(read.document)}\n"


def _warn(document: ResultDocument) -> None:
    if document.warning:
        say(document.warning, "bold red")
