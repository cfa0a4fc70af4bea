"""Find out what two tables have in common, without releasing a row.

>>> import redveil
>>> sorted(redveil.__all__)[:4]
['Answer', 'Comparison', 'Dataset', 'Detectable']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redveil.api import mine, plan
    from redveil.client.connecting import connect
    from redveil.client.server import Server
    from redveil.conversation import confirm, describe, refine
    from redveil.data.dataset import Dataset
    from redveil.data.draft import Draft, draft
    from redveil.data.loading import examine
    from redveil.data.report import LoadReport
    from redveil.detecting import detectable
    from redveil.errors import InputError, OverBudgetError, RedveilError, RemoteError
    from redveil.findings.questions import Answer
    from redveil.loading import load
    from redveil.losses.plan import Plan
    from redveil.owner import load_report, truth
    from redveil.report.compare import Comparison, compare
    from redveil.report.detection import Detectable
    from redveil.report.result import Result
    from redveil.schema import Schema

__all__ = [
    "Answer",
    "Comparison",
    "Dataset",
    "Detectable",
    "Draft",
    "InputError",
    "LoadReport",
    "OverBudgetError",
    "Plan",
    "RedveilError",
    "RemoteError",
    "Result",
    "Schema",
    "Server",
    "compare",
    "confirm",
    "connect",
    "describe",
    "detectable",
    "draft",
    "examine",
    "load",
    "load_report",
    "mine",
    "plan",
    "refine",
    "truth",
]

# The module of each public name. Imported on first use, so that `import redveil` is fast.
_HOMES = {
    "Answer": "redveil.findings.questions",
    "Comparison": "redveil.report.compare",
    "Dataset": "redveil.data.dataset",
    "Detectable": "redveil.report.detection",
    "Draft": "redveil.data.draft",
    "InputError": "redveil.errors",
    "LoadReport": "redveil.data.report",
    "OverBudgetError": "redveil.errors",
    "Plan": "redveil.losses.plan",
    "RedveilError": "redveil.errors",
    "RemoteError": "redveil.errors",
    "Result": "redveil.report.result",
    "Schema": "redveil.schema",
    "Server": "redveil.client.server",
    "compare": "redveil.report.compare",
    "confirm": "redveil.conversation",
    "connect": "redveil.client.connecting",
    "describe": "redveil.conversation",
    "detectable": "redveil.detecting",
    "draft": "redveil.data.draft",
    "examine": "redveil.data.loading",
    "load": "redveil.loading",
    "load_report": "redveil.owner",
    "mine": "redveil.api",
    "plan": "redveil.api",
    "refine": "redveil.conversation",
    "truth": "redveil.owner",
}

# Public names of another distribution, for who looks for them here.
_IN_RESEARCH = ("Baseline", "Diagnosis", "baseline", "diagnose")


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("redveil.base.version").software().removeprefix("redveil ")
    if name in _HOMES:
        try:
            return getattr(import_module(_HOMES[name]), name)
        except ModuleNotFoundError as error:
            if not str(error.name).startswith(f"{__name__}."):
                raise
            # The client alone has the modules that need no row.
            raise AttributeError(f"redveil-client has no {name}; install redveil") from None
    if name in _IN_RESEARCH:
        raise AttributeError(f"{name} is in redveil_research; install redveil-research")
    raise AttributeError(f"module 'redveil' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
