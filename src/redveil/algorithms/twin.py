"""Twin trees, trial after trial: each pair of twins leaves alone what earlier ones began with."""

from __future__ import annotations

from redveil.algorithms.schedule import twin_steps
from redveil.algorithms.trial import Trial
from redveil.findings.leaf_table import LeafTable
from redveil.schema import Side
from redveil.sealed import Released


def grow_all_twins(trial: Trial) -> list[Released[LeafTable]]:
    """Run all trials, one after the other, and return their leaf tables.

    What a pair of twins avoids follows from trees that are released already, so it is free.
    """
    used: dict[Side, set[int]] = {side: set() for side in Side}
    tables: list[Released[LeafTable]] = []
    for number in range(1, trial.parameters.trials + 1):
        steps = twin_steps(trial.parameters.depth, number)
        twins = trial.twins(used, steps)
        trial.progress()
        for side, attribute in twins.value.roots(trial.ground.splits).items():
            used[side].add(attribute)
        tables.append(trial.measured(trial.grown(twins), 1, number))
        trial.progress()
    return tables
