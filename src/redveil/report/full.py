"""Everything that is known of each redescription, as one wide table: as text or HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from redveil.base.display import Block, Code, Folded, Listing, Note, html, rich_text
from redveil.findings.wording import interval_text, p_text
from redveil.report.document import RedescriptionPart, ResultDocument
from redveil.report.text import certificate_view, steps_table
from redveil.report.wording import confirmation_text, listing_text
from redveil.schema.view import plural

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

# Queries are not folded more narrowly than this.
QUERY_WIDTH: Final = 24
_UNIT: Final = "{unit}"
_HEADS: Final = (
    *("#", "left", "right", "Jaccard [95 %]", "expected if unrelated", "corrected [95 %]"),
    *(f"{_UNIT} in both [95 %]", "left [95 %]", "right [95 %]", "p at most"),
    *("confirmed", "leaf table", "detail of"),
)


def full_listing(document: ResultDocument) -> Listing:
    """Return the redescriptions with all supports, and where each was read off."""
    unit = plural(document.certificate.unit)
    heads = [head.replace(_UNIT, unit) for head in _HEADS]
    rows = [
        [str(number), Code(one.left.text), Code(one.right.text), *_facts(one)]
        for number, one in enumerate(document.redescriptions, start=1)
    ]
    # A browser would break 1e-30 after its hyphen.
    return Listing(heads, rows, right=(0, 11, 12), unbroken=(9,))


def full_table(document: ResultDocument) -> Table:
    """Return the table for a terminal; where it is narrow, queries are folded."""
    table = full_listing(document).rich()
    for column in table.columns[1:3]:
        column.min_width = QUERY_WIDTH
    return table


def below_view(document: ResultDocument, *, steps: bool = False) -> list[Table | Text]:
    """Return what stands below the table on a terminal."""
    below: list[Table | Text] = [rich_text(note) for note in _notes(document)]
    below.append(certificate_view(document.certificate, document.entities))
    if steps:
        below.append(steps_table(document.certificate.steps))
    return below


def full_fragment(document: ResultDocument) -> str:
    """Return the table as a fragment of a page, and the certificate folded up below it."""
    promise = document.certificate
    blocks: list[Block] = [Note(note) for note in (document.warning, *promise.unmet) if note]
    blocks += [full_listing(document), *_notes(document)]
    facts = replace(promise.listing(document.entities), caption="")
    blocks.append(Folded(f"Privacy certificate: {promise.promise}, {promise.guarantee}", facts))
    return html(*blocks)


def _notes(document: ResultDocument) -> Iterable[str]:
    notes = (
        Note(document.message) if document.message else None,
        confirmation_text(document),
        listing_text(document),
    )
    return [note for note in notes if note]


def _facts(one: RedescriptionPart) -> list[str]:
    support = one.support
    return [
        interval_text(one.jaccard, 2),
        f"{one.expected_jaccard:.2f}",
        interval_text(one.corrected, 2),
        *(interval_text(part, 0) for part in (support.both, support.left, support.right)),
        p_text(one.p_value),
        {True: "yes", False: "not confirmed", None: ""}[one.confirmed],
        str(one.source.tree_pair + 1),
        str(one.detail or ""),
    ]
