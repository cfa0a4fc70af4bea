"""Confirm: leaf tables of trees that are given. Nothing is chosen, so all of ε goes to counts.

Proof: algorithms/confirm.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.leaf_counts import Given, table_steps
from redveil.algorithms.trial import Trial
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice
from redveil.losses.loss import Price
from redveil.losses.plan import Plan, Step
from redveil.schema import Side
from redveil.sealed import Released
from redveil.trees.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Confirm(Algorithm):
    """A leaf table for each pair of given trees; the pairs share ε.

    pairs: the trees, left and right; public

    >>> from fractions import Fraction
    >>> stump = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,))
    >>> [step.name for step in Confirm.measuring((stump,)).plan(Fraction(1)).steps]
    ['trial 1, leaf table 1, cells']
    """

    name: ClassVar[str] = "confirm"

    pairs: tuple[tuple[Tree, Tree], ...] = ()

    @classmethod
    def measuring(cls, pairs: tuple[tuple[Tree, Tree], ...]) -> Confirm:
        """Return what measures some pairs of trees."""
        if not pairs:
            raise InputError("the result lists no redescription, so there is nothing to confirm")
        return cls(pairs=pairs, trials=len(pairs))

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters that can be given; the trees follow from a list.

        >>> Confirm.parameter_names()
        ('trials', 'counts')
        """
        return tuple(n for n in super().parameter_names() if n not in ("pairs", "depth"))

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield the steps of one table."""
        yield from table_steps(self.counts, trial, 1, price)

    def first_choice(self, _plan: Plan) -> Choice | None:
        """Return nothing: there is no choice."""
        return None

    @property
    def stages(self) -> int:
        """How many times a run reports progress: once a table."""
        return self.trials

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Measure one pair of trees."""
        trees = zip(Side, self.pairs[trial.number - 1], strict=True)
        given: dict[Side, Given] = dict(trees)
        return [trial.measure(given, self.counts)]
