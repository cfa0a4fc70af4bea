"""mpmath remembers constants for all threads; only one at a time may use it."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Threads ask for exponentials at growing precision, so that ln 2 is computed again and again, and
# tracing lets another thread in between any two lines of the function that remembers it. Without a
# lock, one reads the new number with the old precision: the bounds are wrong, or it never ends.
HAMMER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from mpmath.libmp import libelefun
from redveil.losses.concentrated import keeps
from redveil.privacy.selection import Exponentials

remembered = next(
    cell.cell_contents
    for cell in libelefun.ln2_fixed.__closure__
    if hasattr(cell.cell_contents, "memo_prec")
)
forget = lambda: (setattr(remembered, "memo_val", None), setattr(remembered, "memo_prec", -1))

def hesitate(frame, event, argument):
    if frame.f_code is libelefun.ln2_fixed.__code__:
        time.sleep(1e-4)
        return hesitate

def bounds(number):
    sys.settrace(hesitate)
    try:
        kept = [keeps(Fraction(k, 100), Fraction(1), Fraction(1, 10**6)) for k in (1, 2, 3, 4)]
        return kept, [one(19) for one in made[number]]
    finally:
        sys.settrace(None)

made = [[Exponentials(Fraction(1, 3), bits) for bits in range(64, 800, 32)] for _ in range(5)]
forget()
alone = bounds(4)
forget()
with ThreadPoolExecutor(4) as pool:
    print(all(found == alone for found in pool.map(bounds, range(4))))
"""


def test_threads_get_the_same_bounds_as_one_alone() -> None:
    try:
        done = subprocess.run(
            [sys.executable, "-c", HAMMER],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    except subprocess.TimeoutExpired:
        pytest.fail("a thread computes with a wrong constant, and does not come to an end")
    assert (done.stdout, done.stderr) == ("True\n", "")
