"""What a person sees while and after a command runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def output() -> Console:
    """Return the console for results: standard output, wide when it is not a terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 160, highlight=False)


def messages() -> Console:
    """Return the console for everything else: standard error."""
    from rich.console import Console

    return Console(stderr=True, width=None if sys.stderr.isatty() else 160, highlight=False)


def say(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    from rich.text import Text

    messages().print(Text(text, style=style), soft_wrap=True)


@contextmanager
def progress(task: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on standard error while a task runs; on a terminal only."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = messages()
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        number = bar.add_task(task, total=1.0)
        yield lambda share: bar.update(number, completed=share)
