"""The commands that redveil-research adds to redveil."""

from __future__ import annotations

from typing import Final

# Of each its name, where it is, and what the list of commands says of it.
COMMANDS: Final = (
    ("baseline", "redveil_research.cli.baseline:baseline", "Mine without privacy (owner)."),
    ("diagnose", "redveil_research.cli.baseline:diagnose", "See whether walks converge (owner)."),
    ("audit", "redveil_research.cli.audit:audit", "Test a claimed ε by many runs."),
    ("plot", "redveil_research.cli.plot:plot", "Draw figures for papers."),
    ("latex", "redveil_research.cli.plot:latex", "Print a result as a LaTeX table."),
    ("clired", "redveil_research.cli.plot:clired", "Write queries for clired and Siren."),
    ("prepare", "redveil_research.cli.experiment:prepare", "Make two tables of public data."),
    ("experiment", "redveil_research.cli.experiment:experiment", "Repeat published experiments."),
)
