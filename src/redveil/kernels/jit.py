"""The decorator for kernels: compiled once, kept on disk, without the interpreter lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar, cast

from redveil.base.cache import cache_of
from redveil.kernels.machine_code import (
    MachineCode,
    compiled,
    description,
    entry_name,
    loaded,
    started_numba,
    types_key,
)

F = TypeVar("F", bound=Callable[..., object])

# Where machine code can be called without Numba; elsewhere, Numba's own cache has to do.
_LOADED_ALONE: Final = sys.platform in {"linux", "darwin"}
# Settings that neither keep Numba from starting nor change what it makes.
_HARMLESS: Final = frozenset({"NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT"})
_CONFIGURATION: Final = Path(".numba_config.yaml")


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers on first call.

    It must not allocate arrays: its caller passes those it works on.

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
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return function
    return cast(F, Kernel(function))


class Kernel:
    """A function that is compiled for every combination of types of its arguments."""

    def __init__(self, function: Callable[..., object]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._lock = Lock()
        self._ready: dict[object, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code for the types of these arguments."""
        key = types_key(arguments)
        ready = self._ready.get(key)
        if ready is None:
            with self._lock:
                ready = self._ready.get(key) or self._prepared(arguments)
                self._ready[key] = ready
        return ready(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """Numba asks for this where one kernel calls another."""
        return self._bare._numba_type_

    @cached_property
    def _bare(self) -> Any:
        """The kernel for Numba, without what only Python needs."""
        return started_numba().njit(
            nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
        )(self._function)

    def _prepared(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        """Find machine code, or make it."""
        if not _LOADED_ALONE:
            return self._by_numba()
        cache = cache_of("kernels")
        name = entry_name(self._function, ", ".join(map(description, arguments)), _settings())
        entry = None if name is None else cache.find(name)
        if entry is not None:
            return loaded(MachineCode.from_bytes(entry), arguments)
        try:
            made = compiled(self._function, self._bare, arguments)
        except ValueError:
            return self._by_numba()
        if name is not None:
            cache.keep(name, made.to_bytes())
        return loaded(made, arguments)

    def _by_numba(self) -> Callable[..., Any]:
        """Leave the kernel to Numba, which compiles it in every process if it cannot keep it."""
        numba = started_numba()
        try:
            made = numba.njit(nogil=True, cache=not _LOADED_ALONE)(self._function)
        except (RuntimeError, OSError):
            made = numba.njit(nogil=True)(self._function)
        return cast(Callable[..., Any], made)


def _settings() -> dict[str, str]:
    """Return Numba's settings, all of which may change what it makes but those named."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("NUMBA_") and name not in _HARMLESS
    }


# A setting that keeps Numba from starting must be found before anything is charged.
if _CONFIGURATION.exists() or _settings():
    started_numba()
