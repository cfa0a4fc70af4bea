"""Devices to write to. Root gets copies: a mistake in the program could replace the real ones."""

from __future__ import annotations

import os
import stat
from pathlib import Path

NUMBERS = {"null": 3, "full": 7}


def device(name: str, folder: Path) -> Path:
    """Return /dev/null or /dev/full, which only root could replace, or root's own copy of it."""
    if os.geteuid():
        return Path("/dev") / name
    copy = folder / f"device-{name}"
    os.mknod(copy, stat.S_IFCHR | 0o666, os.makedev(1, NUMBERS[name]))
    return copy
