"""Simulations of the noise law, kept on disk between runs.

A simulation is a function of public values: the shape of a table, its prices, and constants. Its
draws are always the same (`noise.py`), so what is kept is what would be computed again, to the last
bit, and nothing that was counted enters it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redveil.base.cache import cache_of

Floats = NDArray[np.float64]
# Beside this package, what decides a simulation: prices as noise, and shapes of trees.
_ELSEWHERE = ("losses/loss.py", "trees/tree.py")


def kept(what: str, parameters: tuple[object, ...], simulate: Callable[[], Floats]) -> Floats:
    """Return what was simulated for some parameters, or simulate it and keep it.

    what:       a name of the simulation
    parameters: all values that it depends on; their `repr` tells them apart
    """
    entries = cache_of("noise")
    key = hashlib.sha256(repr((_version(), parameters)).encode()).hexdigest()
    name = f"{what}-{key[:40]}"
    entry = entries.find(name)
    if entry is not None:
        return np.frombuffer(entry, np.float64)
    found = simulate()
    entries.keep(name, found.tobytes())
    return found


@cache
def _version() -> tuple[str, str]:
    """Return the versions of NumPy, which draws, and of the code that simulates."""
    here = Path(__file__).parent
    sources = (*sorted(here.glob("*.py")), *(here.parent / path for path in _ELSEWHERE))
    return np.__version__, hashlib.sha256(b"".join(map(Path.read_bytes, sources))).hexdigest()
