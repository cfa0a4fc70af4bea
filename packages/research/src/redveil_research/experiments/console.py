"""What the experiments share: tables, progress, options, and one line per error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import typer
from rich.console import Console
from rich.progress import track

import redveil
from redveil.seam.commands import say

T = TypeVar("T")
# What stands in a table where there is no number.
NONE: Final = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text. The first `texts` columns are words, the others numbers.

    >>> Table(("a", "b"), [("x", "1")]).markdown().splitlines()[1]
    '| --- | ---: |'
    """

    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    texts: int = 1

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rules = ["---" if i < self.texts else "---:" for i in range(len(self.heads))]
        lines = [self.heads, rules, *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tracked(items: Sequence[T], task: str) -> Iterable[T]:
    """Yield the items, with a progress bar if standard error is a terminal.

    >>> list(tracked([1, 2], "counting"))
    [1, 2]
    """
    console = Console(stderr=True)
    return track(items, task, console=console, transient=True, disable=not console.is_terminal)


def write_page(path: Path | None, text: str) -> None:
    """Write what was asked for, if a file was named."""
    if path is not None:
        path.write_text(text, encoding="utf-8")
        say(f"written to {path}")


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
