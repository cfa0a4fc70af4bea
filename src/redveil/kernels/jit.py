"""The decorator for kernels: compiled once, cached on disk, without the interpreter lock."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from redveil.errors import InputError

try:
    import numba
    from numba.core import config
    from numba.core.caching import FunctionCache
except ValueError as problem:
    # Numba reads its settings when it is imported.
    raise InputError(
        f"Numba cannot start ({problem}); correct the environment variables whose names begin with "
        "NUMBA_"
    ) from None

F = TypeVar("F", bound=Callable[..., object])


class _SpareCache(FunctionCache):
    """A cache of compiled code that a run can do without: a full disk is no reason to stop."""

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)


def kernel(function: F) -> F:
    """Compile a function of arrays and integers on first call.

    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     sum = 0
    ...     for value in values:
    ...         sum += value
    ...     return sum
    >>> int(total(np.array([1, 2, 3])))
    6
    """
    compiled: Any = numba.njit(nogil=True)(function)
    cache = _cache_for(function)
    if cache is not None:
        compiled._cache = cache
    return cast(F, compiled)


def _cache_for(function: Callable[..., object]) -> FunctionCache | None:
    """Return where to keep compiled code; None if there is no place that is ours alone.

    Numba looks for a place beside the source, then in the user's home. There is none in an
    installation that cannot be written to, run by a user without a home: then every process
    compiles anew. NUMBA_CACHE_DIR names a place.
    """
    source = Path(function.__code__.co_filename)
    # A function from a shell or a doctest has no file beside which to keep a cache.
    if "<" in source.name:
        return None
    # Numba takes a missing home for a folder named "~", and makes it wherever the program runs.
    elsewhere = getattr(config, "CACHE_DIR", "") or os.access(source.parent, os.W_OK)
    if not elsewhere and not _has_home():
        return None
    try:
        cache = _SpareCache(function)
    except (RuntimeError, OSError):
        return None
    return cache if is_safe(Path(cache.cache_path), source) else None


def _has_home() -> bool:
    try:
        return Path.home().is_absolute()
    except RuntimeError:
        return False


def is_safe(folder: Path, source: Path) -> bool:
    """Return whether nobody else can put code into a folder: what is cached there is executed.

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
