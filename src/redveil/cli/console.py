"""Terminal output: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.base.files import encoded
from redveil.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


def program_name() -> str:
    """Return what the program was called as: redveil, or python -m redveil."""
    called = Path(sys.argv[0])
    return "python -m redveil" if called.name == "__main__.py" else called.stem


def printable(text: str) -> str:
    r"""Replace control characters by spaces: files may contain escape sequences.

    >>> printable("a\x1b[31mb\n")
    'a [31mb\n'
    """
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def write(text: str) -> None:
    """Write a line to standard output: unchanged to a file or pipe, printable on a terminal.

    >>> write("ε")
    ε
    """
    with standard_output() as stream:
        print(printable(text) if stream.isatty() else text, file=stream)


def write_file(text: str) -> None:
    """Write the text of a file to standard output: as UTF-8, except on a terminal.

    >>> write_file("a,b")
    a,b
    """
    with standard_output() as stream:
        # A doctest's standard output has no bytes beneath.
        if stream.isatty() or not hasattr(stream, "buffer"):
            print(printable(text), file=stream)
            return
        stream.flush()
        stream.buffer.write(encoded(f"{text}\n", "standard output"))


def write_json(content: object, indent: int | None = 1) -> None:
    """Write JSON to standard output, in characters that every reader of it can decode.

    >>> write_json({"ε": 1}, indent=None)
    {"ε": 1}
    """
    with standard_output() as stream:
        write(json.dumps(content, indent=indent, ensure_ascii=not is_utf8(stream)))


def is_utf8(stream: Any) -> bool:
    """Return whether a stream encodes as UTF-8; one without an encoding holds any text.

    >>> from io import StringIO
    >>> is_utf8(StringIO())
    True
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return str(encoding).lower().replace("_", "-").startswith("utf")


@contextmanager
def standard_output() -> Iterator[Any]:
    """Lend standard output, and flush it; say in one line if it cannot be written.

    >>> with standard_output() as stream:
    ...     stream.write("ε") and None
    ε
    """
    if sys.stdout is None or sys.stdout.closed:
        raise InputError("standard output is closed; leave it open, or write to a file")
    try:
        yield sys.stdout
        # Flush here, where a closed pipe (`| head`) is handled.
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:
        abandon(1)
        raise InputError("standard output cannot be written; check the disk it goes to") from None


def abandon(descriptor: int) -> None:
    """Drop what standard output (1) or error (2) could not write.

    Otherwise Python would try again, and fail, when it exits.
    """
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def output() -> Console:
    """Return the console for results: standard output, 160 columns wide if it is no terminal."""
    return _careful_console(stderr=False)


def messages() -> Console:
    """Return the console for everything else: standard error."""
    return _careful_console(stderr=True)


def _careful_console(*, stderr: bool) -> Console:
    """Return a console that prints no control characters, and none that its stream lacks."""
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment

    from redveil.cli.encoding import spelled_view

    class CarefulConsole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            if not is_utf8(self.file):
                objects = tuple(spelled_view(one, self.encoding) for one in objects)
            super().print(*objects, **options)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    yield Segment(printable(segment.text), segment.style)

    stream = sys.stderr if stderr else sys.stdout
    on_terminal = stream is not None and stream.isatty()
    # rich asks a terminal for its width. Elsewhere, COLUMNS counts if it is set.
    width = None if on_terminal else shutil.get_terminal_size((160, 24)).columns
    return CarefulConsole(stderr=stderr, width=width, highlight=False)


def display(view: RenderableType) -> None:
    """Print a table or a text of rich's to standard output.

    >>> display("ε")
    ε
    """
    with standard_output():
        output().print(view)


def display_table(table: Table) -> None:
    """Print a table as wide as it is, else as narrow as it can be, else row by row."""
    from rich.measure import Measurement

    from redveil.report.text import stacked

    console = output()

    def fits() -> bool:
        unlimited = console.options.update(width=10_000)
        return Measurement.get(console, unlimited, table).maximum <= console.width

    if not fits():
        for column in table.columns:
            column.width = column.min_width
    display(table if fits() else stacked(table))


def note(text: str) -> None:
    """Print a remark to standard output, in lines that fit the terminal.

    >>> note("No data was used.")
    No data was used.
    """
    from rich.text import Text

    display(Text(text))


def say(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    from rich.text import Text

    with _as_far_as_possible():
        messages().print(Text(text, style=style), soft_wrap=True)


def can_be_asked() -> bool:
    """Return whether somebody sits at a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def agrees(question: str) -> bool:
    """Return whether somebody at the terminal says yes; standard output is left to the answer."""
    say(f"{question} [y/N]", "bold")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def _as_far_as_possible() -> Iterator[None]:
    """Write to standard error, or give up on it.

    A message that cannot be shown must not end a run that has been paid for.
    """
    try:
        yield
    except OSError:
        abandon(2)


@contextmanager
def progress(task: str) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on standard error while a task runs; on a terminal only.

    If the terminal goes away, the task goes on.
    """
    console = messages()
    if not console.is_terminal:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True)
    number = bar.add_task(task, total=1.0)
    is_shown = False
    with _as_far_as_possible():
        bar.start()
        is_shown = True

    def show(share: float) -> None:
        with _as_far_as_possible():
            bar.update(number, completed=share)

    try:
        yield show
    finally:
        with _as_far_as_possible():
            # A bar that could not be started cannot be stopped either.
            if is_shown:
                bar.stop()
