"""A result whose list has not been made is not taken for one that found nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import redveil
from redveil.data.synthetic import wide_dataset
from redveil.errors import ResultError
from redveil_research import latex_table, plot, write_clired


@pytest.mark.parametrize(
    "use",
    [
        lambda one: plot(one, "scatter", "/nowhere/figure.png"),
        latex_table,
        lambda one: write_clired(one, "/nowhere/found.queries"),
    ],
    ids=["plot", "latex", "clired"],
)
def test_what_is_written_needs_a_list(use: Callable[[redveil.Result], object]) -> None:
    given: list[redveil.Result] = []
    redveil.mine(wide_dataset(500), 1, depth=1, trials=1, keep=given.append)
    with pytest.raises(ResultError, match=r"has not been made.*Result\.filter make it"):
        use(given[0])
