"""Joint counts: words a second and core, tiled and one pair of sets at a time, in one run.

    python benchmarks/joint_counts.py

Both loops count the same random sets; the plain one is what the tiled one replaced. The table shows
thousands of millions of pairs of words a CPU second, the best of three runs, and their ratio.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from redveil.kernels.bits import ones
from redveil.kernels.jit import kernel
from redveil.kernels.joint import joint_counts

Sets = NDArray[np.uint64]
Counts = NDArray[np.int64]
# Left sets, right sets, and words of each: of 256, 7 232, 262 144 and 1 000 000 entities.
SHAPES = ((300, 300, 4), (100, 760, 113), (200, 400, 4_096), (100, 900, 15_625))


@kernel
def plain(left: Sets, right: Sets, counts: Counts) -> None:
    """Count one pair of sets after the other."""
    counts[:, :] = 0
    for begin in range(0, left.shape[1], 512):
        end = min(begin + 512, left.shape[1])
        for i in range(left.shape[0]):
            for j in range(right.shape[0]):
                shared = 0
                for w in range(begin, end):
                    shared += ones(left[i, w] & right[j, w])
                counts[i, j] += shared


def speed(loop: Callable[[Sets, Sets, Counts], None], left: Sets, right: Sets) -> float:
    """Return pairs of words a CPU second, in thousands of millions."""
    counts = np.empty((len(left), len(right)), dtype=np.int64)
    loop(left, right, counts)
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        loop(left, right, counts)
        seconds.append(time.process_time() - begin)
    return left.size * len(right) / min(seconds) / 1e9


def speeds() -> Iterator[tuple[int, int, int, float, float]]:
    """Yield left sets, right sets, words of each, and the speeds of both loops."""
    source = np.random.default_rng(1)
    for lefts, rights, words in SHAPES:
        left, right = (
            source.integers(0, 2**64, (sets, words), dtype=np.uint64) for sets in (lefts, rights)
        )
        yield lefts, rights, words, speed(plain, left, right), speed(joint_counts, left, right)


def main() -> None:
    """Print a table of speeds."""
    table = Table(box=None, header_style="bold")
    for name in ("left sets", "right sets", "words", "plain", "tiled", "ratio"):
        table.add_column(name, justify="right")
    for lefts, rights, words, before, after in speeds():
        row = f"{lefts:,}", f"{rights:,}", f"{words:,}"
        table.add_row(*row, f"{before:.2f}", f"{after:.2f}", f"{after / before:.1f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
