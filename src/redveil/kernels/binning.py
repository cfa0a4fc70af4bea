"""Numbers to bins, in one pass."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

# With more cuts than this, a search is faster than looking at all of them.
MOST_COMPARED: Final = 64
# Numbers that are compared with a cut at a time, so that they stay in cache.
_BLOCK: Final = 4096


def bin_numbers(
    values: NDArray[np.floating],
    minimum: float,
    maximum: float,
    cuts: NDArray[np.float64],
    codes: NDArray[np.uint8],
    outside: NDArray[np.uint8],
) -> None:
    """Write each number's bin, how many cuts lie below it, and mark those outside their bounds.

    values:  float64 or float32[N]; NaN is missing.
    cuts:    float64[cuts], increasing.
    codes:   uint8 or wider[N], written; the largest number of the type is missing.
    outside: uint8[N], set to 1 where a number is outside.
    """
    if len(cuts) > MOST_COMPARED:
        _search(values, minimum, maximum, cuts, codes, outside)
        return
    kind = values.dtype.type
    least, most = (
        -_rounded_down(np.array([-minimum]), kind),
        _rounded_down(np.array([maximum]), kind),
    )
    bounds = np.concatenate([least, most])
    _compare(values, bounds, _rounded_down(cuts, kind), codes, outside)


def _rounded_down(numbers: NDArray[np.float64], kind: type[np.floating]) -> NDArray[np.floating]:
    """Return the largest numbers of a type that are not above the given ones.

    A number of the type is above one of these exactly if it is above the given one.

    >>> float(_rounded_down(np.array([0.1]), np.float32)[0]) <= 0.1
    True
    """
    # A number beyond the type's largest becomes infinite, and then the largest.
    with np.errstate(over="ignore", under="ignore"):
        near = numbers.astype(kind)
        return np.where(near > numbers, np.nextafter(near, kind(-np.inf)), near)


@kernel
def _compare(
    values: NDArray[np.floating],
    bounds: NDArray[np.floating],
    cuts: NDArray[np.floating],
    codes: NDArray[np.uint8],
    outside: NDArray[np.uint8],
) -> None:
    """Write bins by comparing all numbers with all cuts, many numbers at a time.

    bounds: float[2], the least and the greatest number that is not outside.
    """
    missing = np.iinfo(codes.dtype).max
    least, most = bounds[0], bounds[1]
    for first in range(0, values.shape[0], _BLOCK):
        some, bins, marks = (
            values[first : first + _BLOCK],
            codes[first : first + _BLOCK],
            outside[first : first + _BLOCK],
        )
        for i in range(some.shape[0]):
            bins[i] = 0
        for cut in cuts:
            for i in range(some.shape[0]):
                bins[i] += cut < some[i]
        for i in range(some.shape[0]):
            bins[i] = missing if np.isnan(some[i]) else bins[i]
        for i in range(some.shape[0]):
            marks[i] |= (some[i] < least) | (some[i] > most)


@kernel
def _search(
    values: NDArray[np.floating],
    minimum: float,
    maximum: float,
    cuts: NDArray[np.float64],
    codes: NDArray[np.uint8],
    outside: NDArray[np.uint8],
) -> None:
    """Write bins by searching for each number among the cuts."""
    missing = np.iinfo(codes.dtype).max
    for i in range(values.shape[0]):
        value = float(values[i])
        if np.isnan(value):
            codes[i] = missing
            continue
        if value < minimum or value > maximum:
            outside[i] = 1
        low, high = 0, cuts.shape[0]
        while low < high:
            middle = (low + high) >> 1
            if cuts[middle] < value:
                low = middle + 1
            else:
                high = middle
        codes[i] = low
