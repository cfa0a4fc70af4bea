"""A folder for what can be computed again: compiled kernels and simulated noise.

Nothing in it is private, and nothing in it is needed: without a folder, or on a full disk, every
run computes anew. What is kept there is executed or believed, so a folder that somebody else could
have written to is not used.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

# Names a folder; empty, nothing is kept.
VARIABLE: Final = "REDVEIL_CACHE_DIR"
# Entries of other versions and other computers are removed when they are this old.
KEPT_SECONDS: Final = 90 * 24 * 3600
# How often they are looked for, and an empty file that tells when they last were.
LOOKING_SECONDS: Final = 24 * 3600
LOOKED: Final = ".looked-for-old-entries"
_DIGEST_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries of one kind, each a file with a name of its own.

    folder: where they are kept; None if there is no place that is ours alone
    """

    folder: Path | None

    def find(self, name: str) -> bytes | None:
        """Return an entry; None if it is not there or not whole."""
        if self.folder is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        digest, entry = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return entry if hashlib.sha256(entry).digest() == digest else None

    def keep(self, name: str, entry: bytes) -> None:
        """Keep an entry, atomically; a full disk is no reason to stop."""
        if self.folder is None:
            return
        with suppress(OSError):
            _remove_old(self.folder)
            # Only its owner may read and write a temporary file.
            number, temporary = tempfile.mkstemp(dir=self.folder)
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(hashlib.sha256(entry).digest() + entry)
                Path(temporary).replace(self.folder / name)
            except BaseException:
                Path(temporary).unlink()
                raise


# Once a process, and once a day: there can be thousands to look at.
@cache
def _remove_old(folder: Path) -> None:
    now, looked = time.time(), folder / LOOKED
    with suppress(FileNotFoundError):
        if looked.stat().st_mtime > now - LOOKING_SECONDS:
            return
    looked.touch(mode=0o600)
    for entry in os.scandir(folder):
        if entry.stat().st_mtime < now - KEPT_SECONDS:
            Path(entry).unlink()


@cache
def cache_of(kind: str) -> Cache:
    """Return the cache for entries of one kind, such as "kernels"."""
    folder = _folder()
    if folder is None:
        return Cache(None)
    try:
        (folder / kind).mkdir(mode=0o700, parents=True, exist_ok=True)
        usable = is_safe(folder / kind, Path(__file__)) and os.access(folder / kind, os.W_OK)
    except OSError:
        usable = False
    return Cache(folder / kind if usable else None)


def _folder() -> Path | None:
    """Return the folder for this user; None without a home, or if the user wants none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named).absolute() if named else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    # Without a home, some systems name one that does not exist; it is not ours to make.
    if not home.is_absolute() or not home.is_dir():
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "redveil"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "redveil"
    # The standard has relative paths ignored.
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named.startswith("/") else home / ".cache") / "redveil"


def is_safe(folder: Path, source: Path) -> bool:
    """Return whether nobody else can put anything into a folder.

    source: a file of ours; whoever owns it could change the program anyway

    >>> is_safe(Path("/"), Path(__file__))
    True
    """
    if not hasattr(os, "geteuid"):
        return True
    trusted = {0, os.geteuid(), source.stat().st_uid}
    for each in (folder, *folder.absolute().parents):
        status = each.stat()
        others_write = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in trusted or others_write:
            return False
    return True
