r"""Text for terminals and pipes that cannot show every character, such as ASCII or cp1252.

A character that the stream cannot encode is spelled out (ε as epsilon), reduced to its letter (é as
e), or written as its number (字 as \u5b57), so that names stay distinct. Files are always UTF-8.
"""

from __future__ import annotations

import codecs
import unicodedata
from copy import copy
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

HANDLER: Final = "redveil-spelled-out"
SPELLED: Final = {
    **{"ε": "epsilon", "δ": "delta", "ρ": "rho", "σ": "sigma", "α": "alpha"},
    **{"≤": "<=", "≥": ">=", "≠": "!=", "∈": "in", "∉": "not in", "∞": "infinity"},
    **{"∧": "&", "∨": "|", "¬": "!", "→": "->", "×": "x", "·": "*", "±": "+/-", "√": "sqrt "},
    **{"–": "-", "—": "-", "−": "-", "…": "...", "•": "*", "\u00a0": " "},
    **{"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"},
}


def spelled(text: str, encoding: str) -> str:
    r"""Return a text with every character spelled out that an encoding lacks.

    >>> spelled("ε ≤ 1 ± 0.5", "ascii"), spelled("ε ≤ 1 ± 0.5", "cp1252")
    ('epsilon <= 1 +/- 0.5', 'epsilon <= 1 ± 0.5')
    >>> spelled("é, 字", "ascii")
    'e, \\u5b57'
    """
    return text.encode(encoding, HANDLER).decode(encoding)


def adapt(stream: Any) -> None:
    """Make a stream spell out what it cannot encode, instead of failing.

    >>> from io import BytesIO, TextIOWrapper
    >>> stream = TextIOWrapper(BytesIO(), encoding="ascii")
    >>> adapt(stream)
    >>> stream.write("ε = 1") and stream.flush()
    >>> stream.buffer.getvalue()
    b'epsilon = 1'
    """
    # A stream can be missing (None) or replaced by something else.
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=HANDLER)


def spelled_view(view: RenderableType, encoding: str) -> RenderableType:
    """Return what rich is to lay out with its characters spelled out, so that columns stay aligned.

    >>> spelled_view("ε", "ascii")
    'epsilon'
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    match view:
        case str():
            return spelled(view, encoding)
        case Text():
            return _spelled_text(view, encoding)
        case Group(renderables=parts):
            return Group(*(spelled_view(part, encoding) for part in parts))
        case Padding(renderable=inner):
            new = copy(view)
            new.renderable = spelled_view(inner, encoding)
            return new
        case Table():
            return _spelled_table(view, encoding)
    return view


def _spelled_table(table: Table, encoding: str) -> Table:
    """Return a table spelled out: its rows are added again to a copy without rows."""
    new = copy(table)
    new.columns, new.rows = [column.copy() for column in table.columns], []
    for column in new.columns:
        column.header = spelled_view(column.header, encoding)
        column.footer = spelled_view(column.footer, encoding)
    cells = [list(column.cells) for column in table.columns]
    for number, row in enumerate(table.rows):
        new.add_row(
            *(spelled_view(column[number], encoding) for column in cells),
            style=row.style,
            end_section=row.end_section,
        )
    return new


def _spelled_text(text: Text, encoding: str) -> Text:
    """Return a text spelled out, with its styles where they were."""
    from rich.text import Span

    pieces = [spelled(character, encoding) for character in text.plain]
    place = [0, *accumulate(map(len, pieces))]
    new = text.blank_copy("".join(pieces))
    new.spans = [
        Span(place[min(one.start, len(text))], place[min(one.end, len(text))], one.style)
        for one in text.spans
    ]
    return new


def _replacement(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(map(_spelling, lacking)), error.end


def _spelling(character: str) -> str:
    if character in SPELLED:
        return SPELLED[character]
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii")
    return letters or character.encode("ascii", "backslashreplace").decode("ascii")


codecs.register_error(HANDLER, _replacement)
