"""The help of commands: options by panel, readable on narrow terminals and in any encoding."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand, TyperGroup

from redveil.cli.encoding import spelled

#: The panels of options that a newcomer can do without; they come last.
STEERING: Final = "Steering, free of charge"
EXPERT: Final = "Expert options"
_USUAL: Final = "Options"
WIDEST: Final = 120
# Below this width, what an option does goes on a line of its own.
_NARROW: Final = 70

if TYPE_CHECKING:
    _Base = TyperCommand
else:
    _Base = object


class _Readable(_Base):
    """Help by panel, as wide as the terminal; Typer itself has panels in its rich help only."""

    def get_help(self, ctx: Any) -> str:
        """Return the help, in characters that standard output has."""
        formatter = ctx.make_formatter()
        # The usual formatter takes every terminal for one of at least 50 columns.
        columns = ctx.terminal_width or shutil.get_terminal_size().columns
        formatter.width = max(min(columns, WIDEST) - 2, 30)
        self.format_help(ctx, formatter)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        return spelled(formatter.getvalue().rstrip("\n"), encoding)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section a panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if param.param_type_name == "argument" else _USUAL
                panel = getattr(param, "rich_help_panel", None) or usual
                sections.setdefault(panel, []).append(record)
        for last in (_USUAL, STEERING, EXPERT):
            sections[last] = sections.pop(last, [])
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records, col_max=2 if formatter.width < _NARROW else 30)


class ReadableCommand(_Readable, TyperCommand):
    """A command with a readable help."""


class ReadableGroup(_Readable, TyperGroup):
    """A group of commands with a readable help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
