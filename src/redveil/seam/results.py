"""Parts of result files, how they are shown and in which colours, and files of our own kinds."""

from __future__ import annotations

from redveil.base.display import Block, Code, Displayed, Listing, Note
from redveil.base.file_kind import FIGURE_MARK, NAMES_HEADER, FileKind, kind_of
from redveil.base.files import is_there, is_written_to, replace_bytes, replace_text, write_text
from redveil.base.version import software
from redveil.findings.cell_intervals import cell_intervals
from redveil.findings.detection import SHARES, Detection
from redveil.findings.wording import interval_text, p_text
from redveil.losses.promise import Parameter
from redveil.query.coverage import ReleasedTree
from redveil.query.leaves import node_query
from redveil.report.document import (
    AttributePart,
    CertificatePart,
    Part,
    QueryPart,
    RedescriptionPart,
    ResultDocument,
    TruePart,
    must_be_listed,
)
from redveil.report.full import full_listing
from redveil.report.palette import (
    BOTH,
    BY_SIDE,
    FAINT,
    INK,
    LINE,
    MUTED,
    PAPER,
    lightness,
    mixed,
)
from redveil.report.released import released_tables
from redveil.report.wording import all_confirmed, has_details
from redveil.schema.view import plural

__all__ = [
    "BOTH",
    "BY_SIDE",
    "FAINT",
    "FIGURE_MARK",
    "INK",
    "LINE",
    "MUTED",
    "NAMES_HEADER",
    "PAPER",
    "SHARES",
    "AttributePart",
    "Block",
    "CertificatePart",
    "Code",
    "Detection",
    "Displayed",
    "FileKind",
    "Listing",
    "Note",
    "Parameter",
    "Part",
    "QueryPart",
    "RedescriptionPart",
    "ReleasedTree",
    "ResultDocument",
    "TruePart",
    "all_confirmed",
    "cell_intervals",
    "full_listing",
    "has_details",
    "interval_text",
    "is_there",
    "is_written_to",
    "kind_of",
    "lightness",
    "mixed",
    "must_be_listed",
    "node_query",
    "p_text",
    "plural",
    "released_tables",
    "replace_bytes",
    "replace_text",
    "software",
    "write_text",
]
