"""Experiments with redveil: baselines, audits, diagnoses, public data, and figures for papers.

Much here looks at true rows. It is for whoever owns the data, or for data that is not sensitive.

>>> import redveil_research
>>> redveil_research.__all__[:2]
['Baseline', 'Diagnosis']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redveil_research.baselines.baseline import Baseline, baseline
    from redveil_research.clired import write_clired
    from redveil_research.diagnosis import Diagnosis, diagnose
    from redveil_research.figures.plot import plot, plot_detectable
    from redveil_research.latex import latex_table

__all__ = [
    "Baseline",
    "Diagnosis",
    "baseline",
    "diagnose",
    "latex_table",
    "plot",
    "plot_detectable",
    "write_clired",
]

# The module of each public name. Imported on first use, so that commands start fast.
_HOMES = {
    "Baseline": "redveil_research.baselines.baseline",
    "Diagnosis": "redveil_research.diagnosis",
    "baseline": "redveil_research.baselines.baseline",
    "diagnose": "redveil_research.diagnosis",
    "latex_table": "redveil_research.latex",
    "plot": "redveil_research.figures.plot",
    "plot_detectable": "redveil_research.figures.plot",
    "write_clired": "redveil_research.clired",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'redveil_research' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
