"""`redveil show`: print a result as a table or in another format, listed as one likes."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from redveil.cli import listing
from redveil.cli.arguments import ResultFile
from redveil.cli.console import display, display_table, output, say, write_file
from redveil.cli.outputs import STANDARD_OUTPUT, check_output, is_standard_output, save
from redveil.errors import InputError
from redveil.file_kind import FileKind

if TYPE_CHECKING:
    from redveil.report.document import ResultDocument
    from redveil.report.result import Result


class Format(StrEnum):
    """Output formats of a result."""

    TABLE = "table"
    CSV = "csv"
    EXCEL = "excel"
    LATEX = "latex"
    HTML = "html"
    JSON = "json"


_BY_SUFFIX: Final = {
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".xlsx": Format.EXCEL,
    ".tex": Format.LATEX,
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
        help="Write to this file: .json (a result again), .csv, .xlsx, .tex or .html.",
    ),
]
Plan = Annotated[
    bool, typer.Option("--plan", help="Also list every step of the plan and its price.")
]
Full = Annotated[
    bool, typer.Option("--full", help="With all supports, and the leaf table of each entry.")
]
Queries = Annotated[
    Path | None,
    typer.Option(help="Also write the queries to this file, in clired's format; - prints them."),
]


def show(
    context: typer.Context,
    result: ResultFile,
    form: FormatOption = None,
    target: Target = None,
    plan: Plan = False,
    full: Full = False,
    queries: Queries = None,
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
    """Show a result: redescriptions and privacy certificate. Or a baseline, which is NOT PRIVATE.

    The list can be made again with other constraints, from the file alone and at no cost, as in

    redveil show result.json --max-support 0.5 --sort corrected --top 5
    """
    if _is_baseline(result):
        _show_baseline(result, top, context)
        return
    form = _format(form, target)
    # A table goes nowhere else.
    target = None if form is Format.TABLE else target
    if target is not None:
        check_output(target, _KINDS[form], [result])
    if queries is not None and not is_standard_output(queries):
        check_output(queries, FileKind.QUERIES, [result])
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
    if queries is not None and is_standard_output(queries):
        _write_queries(read, Path("/dev/stdout"))
        return
    if queries is not None:
        # Before anything is shown, because whoever reads standard output may be gone.
        _write_queries(read, queries)
    if target is not None:
        _write(read, form, target, full=full)
    else:
        _print(read, form, plan=plan, full=full)


def _is_baseline(path: Path) -> bool:
    """Return whether a file is a baseline; what can be read only once is not."""
    from redveil.file_kind import file_kind

    with suppress(OSError, ValueError):
        return path.is_file() and file_kind(path) is FileKind.BASELINE
    return False


def _show_baseline(path: Path, top: int | None, context: typer.Context) -> None:
    """Print a baseline; refuse options that are about results."""
    from redveil.cli.baseline import show_baseline
    from redveil.report.baseline import Baseline

    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name not in ("result", "top") and source is not None and source.name != "DEFAULT":
            raise InputError(
                f"{path}: a baseline is shown as it is, at most with --top; leave out "
                f"{parameter.opts[0]}, or mine it again with `redveil baseline`"
            )
    found = Baseline.read(path)
    show_baseline(found if top is None else found.top(top))


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
    from redveil.files import replace_bytes
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
    from redveil.csv_text import csv_text
    from redveil.report.full import full_fragment, full_latex
    from redveil.report.html import fragment
    from redveil.report.latex import latex_table

    if form is Format.JSON:
        return read.to_json()
    if form is Format.CSV:
        return csv_text(read.to_arrow())
    latex, page = (full_latex, full_fragment) if full else (latex_table, fragment)
    return f"{(latex if form is Format.LATEX else page)(read.document)}\n"


def _warn(document: ResultDocument) -> None:
    if document.warning:
        say(document.warning, "bold red")


def _write_queries(read: Result, queries: Path) -> None:
    """Write the queries in clired's format."""
    from redveil.report.queries_file import write_result_queries

    listed, kept = write_result_queries(read.document, queries)
    if is_standard_output(queries):
        return
    if kept:
        say(f"previous queries kept as {kept}")
    say(f"written to {queries}")
    if listed is not None:
        say(f"names that clired cannot read are numbered; {listed} lists them")
