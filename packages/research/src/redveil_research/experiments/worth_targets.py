"""What the default was worth in the first release, and what it should be worth.

The figures and where they come from are in `worth_targets.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# The algorithm that the figures are about.
DEFAULT = "twin"


@dataclass(frozen=True, slots=True)
class Target:
    """The figures of one data set at one ε.

    first:  worth in the first release
    found:  entries per list in the first release
    larger: the share of entries in the first release that were larger halves, if it is known
    best:   worth of the best of eight shapes in the first release
    target: what is wanted
    """

    data: str
    epsilon: str
    first: float
    found: float
    best: float
    target: float
    larger: float | None = None


@cache
def targets() -> tuple[Target, ...]:
    """Return all figures.

    >>> targets()[0].target
    3.1
    """
    text = (
        files("redveil_research.experiments")
        .joinpath("worth_targets.toml")
        .read_text(encoding="utf-8")
    )
    return tuple(Target(**row) for row in tomllib.loads(text)["row"])


def target_of(data: str, algorithm: str, epsilon: str) -> Target | None:
    """Return the figures for a row of the table, if there are any.

    >>> target_of("mammal, 300", "twin", "1")
    """
    if algorithm != DEFAULT:
        return None
    rows = (one for one in targets() if (one.data, one.epsilon) == (data, epsilon))
    return next(rows, None)
