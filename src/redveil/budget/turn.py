"""Taking turns with a database in a file, by a lock that SQLite's own cannot lose."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from redveil.base.files import followed

_PAUSE_SECONDS: Final = 0.002


@contextmanager
def turn(path: Path, seconds: float, *, shared: bool = False) -> Iterator[None]:
    """Let nobody else use a database while the block does, where the system can.

    On POSIX systems, SQLite loses the locks on a file as soon as anything in its process closes
    that file: a thread that copies it, for instance. Then two processes could both spend the rest
    of a budget. This lock is on the folder, and nothing but its own end releases it. Windows does
    not need it.

    seconds: for how long to wait for others
    shared:  whether others may read meanwhile

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, turn(Path(folder) / "a.sqlite", 1):
    ...     with turn(Path(folder) / "a.sqlite", 0.01):
    ...         pass
    Traceback (most recent call last):
    sqlite3.OperationalError: another process has its turn
    """
    with ExitStack() as stack:
        # Not every system and file system can lock a folder.
        with suppress(ImportError, OSError):
            from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, LOCK_UN, flock

            handle = os.open(followed(path).parent, os.O_RDONLY)
            stack.callback(os.close, handle)
            end = time.monotonic() + seconds
            while True:
                try:
                    flock(handle, (LOCK_SH if shared else LOCK_EX) | LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise _busy() from None
                    time.sleep(_PAUSE_SECONDS)
            # Not only closed: a process that was forked meanwhile has the folder open, too.
            stack.callback(flock, handle, LOCK_UN)
        yield


def _busy() -> sqlite3.OperationalError:
    """Return the error that SQLite itself raises if others have locked a file."""
    error = sqlite3.OperationalError("another process has its turn")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error
