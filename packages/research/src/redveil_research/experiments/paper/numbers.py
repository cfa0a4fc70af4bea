"""The numbers that the paper prints, to stand beside ours."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

# Our names of data sets, and the paper's: the nearest that can be had.
THEIR_DATA = {
    "NPAS-2016": "NPAS",
    "MAMMAL": "MAMMAL",
    "CMS2": "CMS-2-1",
    "CMS2/4": "CMS-2-1",
    "CMS-ALL/1": "CMS-2-1",
    "CMS-ALL/4": "CMS-2-4",
    "CMS-ALL/8": "CMS-2-8",
    "CMS-ALL/16": "CMS-2-16",
}


@cache
def numbers() -> dict[str, Any]:
    """Return everything that was transcribed from the paper.

    >>> numbers()["convergence"]["score mean +- sd at epsilon 10"]
    [0.668, 0.06]
    """
    text = files("redveil_research.experiments.paper").joinpath("numbers.json").read_text("utf-8")
    return dict(json.loads(text))


def significant(data: str, name: str, epsilon: str) -> float | None:
    """Return the paper's percentage of significant redescriptions.

    name: the variant's, as in the paper

    >>> significant("MAMMAL", "AltMCMC", "1")
    91.1
    """
    for row in numbers()["percent_significant"]:
        if row["algorithm"] == name and row["epsilon"] == float(epsilon):
            found = row["significant_percent"].get(THEIR_DATA.get(data, data))
            return None if found is None else float(found)
    return None


def spearman(data: str, name: str) -> tuple[float, str] | None:
    """Return the paper's rank correlation of noisy and true Jaccard indices, and its p-value.

    >>> spearman("NPAS-2016", "MCMCTreePair")
    (0.44, '0.04')
    """
    found = numbers()["spearman_noisy_true_jaccard"].get(THEIR_DATA.get(data, data), {}).get(name)
    return None if found is None else (float(found["rho"]), str(found["p"]))


def successful(data: str, name: str, epsilon: str) -> str | None:
    """Return how many of the paper's runs returned anything.

    >>> successful("CMS2", "AltMCMC", "0.1")
    '7/10'
    """
    runs = {"0.1": 10, "0.01": 100}.get(epsilon)
    rows = numbers()["successful_runs"].get(THEIR_DATA.get(data, data), {})
    found = rows.get(f"epsilon {epsilon}, of {runs}", {}).get(name)
    return None if found is None else f"{found}/{runs}"


def walked(epsilon: str) -> tuple[float, float]:
    """Return mean and standard deviation of the scores of the paper's walk.

    >>> walked("10")
    (0.668, 0.06)
    """
    mean, deviation = numbers()["convergence"][f"score mean +- sd at epsilon {epsilon}"]
    return float(mean), float(deviation)


def mann_whitney(data: str, epsilon: str, measure: str, *, stable: bool) -> str | None:
    """Return the paper's best variant and the p-values against it.

    measure: jaccard or abs_difference

    >>> mann_whitney("MAMMAL", "1", "jaccard", stable=False)
    'S; EM 5.9e-8, M 3.9e-9, Mb 4.4e-8'
    """
    for row in numbers()[f"mann_whitney_{measure}"]:
        here = row["dataset"] == THEIR_DATA.get(data, data) and row["stable"] == stable
        if here and row["epsilon"] == float(epsilon):
            against = ", ".join(f"{name} {p}" for name, p in row["p_against"].items())
            return f"{row['best']}; {against}"
    return None
