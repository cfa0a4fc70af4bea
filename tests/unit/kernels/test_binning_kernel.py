"""Numbers to bins, against putting each into its bin alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.binning import bin_of
from redveil.kernels.binning import MOST_COMPARED, bin_numbers

# Numbers of which many lie close to each other, and some beyond what 32 bits hold.
cuts_ = st.integers(-9, 9).map(lambda x: x / 10) | st.floats(allow_nan=False, allow_infinity=False)
types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def check(values: list[float], bounds: tuple[float, float], cuts: list[float], dtype: type) -> None:
    with np.errstate(over="ignore"):
        given_: NDArray[Any] = np.array(values, dtype)
    for kind in (np.uint8, np.uint16):
        codes: NDArray[Any] = np.empty(len(values), kind)
        outside = np.zeros(len(values), np.uint8)
        bin_numbers(given_, *bounds, np.array(cuts, np.float64), codes, outside)
        for value, code, was_outside in zip(
            given_.tolist(), codes.tolist(), outside.tolist(), strict=True
        ):
            expected = bin_of(value, cuts)
            assert code == (np.iinfo(kind).max if expected is None else expected)
            assert was_outside == (value < bounds[0] or value > bounds[1])


@types
@settings(max_examples=100, deadline=None)
@given(st.data(), st.lists(cuts_, max_size=2 * MOST_COMPARED, unique=True))
def test_each_number_gets_its_own_bin(
    dtype: type, data: st.DataObject, unsorted: list[float]
) -> None:
    cuts = sorted(unsorted)
    bounds = data.draw(st.tuples(cuts_, cuts_).map(lambda two: (min(two), max(two))))
    edges = st.sampled_from([*cuts, *bounds, math.nan, math.inf, -math.inf])
    values = data.draw(st.lists(edges | cuts_, max_size=50))
    check(values, bounds, cuts, dtype)


@types
@pytest.mark.parametrize("cut", [0.1, 0.3, -0.1, 1e-50, -1e-50, 1e300, -1e300, 16_777_217.0])
def test_numbers_next_to_a_cut_that_32_bits_do_not_hold(dtype: type, cut: float) -> None:
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(cut)
        around = [near, *(np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))]
    values = [*map(float, around), cut]
    check(values, (-math.inf, math.inf), [cut], dtype)
    check(values, (cut, cut), [cut], dtype)
