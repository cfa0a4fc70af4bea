"""The page of the documentation with ours beside the paper's: words, tables and figures.

The words are in words.toml. Numbers in them are computed from the runs.
"""

from __future__ import annotations

import math
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from redveil_research.experiments.console import NONE, Table
from redveil_research.experiments.judging import spearman
from redveil_research.experiments.paper import numbers, tables
from redveil_research.experiments.paper.agenda import (
    BASELINES,
    DEPTHS,
    EPSILONS,
    PLAIN,
    TIMED,
    TWIN,
    VARIANTS,
    Variant,
    by_name,
)
from redveil_research.experiments.paper.conduct import EXPERIMENTS, Conducted, Experiment
from redveil_research.experiments.paper.figures import smallest_kept
from redveil_research.experiments.paper.pooled import LEAST, LIMIT, Pool, column, differences, share
from redveil_research.experiments.runs import Finding

EVIDENCE: Final = "evidence"
PREFIX: Final = "paper-"


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
    yield "## In short"
    yield _said("before")
    yield in_short(pool)
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


def in_short(pool: Pool) -> str:
    """Return one line for each table and figure: what the runs say, in numbers."""
    found = facts(pool)
    lines = [(place, said.format(**found)) for place, said in words()["in_short"].items()]
    return Table(("table or figure", "what the runs say"), lines, texts=2).markdown()


# How far apart, in percentage points, two shares may be and still be called close.
CLOSE: Final = 10.0
# The ε of the paper's tables of runs that return anything.
SMALL: Final = ("0.1", "0.01")


def facts(pool: Pool) -> dict[str, str]:
    """Return what the line about each table and figure says, by name."""
    strong = replace(pool, known={k: v for k, v in pool.known.items() if k == "MAMMAL"})
    tests = [tables.tests_of_index(pool), tables.tests_of_difference(pool)]
    same = [sum(_best(row[3]) == _best(row[4]) for row in made.rows) for made in tests]
    return {
        "sizes": _sizes(pool),
        "scatter": _by_data(pool, _scattered),
        "spearman": _spearman(pool),
        "histograms": _by_data(pool, _medians),
        "strong": _close(strong, 0.0, EPSILONS[:2]),
        "near": _close(pool, 0.0),
        "far": _close(pool, LEAST),
        "best_j": f"{same[0]} of {len(tests[0].rows)}",
        "best_error": f"{same[1]} of {len(tests[1].rows)}",
        "runtime": _runtime(pool),
        "laplace": _laplace(pool),
        "depths": " and ".join(f"{depth}" for depth in DEPTHS),
        "convergence": _convergence(pool),
        "successes": _successes(pool),
        "errors": ", ".join(f"{_error(pool, epsilon)} at ε = {epsilon}" for epsilon in EPSILONS),
    }


def significance_facts(pool: Pool) -> dict[str, str]:
    """Return what is said of significant ones at ε = 0.01: means over the six variants.

    plain and empty: of MAMMAL, the significant ones and those with a true J of 0; the rest of each
    data set: significant ones among those with a true J of at least 0.1, and the paper's shares
    """
    epsilon = EPSILONS[-1]
    names = {"mammal": "MAMMAL", "survey": "NPAS-2016", "claims": "CMS2"}
    taken = {
        key: [pool.take(data, variant, epsilon) for variant in VARIANTS]
        for key, data in names.items()
    }
    pairs = _shares(pool, 0.0, [epsilon])
    found = {
        "above": f"{sum(paper > ours for ours, paper in pairs)} of {len(pairs)}",
        "plain": _mean_percent(one.significant() for one in taken["mammal"]),
        "empty": _mean_percent(
            share(found.true == 0 for found in one.kept) for one in taken["mammal"]
        ),
    }
    for key, data in names.items():
        found[key] = _mean_percent(one.significant(LEAST) for one in taken[key])
        found[f"{key}_paper"] = paper_shares(data, epsilon)
    return found


def paper_shares(data: str, epsilon: str) -> str:
    """Return the least and the largest of the paper's shares of significant ones.

    >>> paper_shares("MAMMAL", "0.01")
    '25.4 to 29.3 %'
    """
    found = [numbers.significant(data, variant.name, epsilon) for variant in VARIANTS]
    known = [one for one in found if one is not None]
    return f"{min(known):.1f} to {max(known):.1f} %" if known else NONE


def _shares(
    pool: Pool, least: float, epsilons: Sequence[str] = EPSILONS
) -> list[tuple[float, float]]:
    """Return our shares of significant ones beside the paper's, in percent, where there are both.

    least: the smallest true J of those that count
    """
    found = []
    for data in pool.subjects:
        for epsilon in epsilons:
            for variant in VARIANTS:
                theirs = numbers.significant(data, variant.name, epsilon)
                ours = 100 * pool.take(data, variant, epsilon).significant(least)
                if theirs is not None and not math.isnan(ours):
                    found.append((ours, theirs))
    return found


def _close(pool: Pool, least: float, epsilons: Sequence[str] = EPSILONS) -> str:
    """Return how many shares of significant ones are close to the paper's, and of how many."""
    pairs = _shares(pool, least, epsilons)
    return f"{sum(abs(ours - theirs) <= CLOSE for ours, theirs in pairs)} of {len(pairs)}"


def _sizes(pool: Pool) -> str:
    """Return how many numbers of rows and columns are the paper's."""
    pairs = [
        (ours.replace(",", ""), str(theirs).split(" ")[0])
        for row in tables.data_sets(pool).rows
        for ours, theirs in zip(row[2::2], row[3::2], strict=True)
    ]
    return f"{sum(ours == theirs for ours, theirs in pairs)} of {len(pairs)}"


def _by_data(pool: Pool, told: Callable[[Pool, str], str]) -> str:
    return "; ".join(f"{name} {told(pool, name)}" for name in pool.subjects)


def _scattered(pool: Pool, data: str) -> str:
    """Return how much has a small true J, and by how much reported J is off in the median."""
    every = [pool.take(data, variant, "1") for variant in PLAIN]
    parts = [[one for pooled in every for one in pooled.pruned],
             [one for pooled in every for one in pooled.kept]]  # fmt: skip
    small = [_mean_percent([share(one.true < LEAST for one in part)]) for part in parts]
    off = column(parts[1], "noisy") - column(parts[1], "true")
    median = f"{np.median(off):+.2f}" if off.size else NONE
    return f"{small[0]}, {small[1]}, {median}"


def _medians(pool: Pool, data: str) -> str:
    """Return median true J of what is pruned, of what is not, and of each baseline."""
    every = [pool.take(data, variant, "1") for variant in PLAIN]
    least = smallest_kept(pool.take(data, by_name("MCMCTreePair"), "1"))
    parts: list[list[Finding]] = [
        [one for pooled in every for one in pooled.pruned],
        [one for pooled in every for one in pooled.kept],
    ]
    for method in BASELINES:
        found = pool.take(data, method, "").findings
        parts.append([one for one in found if one.noisy_support >= least])
    return ", ".join(_median(part) for part in parts)


def _median(found: Sequence[Finding]) -> str:
    return f"{np.median(column(found, 'true')):.2f}" if found else NONE


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
    return f"{same} of {every}"


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
        f"and {max(last, key=last.__getitem__)} the slowest"
    )


def _laplace(pool: Pool) -> str:
    """Return by how many standard errors our counts of far sums differ from the paper's."""
    rows = tables.laplace_sums(pool).rows
    counts = [[int(cell.replace(",", "")) for cell in row[2:]] for row in rows]
    return f"{max(abs(a - b) / math.sqrt(max(a + b, 1)) for a, b in counts):.1f}"


def _convergence(pool: Pool) -> str:
    """Return how far the mean scores at both ε are apart, in standard deviations."""
    walks = tables.walks(pool)
    ours = [tables.moments(run) for run in walks]
    theirs = [numbers.walked(run.epsilon) for run in walks]
    apart = [f"{(some[0][0] - some[-1][0]) / some[-1][1]:.2f}" for some in (ours, theirs) if some]
    return " and ".join(apart) or NONE


def _successes(pool: Pool) -> str:
    """Return how many runs return anything, by variant, beside the paper's where it says."""
    told = []
    for variant in VARIANTS:
        taken = [(data, epsilon) for data in pool.subjects for epsilon in SMALL]
        pooled = [pool.take(data, variant, epsilon) for data, epsilon in taken]
        ours = sum(one.successes for one in pooled), sum(len(one.runs) for one in pooled)
        told.append(f"{variant.name} {ours[0]} of {ours[1]}{_their_successes(variant, taken)}")
    return ", ".join(told)


def _their_successes(variant: Variant, taken: Sequence[tuple[str, str]]) -> str:
    found = [numbers.successful(data, variant.name, epsilon) for data, epsilon in taken]
    known = [tuple(map(int, one.split("/"))) for one in found if one is not None]
    good, every = (sum(one[place] for one in known) for place in (0, 1))
    return f" (paper {good} of {every})" if known else ""


def _error(pool: Pool, epsilon: str) -> str:
    """Return the median error of J of significant ones that are kept, of all variants."""
    kept = [
        one
        for data in pool.subjects
        for variant in VARIANTS
        for one in pool.take(data, variant, epsilon).kept
        if one.p_value <= LIMIT
    ]
    return f"{np.median(differences(kept)):.2f}" if kept else NONE


def _mean_percent(shares: Iterable[float]) -> str:
    """Return the mean of some shares, of those that are known.

    >>> _mean_percent([0.5, 0.25, float("nan")]), _mean_percent([])
    ('38 %', '–')
    """
    known = [one for one in shares if not math.isnan(one)]
    return f"{100 * sum(known) / len(known):.0f} %" if known else NONE
