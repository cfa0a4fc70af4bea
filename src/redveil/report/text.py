"""A result for the terminal: the table, and the certificate under it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from redveil.base.display import rich_text
from redveil.findings.wording import interval_text, p_text
from redveil.losses.plan import steps_listing
from redveil.report.document import (
    CertificatePart,
    IntervalPart,
    RedescriptionPart,
    ResultDocument,
    StepPart,
)
from redveil.report.wording import (
    all_confirmed,
    confirmation_text,
    detail_text,
    is_confirmed,
    listing_text,
    marked,
)
from redveil.schema.view import plural

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    from redveil.losses.plan import Step


# Below this many columns a table leaves no room for queries.
NARROW_WIDTH = 120
# Longer labels take several lines.
LABEL_WIDTH = 17


def result_view(
    document: ResultDocument, *, steps: bool = False, width: int | None = None
) -> Group:
    """Return everything there is to see of a result, for a terminal of some width."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    narrow = width is not None and width < NARROW_WIDTH
    if document.warning:
        parts.append(Text(document.warning, style="bold red"))
    if document.redescriptions:
        listed = redescription_list if narrow else redescription_table
        parts.append(listed(document))
    if (details := detail_text(document)) is not None:
        parts.append(Text(details))
    if document.message:
        parts.append(Text(document.message, style="yellow"))
    if (confirmed := confirmation_text(document)) is not None:
        parts.append(Text(confirmed))
    if (how := listing_text(document)) is not None:
        parts.append(Text(how))
    parts.append(certificate_view(document.certificate, document.entities, narrow=narrow))
    if steps:
        parts.append(steps_table(document.certificate.steps))
    return Group(*parts)


def redescription_list(document: ResultDocument) -> Table:
    """Return the redescriptions one below the other, with labels, for narrow terminals."""
    from rich.table import Table
    from rich.text import Text

    listed = Table.grid(padding=(0, 2, 0, 0))
    listed.add_column(justify="right", style="bold", no_wrap=True)
    listed.add_column(style="bold", no_wrap=True)
    listed.add_column(overflow="fold")
    for number, one in enumerate(document.redescriptions, start=1):
        expected = f"(expected if unrelated {one.expected_jaccard:.2f})"
        facts = [
            ("Jaccard", Text(f"{interval_text(one.jaccard, 2)} {expected}")),
            ("corrected", Text(interval_text(one.corrected, 2))),
            (plural(document.certificate.unit), Text(interval_text(one.support.both, 0))),
            ("p at most", Text(p_text(one.p_value))),
        ]
        if one.before:
            facts.append(("before", Text(interval_text(one.before.jaccard, 2))))
            facts.append(("difference", Text(interval_text(one.before.difference, 2))))
        if not is_confirmed(document, number):
            facts.append(("", Text("not confirmed", "yellow")))
        if one.true:
            true = f"J {one.true.jaccard:.3f}, p {p_text(one.true.p_value)}"
            facts.append(("true", Text(true, "red")))
        facts += [("left", Text(f"{marked(one)}{one.left.text}")), ("right", Text(one.right.text))]
        for place, (label, fact) in enumerate(facts):
            # Text, not str: the unit may look like markup.
            listed.add_row("" if place else str(number), Text(label), fact)
    return listed


def redescription_table(document: ResultDocument) -> Table:
    """Return the redescriptions as a table, best first.

    The index expected if unrelated is not in it: the corrected index says the same, and queries
    need the room.
    """
    from rich.table import Table
    from rich.text import Text

    evaluated = any(one.true for one in document.redescriptions)
    repeated = any(one.before for one in document.redescriptions)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right")
    table.add_column("left", ratio=5, overflow="fold")
    table.add_column("right", ratio=5, overflow="fold")
    table.add_column("Jaccard [95 %]", no_wrap=True)
    if repeated:
        table.add_column("before", no_wrap=True)
        table.add_column("difference [95 %]", no_wrap=True)
    table.add_column("corrected [95 %]", no_wrap=True)
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
            Text(f"{marked(one)}{one.left.text}"),
            Text(one.right.text),
            Text(interval_text(one.jaccard, 2)),
            *(_before(one) if repeated else ()),
            Text(interval_text(one.corrected, 2)),
            Text(interval_text(one.support.both, 0)),
            Text(p_text(one.p_value)),
        ]
        if not all_confirmed(document):
            fields.append(Text("" if is_confirmed(document, number) else "not confirmed"))
        if evaluated and one.true:
            fields += [Text(f"{one.true.jaccard:.3f}"), Text(p_text(one.true.p_value))]
        table.add_row(*fields)
    return table


def _before(one: RedescriptionPart) -> tuple[Text, Text]:
    """Return the old Jaccard index and the difference, if there is an old one."""
    from rich.text import Text

    if one.before is None:
        return Text(""), Text("")
    old, change = one.before.jaccard, one.before.difference
    return Text(f"{old.estimate:.2f}"), Text(interval_text(change, 2))


def certificate_view(
    promise: CertificatePart, entities: IntervalPart | None, *, narrow: bool = False
) -> Table:
    """Return the certificate as a table of facts.

    narrow: whether conditions take several lines each, and need to be told apart
    """
    listing = promise.listing(entities)
    if not narrow:
        return listing.rich()
    first = len(listing.rows) - len(promise.conditions)
    table = replace(listing, rows=listing.rows[:first]).rich()
    for name, condition in listing.rows[first:]:
        table.add_row(name, itemised([rich_text(condition)]))
    return table


def itemised(items: Iterable[Text]) -> Table:
    """Return texts one below the other, each with a dash and indented as a whole."""
    from rich.table import Table

    listed = Table.grid(padding=(0, 1, 0, 0))
    listed.add_column(no_wrap=True)
    listed.add_column(overflow="fold")
    for item in items:
        listed.add_row("-", item)
    return listed


def stacked(table: Table) -> Group:
    """Return the rows of a table one below the other, labelled by its heads, for narrow terminals.

    The first column is the title of each row.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table as Rows
    from rich.text import Text

    labels = [" ".join(str(column.header).split()) for column in table.columns]
    # A table's caption stands above it, and so it does here.
    parts: list[RenderableType] = [Text(str(table.title), "bold")] if table.title else []
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        title, *facts = (cell if isinstance(cell, Text) else Text(str(cell)) for cell in cells)
        rows = Rows.grid(padding=(0, 2, 0, 0))
        rows.add_column(max_width=LABEL_WIDTH)
        rows.add_column(overflow="fold")
        for label, fact in zip(labels[1:], facts, strict=True):
            rows.add_row(Text(label), fact)
        parts += [Text.assemble((f"{labels[0]} ", "bold"), title), Padding(rows, (0, 0, 0, 3))]
    return Group(*parts)


def steps_table(steps: Iterable[StepPart | Step]) -> Table:
    """Return the steps of a plan with their prices, and the sum."""
    return steps_listing(steps).rich()
