"""The decorator for kernels: compiled once, cached on disk, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


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
    # A function from a shell or a doctest has no file beside which to keep a cache.
    cached = "<" not in function.__code__.co_filename
    return cast(F, numba.njit(cache=cached, nogil=True)(function))
