"""Every table and figure of the paper by name, with the runs it needs and what makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import redveil
from redveil_research.experiments.console import Table
from redveil_research.experiments.paper import figures, tables
from redveil_research.experiments.paper.agenda import SWEPT_EPSILONS
from redveil_research.experiments.paper.pooled import Pool

Make: TypeAlias = Callable[[Pool], Table]
Draw: TypeAlias = Callable[[Pool, Path], None]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table, a figure, or both.

    place: the table's or figure's number in the paper, or what it is besides
    needs: groups of runs (`Agenda.tasks`)

    >>> find("spearman").place
    'Table 2'
    """

    name: str
    place: str
    title: str
    needs: tuple[str, ...] = ()
    table: Make | None = None
    draws: tuple[tuple[str, Draw], ...] = ()


def _box(epsilon: str, measure: str) -> Draw:
    return lambda pool, path: figures.boxes(pool, epsilon, measure, path)


def _boxes(epsilon: str, first: int) -> tuple[Experiment, Experiment]:
    """Return the two box plots of an ε."""
    word = epsilon.replace(".", "")
    return (
        Experiment(f"accuracy-{word}", f"Figure {first}", f"true J by variant, ε = {epsilon}",
                   ("variants",), draws=((f"accuracy-{word}", _box(epsilon, "J")),)),
        Experiment(f"error-{word}", f"Figure {first + 1}", f"error of J by variant, ε = {epsilon}",
                   ("variants",), draws=((f"error-{word}", _box(epsilon, "error")),)),
    )  # fmt: skip


_RUNS = ("variants",)
EXPERIMENTS: Final = (
    Experiment("datasets", "Table 1", "properties of the data sets", _RUNS, tables.data_sets),
    Experiment("scatter", "Figures 2 and 3", "reported against true J, ε = 1", _RUNS,
               draws=(("scatter", figures.scatter),)),
    Experiment("spearman", "Table 2", "rank correlation of reported and true J, ε = 1", _RUNS,
               tables.correlations),
    Experiment("histograms", "Figures 4 and 5", "true J against SplitT and LayeredT, ε = 1",
               ("variants", "baselines"), draws=(("histograms", figures.histograms),)),
    Experiment("significance", "Table 3", "percentage of significant redescriptions", _RUNS,
               tables.significance),
    Experiment("tests-of-j", "Table 4", "Mann–Whitney tests of true J", _RUNS,
               tables.tests_of_index),
    Experiment("tests-of-error", "Table 5", "Mann–Whitney tests of the error of J", _RUNS,
               tables.tests_of_difference),
    Experiment("runtime", "Figures 6 and 15", "CPU time by number of rows, with SD",
               ("runtime",), tables.runtimes, (("runtime", figures.runtimes),)),
    Experiment("laplace", "Figure 7 and appendix C", "sums of Laplace noise", (),
               tables.laplace_sums, (("laplace", figures.laplace),)),
    Experiment("parameters", "Table 6", "parameters", _RUNS, tables.parameters),
    Experiment("convergence", "Figure 8", "scores of a walk over pairs of trees", ("walks",),
               tables.convergence, (("convergence", figures.convergence),)),
    Experiment("successes", "Tables 7 and 8", "runs that return anything", _RUNS,
               tables.successes),
    *_boxes("1", 9),
    *_boxes("0.1", 11),
    *_boxes("0.01", 13),
    Experiment("at-their-best", "not in the paper", "the variants at their best", _RUNS,
               tables.at_their_best),
    Experiment("worth", "not in the paper", "what the lists are worth", _RUNS, tables.worths),
    Experiment("epsilons", "not in the paper", "sweep over ε on MAMMAL", ("epsilons",),
               tables.epsilons,
               (("epsilons", partial(lambda values, pool, path: figures.sweep(pool, values, path),
                                     SWEPT_EPSILONS)),)),
    Experiment("depths", "not in the paper", "sweep over the depth on MAMMAL", ("depths",),
               tables.depths),
    Experiment("shares", "not in the paper", "sweep over the share of ε for trees on MAMMAL",
               ("shares",), tables.shares),
)  # fmt: skip
# All of them.
PAPER: Final = "paper"


def find(name: str) -> Experiment:
    """Return an experiment by its name.

    >>> find("nonsense")
    Traceback (most recent call last):
    redveil.errors.InputError: nonsense: no such experiment; redveil experiment list names them
    """
    for one in EXPERIMENTS:
        if one.name == name:
            return one
    raise redveil.InputError(f"{name}: no such experiment; redveil experiment list names them")


def chosen(name: str) -> Sequence[Experiment]:
    """Return all experiments for `paper`, or the one of a name.

    >>> len(chosen("paper")) > 15, [one.name for one in chosen("laplace")]
    (True, ['laplace'])
    """
    return EXPERIMENTS if name == PAPER else (find(name),)
