"""The paper's tables: heads and rows of text, the paper's numbers beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from redveil_research.experiments.console import NONE, Table
from redveil_research.experiments.judging import mann_whitney, spearman
from redveil_research.experiments.paper import numbers
from redveil_research.experiments.paper.agenda import (
    ALL,
    BUILT,
    EPSILONS,
    PLAIN,
    SWEPT_DEPTHS,
    SWEPT_EPSILONS,
    SWEPT_SHARES,
    TIMED,
    TWIN,
    VARIANTS,
    WRITTEN,
    Variant,
)
from redveil_research.experiments.paper.pooled import (
    LEAST,
    LIMIT,
    Floats,
    Pool,
    Pooled,
    column,
    differences,
    share,
)
from redveil_research.experiments.runs import Run

DRAWS: Final = 1_000_000
SCALE: Final = 160.0
# How many terms, and how far from 0: the paper's bound for a depth, then √2·λ of exact counts.
BOUNDS: Final = ((15, (1810.0, math.sqrt(2) * 2720)), (63, (7241.0, math.sqrt(2) * 10400)))


# The heads of columns with the paper's beside ours, and with all of ours.
BESIDE: Final = tuple(head for variant in PLAIN for head in (variant.name, "paper"))
NAMES: Final = tuple(variant.name for variant in ALL)


def far_sums(draws: int) -> list[tuple[int, float, int]]:
    """Return how many sums of so many terms lie beyond each bound.

    >>> [(terms, round(bound)) for terms, bound, _ in far_sums(10)]
    [(15, 1810), (15, 3847), (63, 7241), (63, 14708)]
    """
    # Always the same, so that the page is.
    source = np.random.default_rng(20221213)
    found = []
    for terms, bounds in BOUNDS:
        sums = np.zeros(draws)
        for _ in range(terms):
            sums += source.laplace(0, SCALE, draws)
        found += [(terms, bound, int((np.abs(sums) > bound).sum())) for bound in bounds]
    return found


def data_sets(pool: Pool) -> Table:
    """Table 1: properties of the data sets."""
    theirs = numbers.numbers()["datasets"]
    rows = []
    for name, known in pool.known.items():
        paper = numbers.THEIR_DATA.get(name, name)
        their = theirs.get("CMS-2-k" if paper.startswith("CMS-2-") else paper, {})
        their_rows = str(their.get("rows", NONE)).replace("*k", "·k")
        rows.append(
            (name, paper, f"{known.rows:,}", their_rows, f"{known.left}", their.get("left", NONE),
             f"{known.right}", their.get("right", NONE))
        )  # fmt: skip
    heads = ("ours", "paper's", "rows", "paper", "left", "paper", "right", "paper")
    return Table(heads, rows, texts=2)


def parameters(pool: Pool) -> Table:
    """Table 6: parameters; ours are the same, but for a second depth."""
    rows = [
        (name, "10000", "0.005", "3 and 4", "20" if known.large else "4", "0.1", "1", "0.01", "0.1",
         "100" if known.large else "10", "0.8", f"{known.prune:,}")
        for name, known in pool.known.items()
    ]  # fmt: skip
    heads = ("data", "MCIter", "σ", "d", "InTr", "ω", "ε", "Γ.p_val", "Γ.minJ", "Γ.minSupp",
             "Γ.maxSupp", "threshold")  # fmt: skip
    return Table(heads, rows)


def correlations(pool: Pool) -> Table:
    """Spearman's rank correlation of noisy and true Jaccard indices, at ε = 1."""
    rows = []
    for data in pool.subjects:
        cells = [data]
        for variant in (*PLAIN, TWIN):
            kept = pool.take(data, variant, "1").kept
            found = spearman(column(kept, "noisy"), column(kept, "true"))
            told = f"{found[0]:.2f} (p {_p(found[1])}, {len(kept)})" if found else None
            cells.append(told or f"{NONE} ({len(kept)})")
            if variant is not TWIN:
                theirs = numbers.spearman(data, variant.name)
                cells.append(f"{theirs[0]} (p {theirs[1]})" if theirs else NONE)
        rows.append(cells)
    return Table(("data", *BESIDE, TWIN.name), rows)


def significance(pool: Pool) -> Table:
    """Percentage of significant redescriptions: six variants, three ε, two depths."""
    rows = []
    for epsilon in EPSILONS:
        for variant in ALL:
            cells = [epsilon, variant.name]
            for data in pool.subjects:
                theirs = numbers.significant(data, variant.name, epsilon)
                cells += [
                    _percent(pool.take(data, variant, epsilon, BUILT)),
                    _percent(pool.take(data, variant, epsilon, WRITTEN))
                    if variant is not TWIN
                    else "",
                    _percent(pool.take(data, variant, epsilon, BUILT), LEAST),
                    NONE if theirs is None else f"{theirs:g}",
                ]
            rows.append(cells)
    heads = ["ε", "variant"]
    for data in pool.subjects:
        heads += [f"{data}, d = 3", "d = 4", "d = 3, true J ≥ 0.1", "paper"]
    return Table(tuple(heads), rows, texts=2)


def _percent(pooled: Pooled, least: float = 0.0) -> str:
    value = pooled.significant(least)
    counted = sum(one.true >= least for one in pooled.kept)
    return NONE if math.isnan(value) else f"{100 * value:.1f} ({counted})"


def at_their_best(pool: Pool) -> Table:
    """Tell what the variants would list with the best threshold and depth, chosen by the truth."""
    rows = []
    for data in pool.subjects:
        for epsilon in EPSILONS:
            cells = [data, epsilon]
            for variant in VARIANTS:
                found = [
                    (*best_threshold(pooled), depth, pooled)
                    for depth in (BUILT, WRITTEN)
                    if (pooled := pool.take(data, variant, epsilon, depth)).runs
                ]
                if not found:
                    cells.append(NONE)
                    continue
                net, threshold, depth, pooled = max(found, key=lambda one: one[0])
                kept = [one for one in pooled.findings if one.noisy_support >= threshold]
                good = share(one.p_value <= LIMIT for one in kept)
                told = f"{100 * good:.0f} % of {len(kept) / len(pooled.runs):.1f}"
                cells.append(f"{told} (d {depth}, {threshold:,.0f})" if net > 0 else "nothing")
            rows.append([*cells, _as_listed(pool.take(data, TWIN, epsilon))])
    return Table(("data", "ε", *NAMES), rows)


def _as_listed(pooled: Pooled) -> str:
    """Return the share of significant ones in whole lists, and how long these are."""
    if not pooled.kept:
        return "nothing" if pooled.runs else NONE
    return f"{100 * pooled.significant():.0f} % of {len(pooled.kept) / len(pooled.runs):.1f}"


def best_threshold(pooled: Pooled) -> tuple[float, float]:
    """Return the most by which significant findings outnumber others, per run, and from where on.

    >>> from redveil_research.experiments.runs import Finding
    >>> points = ((900, 0.0), (700, 1.0), (500, 0.0))
    >>> found = tuple(Finding(0.5, support, 0.4, p) for support, p in points)
    >>> best_threshold(Pooled((), found, 0))
    (1.0, 900.0)
    """
    if not pooled.findings:
        return 0.0, 0.0
    supports = column(pooled.findings, "noisy_support")
    order = np.argsort(-supports, kind="stable")
    good = column(pooled.findings, "p_value")[order] <= LIMIT
    net = np.cumsum(np.where(good, 1, -1)) / max(len(pooled.runs), 1)
    best = int(net.argmax())
    return float(net[best]), float(supports[order][best])


def tests_of_index(pool: Pool) -> Table:
    """Test whether the best variant's true Jaccard indices are larger (Mann–Whitney)."""
    return _mann_whitney(pool, "jaccard", lambda pooled: column(pooled.kept, "true"), larger=True)


def tests_of_difference(pool: Pool) -> Table:
    """Test whether the best variant's indices have smaller errors (Mann–Whitney)."""
    return _mann_whitney(
        pool, "abs_difference", lambda pooled: differences(pooled.kept), larger=False
    )


def _mann_whitney(
    pool: Pool, measure: str, values: Callable[[Pooled], Floats], *, larger: bool
) -> Table:
    rows = []
    for data in pool.subjects:
        for epsilon in EPSILONS:
            for stable in (False, True):
                alternations = [v for v in VARIANTS if v.stable == stable and v.code[0] != "M"]
                pairs = [v for v in VARIANTS if v.code in ("M", "Mb")]
                named = {v.code.rstrip("s"): values(pool.take(data, v, epsilon))
                         for v in (*alternations, *pairs)}  # fmt: skip
                theirs = numbers.mann_whitney(data, epsilon, measure, stable=stable)
                twin = values(pool.take(data, TWIN, epsilon))
                rows.append(
                    (data, epsilon, "yes" if stable else "no", best_against(named, larger=larger),
                     theirs or NONE, f"{np.median(twin):.2f}" if twin.size else NONE)
                )  # fmt: skip
    word = "J" if larger else "ΔJ"
    heads = ("data", "ε", "stable", "best; p against the others", "paper", f"twin: median {word}")
    return Table(heads, rows, texts=5)


def best_against(named: dict[str, Floats], *, larger: bool) -> str:
    """Return the variant with the best median, and one-sided p-values against the others.

    >>> best_against({"S": np.array([0.5, 0.6, 0.7]), "M": np.array([0.1, 0.2])}, larger=True)
    'S 0.60; M 0.074'
    """
    there = {name: found for name, found in named.items() if found.size}
    if not there:
        return NONE
    choose = max if larger else min
    best = choose(there, key=lambda name: float(np.median(there[name])))
    against = [
        f"{name} {_p(mann_whitney(there[best], found, larger=larger))}"
        for name, found in there.items()
        if name != best
    ]
    return f"{best} {np.median(there[best]):.2f}; {', '.join(against)}"


def _p(value: float) -> str:
    """Return a p-value as the paper prints them."""
    if value < 2.2e-16:
        return "<2.2e-16"
    return f"{value:.2g}"


def successes(pool: Pool) -> Table:
    """Count runs that return at least one redescription."""
    rows = []
    for data in pool.subjects:
        for epsilon in ("0.1", "0.01"):
            cells = [data, epsilon]
            for variant in PLAIN:
                pooled = pool.take(data, variant, epsilon)
                theirs = numbers.successful(data, variant.name, epsilon)
                cells += [f"{pooled.successes}/{len(pooled.runs)}", theirs or NONE]
            twin = pool.take(data, TWIN, epsilon)
            rows.append([*cells, f"{twin.successes}/{len(twin.runs)}"])
    return Table(("data", "ε", *BESIDE, TWIN.name), rows)


def convergence(pool: Pool) -> Table:
    """Mean and standard deviation of a walk's scores at two ε, and which are larger."""
    rows = []
    found = walks(pool)
    for run in found:
        mean, deviation = moments(run)
        paper = numbers.walked(run.epsilon)
        rows.append(
            (run.epsilon, f"{mean:.3f} ± {deviation:.3f}", f"{paper[0]} ± {paper[1]:.3f}",
             f"{deviation**2:.4f}", *(_larger(*found) if run is found[0] else ("", "")))
        )  # fmt: skip
    return Table(("ε", "score", "paper", "variance", "p that it is larger", "paper"), rows)


def _larger(high: Run, low: Run | None = None) -> tuple[str, str]:
    """Return the one-sided p-value of scores at the larger ε, and the paper's."""
    if low is None:
        return NONE, NONE
    first, second = (np.repeat(_middles(run), run.histogram) for run in (high, low))
    return _p(mann_whitney(first, second, larger=True)), "<2e-16"


def walks(pool: Pool) -> list[Run]:
    """Return the watched walks, the larger ε first; of each ε the last."""
    found = {run.epsilon: run for run in pool.runs if run.histogram}
    return sorted(found.values(), key=lambda run: -float(run.epsilon))


def moments(run: Run) -> tuple[float, float]:
    """Return mean and standard deviation of a walk's scores, from their histogram."""
    counts, middles = np.array(run.histogram, dtype=np.float64), _middles(run)
    mean = float(np.average(middles, weights=counts))
    return mean, float(np.sqrt(np.average((middles - mean) ** 2, weights=counts)))


def _middles(run: Run) -> Floats:
    """Return the middles of a histogram's bins, from 0 to 1."""
    return np.asarray((np.arange(len(run.histogram)) + 0.5) / len(run.histogram))


def laplace_sums(_pool: Pool) -> Table:
    """Appendix C: how often sums of Laplace noise are far from 0, in a million samples."""
    theirs = numbers.numbers()["laplace_sum_simulation"]
    keys = ("Laplace(0,160) sum of 15 beyond 1810", "beyond sqrt(2)*2720", "sum of 63 beyond 7241",
            "beyond sqrt(2)*10400")  # fmt: skip
    rows = [
        (f"{terms}", f"{bound:,.0f}", f"{count:,}", f"{theirs[key]:,}")
        for key, (terms, bound, count) in zip(keys, far_sums(DRAWS), strict=True)
    ]
    return Table(("terms", "beyond", "of 1,000,000", "paper"), rows, texts=0)


def runtimes(pool: Pool) -> Table:
    """CPU seconds by data size, with standard deviations."""
    rows = []
    for name, known in pool.timed.items():
        cells = [name, f"{known:,}"]
        for variant in TIMED:
            cpu = [run.cpu for run in pool.take(name, variant, "1").runs]
            spread = f" ± {np.std(cpu):.2f}" if len(cpu) > 1 else ""
            cells.append(f"{np.mean(cpu):.2f}{spread}" if cpu else NONE)
        rows.append(cells)
    return Table(("data", "rows", *(variant.name for variant in TIMED)), rows)


def worths(pool: Pool) -> Table:
    """Tell what the lists are worth to a reader, pruned as in the paper; ours beside them."""

    def cell(data: str, epsilon: str, variant: Variant) -> str:
        runs = pool.take(data, variant, epsilon).runs
        if not runs:
            return NONE
        listed = np.mean([run.found for run in runs])
        return f"{np.mean([run.worth for run in runs]):.2f} ({listed:.1f})"

    rows = [
        (data, epsilon, *(cell(data, epsilon, variant) for variant in ALL))
        for data in pool.subjects
        for epsilon in EPSILONS
    ]
    return Table(("data", "ε", *NAMES), rows)


SWEPT: Final = (TWIN, VARIANTS[1], VARIANTS[0], VARIANTS[4])


def epsilons(pool: Pool) -> Table:
    """Sweep over ε on MAMMAL: significant ones, median true J and error."""
    rows = [
        (epsilon, *(_point(pool.take("MAMMAL", variant, epsilon)) for variant in SWEPT))
        for epsilon in SWEPT_EPSILONS
    ]
    return Table(("ε", *(variant.name for variant in SWEPT)), rows)


def depths(pool: Pool) -> Table:
    """Sweep over the depth on MAMMAL, at ε = 1."""
    plain: tuple[Variant, ...] = SWEPT[1:]
    rows = []
    for depth in SWEPT_DEPTHS:
        # By itself `twin` sets its depth from the noisy number of entities.
        twin = pool.take("MAMMAL", f"{TWIN.base}@{depth}", "1")
        others = [pool.take("MAMMAL", variant, "1", depth) for variant in plain]
        rows.append((f"{depth}", _point(twin), *map(_point, others)))
    return Table(("d", *(variant.name for variant in SWEPT)), rows)


def shares(pool: Pool) -> Table:
    """Sweep over ω, the share of ε for the trees, on MAMMAL, at ε = 1."""
    names = f"tree-pair~{{}}@{BUILT}", "twin~{}"
    rows = [
        (part, *(_point(pool.take("MAMMAL", name.format(part), "1")) for name in names))
        for part in SWEPT_SHARES
    ]
    return Table(("ω", "MCMCTreePair", "twin"), rows)


def _point(pooled: Pooled) -> str:
    kept = pooled.kept
    if not kept:
        return NONE
    true, wrong = np.median(column(kept, "true")), np.median(differences(kept))
    return f"{100 * pooled.significant():.0f} %, {true:.2f} ± {wrong:.2f} ({len(kept)})"
