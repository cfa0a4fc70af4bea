"""A result for the terminal: the table, and the certificate under it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from redveil.findings.wording import interval_text, p_text
from redveil.privacy.plan import steps_listing
from redveil.report.document import CertificatePart, IntervalPart, ResultDocument, StepPart
from redveil.report.wording import (
    all_confirmed,
    confirmation_text,
    is_confirmed,
)
from redveil.schema.view import plural

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from redveil.privacy.plan import Step


# Below this many columns a table leaves no room for queries.
NARROW_WIDTH = 120


def result_view(
    document: ResultDocument, *, steps: bool = False, width: int | None = None
) -> Group:
    """Return everything there is to see of a result, for a terminal of some width."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    if document.warning:
        parts.append(Text(document.warning, style="bold red"))
    if document.redescriptions:
        narrow = width is not None and width < NARROW_WIDTH
        listed = redescription_list if narrow else redescription_table
        parts.append(listed(document))
    if document.message:
        parts.append(Text(document.message, style="yellow"))
    if document.false_discoveries:
        found = len(document.redescriptions)
        parts.append(Text(confirmation_text(document.false_discoveries, found)))
    parts.append(certificate_view(document.certificate, document.entities))
    if steps:
        parts.append(steps_table(document.certificate.steps))
    return Group(*parts)


def redescription_list(document: ResultDocument) -> Text:
    """Return the redescriptions one below the other, for narrow terminals."""
    from rich.text import Text

    lines = Text()
    for number, one in enumerate(document.redescriptions, start=1):
        facts = (
            f"J {interval_text(one.jaccard, 2)} "
            f"(expected if unrelated {one.expected_jaccard:.2f})  "
            f"{interval_text(one.support.both, 0)} {plural(document.certificate.unit)}"
        )
        lines.append(f"{number}  {facts}  p at most {p_text(one.p_value)}\n", style="bold")
        if not is_confirmed(document, number):
            lines.append("   not confirmed\n", style="yellow")
        if one.true:
            true = f"   true J {one.true.jaccard:.3f}, true p {p_text(one.true.p_value)}\n"
            lines.append(true, style="red")
        lines.append(f"   {one.left.text}\n   {one.right.text}\n")
    return lines


def redescription_table(document: ResultDocument) -> Table:
    """Return the redescriptions as a table, best first."""
    from rich.table import Table
    from rich.text import Text

    evaluated = any(one.true for one in document.redescriptions)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("left", ratio=5, overflow="fold")
    table.add_column("right", ratio=5, overflow="fold")
    table.add_column("Jaccard [95 %]", no_wrap=True)
    table.add_column("expected if\nunrelated", no_wrap=True)
    table.add_column(Text(f"{plural(document.certificate.unit)} [95 %]"), no_wrap=True)
    table.add_column("p at most", no_wrap=True)
    if not all_confirmed(document):
        table.add_column("", no_wrap=True, style="yellow")
    if evaluated:
        table.add_column("true J", no_wrap=True, style="red")
        table.add_column("true p", no_wrap=True, style="red")
    for number, one in enumerate(document.redescriptions, start=1):
        # Text, not str: attribute names may look like markup.
        fields = [
            Text(str(number)),
            Text(one.left.text),
            Text(one.right.text),
            Text(interval_text(one.jaccard, 2)),
            Text(f"{one.expected_jaccard:.2f}"),
            Text(interval_text(one.support.both, 0)),
            Text(p_text(one.p_value)),
        ]
        if not all_confirmed(document):
            fields.append(Text("" if is_confirmed(document, number) else "not confirmed"))
        if evaluated and one.true:
            fields += [Text(f"{one.true.jaccard:.3f}"), Text(p_text(one.true.p_value))]
        table.add_row(*fields)
    return table


def certificate_view(promise: CertificatePart, entities: IntervalPart | None) -> Table:
    """Return the certificate as a table of facts."""
    return promise.listing(entities).rich()


def steps_table(steps: Iterable[StepPart | Step]) -> Table:
    """Return the steps of a plan with their prices, and the sum."""
    return steps_listing(steps).rich()
