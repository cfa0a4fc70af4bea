"""Writing files atomically: a crash or Ctrl-C leaves the old file or the new one, never a part."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from redveil.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8 to a temporary file in the same folder, then move it into place.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "a.txt", "ε")
    ...     (Path(folder) / "a.txt").read_text(encoding="utf-8")
    'ε'
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes to a temporary file, flush them to disk, then move it into place.

    >>> write_bytes(Path("nowhere/a.txt"), b"x")
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere/a.txt: cannot be written; check that its folder exists
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError:
        raise InputError(f"{path}: cannot be written; check that its folder exists") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes the file readable by its owner only; a result gets the usual permissions.
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            # For example, the disk is full or the path is a folder.
            raise InputError(f"{path}: cannot be written; check the disk and the path") from None
        raise


def keep_earlier(path: Path) -> Path | None:
    """Rename a file that is about to be replaced, and return its new path, None if there is none.

    It may have been paid for, or edited by hand.

    >>> keep_earlier(Path("nothing-here.json")) is None
    True
    """
    if not path.is_file():
        return None
    number = 1
    while (kept := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    path.rename(kept)
    return kept


def must_be_writable(path: Path) -> None:
    """Refuse an output path that could not be written once the budget is spent.

    >>> must_be_writable(Path("result.json"))
    """
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot be written; check that its folder exists and is writable")


def _umask() -> int:
    """Return the umask of the process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
