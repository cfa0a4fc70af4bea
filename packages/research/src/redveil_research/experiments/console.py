"""Terminal output of the experiments: messages, progress, tables, and one line per error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import redveil

T = TypeVar("T")


def say(text: str, style: str = "") -> None:
    """Print a message to standard error."""
    Console(stderr=True, highlight=False).print(Text(text, style=style), soft_wrap=True)


def tracked(items: Sequence[T], task: str) -> Iterable[T]:
    """Yield the items, with a progress bar if standard error is a terminal.

    >>> list(tracked([1, 2], "counting"))
    [1, 2]
    """
    console = Console(stderr=True)
    return track(items, task, console=console, transient=True, disable=not console.is_terminal)


def show(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> None:
    """Print a table to standard output. The first columns are text, the others numbers."""
    table = Table(box=None, header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number < texts else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)


def parts(given: Iterable[str]) -> list[str]:
    """Return the values of an option that was given several times, or once with commas.

    >>> parts(["1,0.1", "0.01"])
    ['1', '0.1', '0.01']
    """
    return [part.strip() for text in given for part in text.split(",") if part.strip()]


def numbers(given: Iterable[str]) -> list[int]:
    """Return whole numbers out of an option.

    >>> numbers(["300,700"])
    [300, 700]
    """
    texts = parts(given)
    wrong = [text for text in texts if not text.isdecimal() or int(text) < 1]
    if wrong:
        raise redveil.InputError(f"{wrong[0]}: not a positive whole number")
    return [int(text) for text in texts]


def run(command: Callable[..., None]) -> None:
    """Run a command with the arguments of the command line; print an error as one line."""
    try:
        typer.run(command)
    except redveil.RedveilError as error:
        say(f"error: {error}", "red")
        raise SystemExit(2) from None
