"""A database in a file has one name: SQLite names the files beside it after that."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from redveil.base.files import followed
from redveil.errors import InputError

# What is mounted where, on Linux, and what is written in octal digits there.
_MOUNTS: Final = Path("/proc/self/mountinfo")
_SPELLED: Final = re.compile(rb"[ \t\n\\]")


def must_have_one_name(path: Path) -> None:
    """Refuse a ledger that has several names.

    SQLite names the journal of a charge after one of them. Under the others, it would not roll back
    a charge that was cut off, and later roll back more than that.

    >>> must_have_one_name(Path("nowhere.sqlite"))
    """
    if path.exists() and path.stat().st_nlink > 1:
        raise InputError(
            f"{path}: a ledger with several names (hard links); delete all but one, and "
            "keep the one with a -journal file, if there is any"
        )
    if _is_mounted(path):
        raise InputError(
            f"{path}: a ledger that is mounted without its folder, in which charges keep "
            "a journal; mount the folder"
        )


def _is_mounted(path: Path) -> bool:
    """Return whether a file is mounted on its own, which gives it a second name."""
    try:
        mounts = _MOUNTS.read_bytes()
    except OSError:
        # Not every system has such a list.
        return False
    place = _SPELLED.sub(lambda found: b"\\%03o" % found[0][0], os.fsencode(followed(path)))
    # The fifth field of each line is where something is mounted.
    return any(line.split(b" ", 5)[4:5] == [place] for line in mounts.split(b"\n"))
