"""Numbers to bins, in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel


@kernel
def bin_numbers(
    values: NDArray[np.float64],
    minimum: float,
    maximum: float,
    cuts: NDArray[np.float64],
    codes: NDArray[np.uint8],
    outside: NDArray[np.uint8],
) -> None:
    """Write each number's bin, how many cuts lie below it, after clamping it to its bounds.

    values:  float64 or float32[N]; NaN is missing.
    cuts:    float64[cuts], increasing.
    codes:   uint8 or wider[N], written; the largest number of the type is missing.
    outside: uint8[N], set to 1 where a number was clamped.
    """
    missing = np.iinfo(codes.dtype).max
    for i in range(values.shape[0]):
        value = float(values[i])
        if np.isnan(value):
            codes[i] = missing
            continue
        if value < minimum or value > maximum:
            outside[i] = 1
            value = min(max(value, minimum), maximum)
        low, high = 0, cuts.shape[0]
        while low < high:
            middle = (low + high) >> 1
            if cuts[middle] < value:
                low = middle + 1
            else:
                high = middle
        codes[i] = low
