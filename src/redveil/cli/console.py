"""Terminal output: results on standard output, everything else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def printable(text: str) -> str:
    r"""Replace control characters by spaces: files may contain escape sequences.

    >>> printable("a\x1b[31mb\n")
    'a [31mb\n'
    """
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def write(text: str) -> None:
    """Write to standard output: unchanged to a file or pipe, printable on a terminal.

    >>> write("a,b")
    a,b
    """
    # Flush here, where a closed pipe (`| head`) is handled.
    print(printable(text) if sys.stdout.isatty() else text, flush=True)


def output() -> Console:
    """Return the console for results: standard output, 160 columns if not a terminal."""
    return _careful_console(stderr=False)


def messages() -> Console:
    """Return the console for everything else: standard error."""
    return _careful_console(stderr=True)


def _careful_console(*, stderr: bool) -> Console:
    """Return a console that removes control characters from what it prints."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class CarefulConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    yield Segment(printable(segment.text), segment.style)

    stream = sys.stderr if stderr else sys.stdout
    return CarefulConsole(stderr=stderr, width=None if stream.isatty() else 160, highlight=False)


def say(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    from rich.text import Text

    messages().print(Text(text, style=style), soft_wrap=True)


@contextmanager
def progress(task: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on standard error while a task runs; on a terminal only."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = messages()
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        number = bar.add_task(task, total=1.0)
        yield lambda share: bar.update(number, completed=share)
