"""The page of the documentation that tells what was reproduced: words, tables and figures.

The words are in words.toml. Numbers in them are computed from the runs.
"""

from __future__ import annotations

import math
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from redveil_research.experiments.paper import numbers, tables
from redveil_research.experiments.paper.agenda import EPSILONS, PLAIN, TIMED, TWIN, VARIANTS
from redveil_research.experiments.paper.catalogue import EXPERIMENTS, Experiment
from redveil_research.experiments.paper.conduct import Conducted
from redveil_research.experiments.paper.pooled import LEAST, LIMIT, Pool, column, share
from redveil_research.experiments.rank_tests import spearman

EVIDENCE: Final = "evidence"
PREFIX: Final = "paper-"
# How far apart, in percentage points, two shares may be and still be called close.
CLOSE: Final = 10.0


def write_page(done: Conducted, path: Path) -> None:
    """Write the page, and its figures into a folder beside it."""
    evidence = path.parent / EVIDENCE
    evidence.mkdir(parents=True, exist_ok=True)
    for one in EXPERIMENTS:
        for name, _ in one.draws:
            shutil.copyfile(done.folder / f"{name}.svg", evidence / f"{PREFIX}{name}.svg")
    path.write_text("\n\n".join(sections(done)) + "\n", encoding="utf-8")


def sections(done: Conducted) -> Iterator[str]:
    """Yield the parts of the page."""
    pool = done.pool
    yield "# The paper's experiments, made again"
    yield _opening(done)
    yield "## What was reproduced, and what was not"
    yield verdicts(pool)
    for one in EXPERIMENTS:
        yield f"## {one.title[0].upper()}{one.title[1:]}"
        yield f"*{_place(one)}; `redveil experiment {one.name}`*"
        if said := words()["sections"].get(one.name, "").strip():
            yield said.format(**significance_facts(pool)) if one.name == "significance" else said
        if one.table is not None:
            yield one.table(pool).markdown()
        for name, _ in one.draws:
            yield f"![{one.title}]({EVIDENCE}/{PREFIX}{name}.svg)"
    yield _said("closing")


def _place(one: Experiment) -> str:
    inside = one.place.startswith(("Table", "Figure"))
    return f"{one.place} of the paper" if inside else one.place.capitalize()


def _opening(done: Conducted) -> str:
    runs = [run for run in done.pool.runs if not run.histogram]
    return _said("opening").format(
        quick=" --quick" if done.quick else "",
        few=_said("quick" if done.quick else "full"),
        runs=len(runs),
        cpu=sum(run.cpu for run in done.pool.runs) / 60,
        codes=", ".join(f"`{code}`" for code in sorted({run.code for run in done.pool.runs})),
    )


@cache
def words() -> dict[str, Any]:
    """Return the words of the page.

    >>> "opening" in words()
    True
    """
    text = files("redveil_research.experiments.paper").joinpath("words.toml").read_text("utf-8")
    return tomllib.loads(text)


def _said(name: str) -> str:
    return str(words()[name]).strip()


def verdicts(pool: Pool) -> str:
    """Return one line for each table and figure: met, partly or not, and why."""
    facts = verdict_facts(pool)
    lines = [
        (place, verdict, why.format(**facts))
        for place, (verdict, why) in words()["verdicts"].items()
    ]
    return tables.Table(("table or figure", "reproduced", "why"), lines, texts=3).markdown()


def verdict_facts(pool: Pool) -> dict[str, str]:
    """Return what the verdicts say in numbers."""
    near, cells = close_cells(pool, 0.0)
    strong = replace(pool, known={k: v for k, v in pool.known.items() if k == "MAMMAL"})
    pooled = [pool.take(d, v, e) for d in pool.subjects for v in VARIANTS for e in EPSILONS]
    by_test = [tables.tests_of_index(pool), tables.tests_of_difference(pool)]
    same = [sum(_best(row[3]) == _best(row[4]) for row in made.rows) for made in by_test]
    return {
        "near": f"{near}",
        "mammal": f"{close_cells(strong, 0.0, EPSILONS[:2])[0]}",
        "cells": f"{cells}",
        "far": f"{close_cells(pool, LEAST)[0]}",
        "best_j": f"{same[0]}",
        "best_error": f"{same[1]}",
        "tests": f"{len(by_test[0].rows)}",
        "successes": f"{sum(one.successes for one in pooled):,}",
        "tried": f"{sum(len(one.runs) for one in pooled):,}",
        "spearman": _spearman(pool),
        "runtime": _runtime(pool),
    }


def _best(cell: str) -> str:
    """Return the variant that a cell of a Mann–Whitney table calls the best.

    >>> _best("Mb 0.43; S 0.01"), _best("Mb; S 0.09")
    ('Mb', 'Mb')
    """
    return cell.partition(";")[0].split(" ")[0]


def _spearman(pool: Pool) -> str:
    """Return how many rank correlations are below a p-value of 0.01, or not, as in the paper."""
    same = every = 0
    for data in pool.subjects:
        for variant in PLAIN:
            kept = pool.take(data, variant, "1").kept
            theirs = numbers.spearman(data, variant.name)
            ours = spearman(column(kept, "noisy"), column(kept, "true"))
            if theirs is None or ours is None:
                continue
            every += 1
            same += (ours[1] < LIMIT) == theirs[1].startswith("<")
    return f"{same} of {every} are significant, or not, as in the paper; single values differ"


def _runtime(pool: Pool) -> str:
    """Return how CPU times grow with the rows, and which variants are the quickest and slowest."""
    timed: dict[str, list[float]] = {}
    for variant in TIMED:
        found = [[run.cpu for run in pool.take(name, variant, "1").runs] for name in pool.timed]
        if variant is not TWIN and found and all(found):
            timed[variant.name] = [float(np.mean(cpu)) for cpu in found]
    if not timed:
        return "nothing was timed"
    growth = sorted(times[-1] / times[0] for times in timed.values())
    last = {name: times[-1] for name, times in timed.items()}
    sizes = list(pool.timed.values())
    return (
        f"from {sizes[0]:,} to {sizes[-1]:,} rows times grow by factors of {growth[0]:.1f} to "
        f"{growth[-1]:.1f}. With the most rows {min(last, key=last.__getitem__)} is the quickest "
        f"and {max(last, key=last.__getitem__)} the slowest, in the paper AltMCMC and AltExpM S"
    )


def close_cells(pool: Pool, least: float, epsilons: Sequence[str] = EPSILONS) -> tuple[int, int]:
    """Return how many shares of significant ones are close to the paper's, and of how many."""
    near = cells = 0
    for data in pool.subjects:
        for epsilon in epsilons:
            for variant in VARIANTS:
                theirs = numbers.significant(data, variant.name, epsilon)
                ours = 100 * pool.take(data, variant, epsilon).significant(least)
                if theirs is not None and not math.isnan(ours):
                    cells += 1
                    near += abs(ours - theirs) <= CLOSE
    return near, cells


def significance_facts(pool: Pool) -> dict[str, float]:
    """Return, for MAMMAL at ε = 0.01, means over the six variants, in percent.

    plain: of significant ones; placed: among those with a true J of at least 0.1; small and claims:
    the same for NPAS and CMS2; empty: of those with a true J of 0
    """
    every = [pool.take("MAMMAL", variant, "0.01") for variant in VARIANTS]
    survey = [pool.take("NPAS-2016", variant, "0.01") for variant in VARIANTS]
    claims = [pool.take("CMS2", variant, "0.01") for variant in VARIANTS]
    return {
        "claims": _mean(100 * one.significant(LEAST) for one in claims),
        "small": _mean(100 * one.significant(LEAST) for one in survey),
        "plain": _mean(100 * one.significant() for one in every),
        "placed": _mean(100 * one.significant(LEAST) for one in every),
        "empty": _mean(100 * share(found.true == 0 for found in one.kept) for one in every),
    }


def _mean(values: Iterable[float]) -> float:
    known = [one for one in values if not math.isnan(one)]
    return sum(known) / len(known) if known else math.nan
