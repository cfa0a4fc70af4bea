"""Where a command writes its result: a file, or standard output if it is `-`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from redveil.base.file_kind import FileKind
from redveil.base.files import must_be_writable, replace_text, set_aside
from redveil.cli.console import abandon, standard_output, write_file
from redveil.errors import InputError, RedveilError, innermost

STANDARD_OUTPUT: Final = Path("-")


def is_standard_output(path: Path) -> bool:
    """Return whether a path stands for standard output, by `-` or by another name for it.

    >>> is_standard_output(Path("-")), is_standard_output(Path("result.json"))
    (True, False)
    """
    if path == STANDARD_OUTPUT:
        return True
    with suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(1))
    return False


def check_output(path: Path, kind: FileKind, inputs: Iterable[Path]) -> None:
    """Refuse an output that could not be written, before anything is read or charged.

    inputs: the files that the command needs, which it must not write over

    >>> check_output(Path("a.csv"), FileKind.RESULT, [Path("./a.csv")])
    Traceback (most recent call last):
    redveil.errors.InputError: a.csv: this command needs that file itself; name another output file
    """
    needed = list(inputs)
    with suppress(OSError):
        printed = os.fstat(1)
        if stat.S_ISREG(printed.st_mode) and any(_is_file(one, printed) for one in needed):
            raise InputError(
                "standard output goes to a file that this command needs itself; send it elsewhere"
            )
    if path == STANDARD_OUTPUT:
        with standard_output():
            return
    must_be_writable(path, kind, needed)


def _is_file(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), status)
    except (OSError, ValueError):
        return False


def save(text: str, path: Path, kind: FileKind) -> Path | None:
    """Write an output; return where the file that it replaced is kept, None if there was none."""
    if is_standard_output(path):
        write_file(text.removesuffix("\n"))
        return None
    return replace_text(path, text, kind)


def save_paid(text: str, path: Path, kind: FileKind) -> Path | None:
    """Write an output that has been paid for: if it cannot be written there, put it elsewhere.

    The error that is raised then says where.
    """
    try:
        return save(text, path, kind)
    except RedveilError as error:
        problem = str(error)
    except BrokenPipeError:
        abandon(1)
        problem = f"{path}: its reader is gone"
    except KeyboardInterrupt:
        # Tired of waiting for somebody to read from a pipe.
        problem = f"{path}: stopped while it was being written"
    except Exception as error:
        problem = f"{path}: not written (internal error: {innermost(error)}; please report it)"
    raise InputError(f"{problem} (it was paid for, so it is in {rescued(text)})")


def rescued(text: str) -> str:
    """Put a text where only its owner can read it, or else on standard output; say where."""
    path = set_aside(text)
    if path is not None:
        return str(path)
    # In JSON, half a character that UTF-8 cannot encode can be spelled, as "\\ud83d".
    write_file(text.encode("utf-8", "backslashreplace").decode().removesuffix("\n"))
    return "standard output"
