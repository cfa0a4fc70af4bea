"""How objects are shown: as HTML in notebooks, as text everywhere else.

Names and labels come from other people's files. Everything is made harmless here: markup in HTML,
control characters in both. HTML has no colours of its own, so that it suits any theme.
"""

from __future__ import annotations

import io
import shutil
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final, TypeAlias
from unicodedata import category

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

# For text that goes to no terminal.
_USUAL_WIDTH: Final = 120
# Of long lists, as many are shown as in a data frame.
MOST_ROWS: Final = 60
# Browsers' own captions are grey in some notebooks, and below the table.
_CAPTION: Final = "caption-side:top;text-align:left;color:inherit"


class Code(str):
    """Text that is set in a fixed-width font, such as a query."""

    __slots__ = ()


class Note(str):
    """Text that must not be overlooked."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A table: rows under heads or, without heads, facts that begin with their names.

    caption:  a title above the table
    footer:   a last row, such as a sum
    right:    positions of the columns whose cells are aligned to the right
    unbroken: positions of the columns whose cells stay on one line

    >>> prices = Listing(("step", "ε"), [("size", "1/100"), ("tree", "99/100")], right=(1,))
    >>> print(text(prices))
     step       ε
     size   1/100
     tree  99/100
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    footer: Sequence[str] = ()
    right: Collection[int] = ()
    unbroken: Collection[int] = ()

    def rich(self) -> Table:
        """Return the table for a terminal."""
        from rich.table import Table

        table = Table(
            box=None,
            header_style="bold",
            show_header=bool(self.heads),
            show_footer=bool(self.footer),
            title=rich_text(self.caption) if self.caption else None,
            title_justify="left",
        )
        for position in range(len(self.heads) or 2):
            is_name = not self.heads and position == 0
            table.add_column(
                rich_text(self.heads[position]) if self.heads else "",
                rich_text(self.footer[position]) if self.footer else "",
                justify="right" if position in self.right else "left",
                style="bold" if is_name else None,
                no_wrap=is_name or position in self.unbroken,
                overflow="fold",
            )
        for row in self.rows:
            table.add_row(*map(rich_text, row))
        return table

    def html(self) -> str:
        """Return the table for a notebook."""
        parts = []
        if self.caption:
            parts.append(f"<caption style='{_CAPTION}'>{_inline(self.caption)}</caption>")
        if self.heads:
            parts.append(f"<thead>{self._row(self.heads, 'th scope=col')}</thead>")
        body = map(self._row, self.rows) if self.heads else self._facts()
        parts.append(f"<tbody>{''.join(body)}</tbody>")
        if self.footer:
            parts.append(f"<tfoot>{self._row(self.footer)}</tfoot>")
        return f"<table>{''.join(parts)}</table>"

    def _row(self, cells: Sequence[str], tag: str = "td") -> str:
        written = (self._cell(number, _inline(cell), tag) for number, cell in enumerate(cells))
        return f"<tr>{''.join(written)}</tr>"

    def _facts(self) -> Iterator[str]:
        """Yield rows that begin with their names. One without a name continues the one before."""
        named: list[tuple[str, list[str]]] = []
        for name, fact in self.rows:
            if name:
                named.append((name, []))
            named[-1][1].append(_inline(fact))
        for name, facts in named:
            head = self._cell(0, _inline(name), "th scope=row")
            yield f"<tr>{head}{self._cell(1, '<br>'.join(facts))}</tr>"

    def _cell(self, number: int, inside: str, tag: str = "td") -> str:
        side = "right" if number in self.right else "left"
        unbroken = ";white-space:nowrap" if tag == "td" and number in self.unbroken else ""
        style = f"text-align:{side};vertical-align:top{unbroken}"
        return f"<{tag} style='{style}'>{inside}</{tag.partition(' ')[0]}>"


@dataclass(frozen=True, slots=True)
class Folded:
    """A table that a notebook shows when its summary is clicked."""

    summary: str
    inside: Listing


Block: TypeAlias = str | Listing | Folded


class Displayed:
    """What `print` shows as text, and a notebook as HTML."""

    __slots__ = ()

    @abstractmethod
    def _shown(self) -> Iterable[Block]:
        """Return what is shown: paragraphs and tables."""

    def __str__(self) -> str:
        return text(*self._shown())

    def _repr_html_(self) -> str:
        return html(*self._shown())


def html(*blocks: Block) -> str:
    """Return paragraphs and tables as a fragment of a page.

    >>> html(Note("NOT PRIVATE"), "<b>")
    "<div class='redveil'><p><strong>NOT PRIVATE</strong></p><p>&lt;b&gt;</p></div>"
    """
    return f"<div class='redveil'>{''.join(map(_block, blocks))}</div>"


def text(*blocks: Block) -> str:
    r"""Return paragraphs and tables as text, as wide as the terminal.

    >>> text("a\x1b[31m", Listing((), [("unit", "patient")]))
    'a [31m\n unit  patient'
    """
    return rendered(_rich_blocks(blocks))


def rendered(blocks: Iterable[RenderableType]) -> str:
    r"""Return what `rich` would print, as text without colours.

    >>> rendered(["one", "two"])
    'one\ntwo'
    """
    from rich.console import Console

    console = Console(file=io.StringIO(), width=text_width(), color_system=None, highlight=False)
    for block in blocks:
        console.print(block, markup=False)
    assert isinstance(console.file, io.StringIO)
    lines = _printable(console.file.getvalue()).split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def text_width() -> int:
    """Return how many columns text may have: the terminal's, or a usual number.

    >>> text_width() > 0
    True
    """
    return shutil.get_terminal_size((_USUAL_WIDTH, 24)).columns


def shortened(items: Sequence[str], most: int = 6) -> str:
    """Return a list as short text: the first items, the last one, and how many there are.

    >>> shortened(["a", "b"]), shortened([str(i) for i in range(40)])
    ('a, b', '0, 1, 2, 3, …, 39 (40)')
    """
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[: most - 2])}, …, {items[-1]} ({len(items):,})"


def _rich_blocks(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    for position, block in enumerate(blocks):
        match block:
            case Listing():
                if block.caption and position:
                    yield ""
                yield block.rich()
            case Folded(summary, inside):
                yield rich_text(summary)
                yield inside.rich()
            case _:
                yield rich_text(block)


def rich_text(given: str) -> Text:
    """Return text that is not read as markup."""
    from rich.text import Text

    return Text(_printable(given), style="bold yellow" if isinstance(given, Note) else "")


def _block(block: Block) -> str:
    match block:
        case Listing():
            return block.html()
        case Folded(summary, inside):
            return f"<details><summary>{_inline(summary)}</summary>{inside.html()}</details>"
        case _:
            return f"<p>{_inline(block)}</p>"


def _inline(given: str) -> str:
    safe = escape(_without_control(given))
    match given:
        case Code():
            return f"<code>{safe}</code>"
        case Note():
            return f"<strong>{safe}</strong>"
    return safe


def _without_control(given: str) -> str:
    """Replace control characters: a page may be looked at on a terminal, too."""
    return "".join(" " if category(c) == "Cc" and c not in "\n\t" else c for c in given)


def _printable(given: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else " " for c in given)
