"""Find out what two tables have in common, without releasing a row.

>>> import redveil
>>> sorted(redveil.__all__)[:4]
['Answer', 'Constraints', 'Dataset', 'InputError']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redveil.api import mine, plan
    from redveil.buying import buy_cuts
    from redveil.data.dataset import Dataset
    from redveil.data.loading import load
    from redveil.diagnosis import diagnose
    from redveil.errors import InputError, OverBudgetError, RedveilError
    from redveil.findings.questions import Answer
    from redveil.findings.reporting import Constraints
    from redveil.owner import truth
    from redveil.report.result import Result
    from redveil.schema import Schema

__all__ = [
    "Answer",
    "Constraints",
    "Dataset",
    "InputError",
    "OverBudgetError",
    "RedveilError",
    "Result",
    "Schema",
    "buy_cuts",
    "diagnose",
    "load",
    "mine",
    "plan",
    "truth",
]

# The module of each public name. Imported on first use, so that `import redveil` is fast.
_HOMES = {
    "Answer": "redveil.findings.questions",
    "Constraints": "redveil.findings.reporting",
    "Dataset": "redveil.data.dataset",
    "InputError": "redveil.errors",
    "OverBudgetError": "redveil.errors",
    "RedveilError": "redveil.errors",
    "Result": "redveil.report.result",
    "Schema": "redveil.schema",
    "buy_cuts": "redveil.buying",
    "diagnose": "redveil.diagnosis",
    "load": "redveil.data.loading",
    "mine": "redveil.api",
    "plan": "redveil.api",
    "truth": "redveil.owner",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("redveil")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'redveil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
