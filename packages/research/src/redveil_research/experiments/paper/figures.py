"""The paper's figures, drawn from pooled runs: SVG files whose text stays text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from redveil_research.experiments.paper.agenda import (
    ALL,
    BASELINES,
    PLAIN,
    TIMED,
    TWIN,
    Variant,
    by_name,
)
from redveil_research.experiments.paper.pooled import LIMIT, Pool, Pooled, column, differences
from redveil_research.experiments.paper.tables import SWEPT, moments, walks

SIGNIFICANT, INSIGNIFICANT, PRUNED = "#2a8fbd", "#123a5c", "#c3c9cd"
SPLIT_TREES, LAYERED_TREES = "#7a8f3c", "#c9a227"
INK, MUTED, OURS = "#1b2328", "#5c6870", "#c14f37"
COLOURS: Final = {
    "AltMCMC": "#1f6f8b",
    "AltExpM": "#b0781f",
    "MCMCTreePair": "#56457f",
    "AltMCMC S": "#7fb2c4",
    "AltExpM S": "#d9bd86",
    "MCMCTreePair b": "#a79cc2",
    "twin": OURS,
}
SETTINGS: Final[dict[Any, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "redveil",
    "font.family": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.labelcolor": INK,
    "text.color": INK,
    "axes.edgecolor": "#b8c4ca",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
}
# The most points of one panel; more of them would make a heavy file and no other picture.
MOST_POINTS: Final = 600


@contextmanager
def style() -> Iterator[None]:
    """Draw with these settings, whatever those of the caller are."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        yield


class Sheet:
    """A figure with rows and columns of panels; to be drawn within `style`."""

    def __init__(self, rows: int, columns: int, width: float, height: float, **shared: Any) -> None:
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(width, height), layout="constrained")
        self.panels = self.figure.subplots(rows, columns, squeeze=False, **shared)

    def save(self, path: Path) -> None:
        """Write the figure; the same figure is the same file."""
        metadata = {"Date": None} if path.suffix == ".svg" else None
        self.figure.savefig(path, dpi=150, metadata=metadata)


def scatter(pool: Pool, path: Path) -> None:
    """Draw noisy against true Jaccard indices, ε = 1: pruned, insignificant, significant."""
    data, variants = pool.subjects, (*PLAIN, TWIN)
    sheet = Sheet(len(variants), len(data), 2.1 * len(data) + 0.4, 2.0 * len(variants) + 0.5,
                  sharex=True, sharey=True)  # fmt: skip
    for row, variant in enumerate(variants):
        for place, name in enumerate(data):
            panel = sheet.panels[row, place]
            pooled = pool.take(name, variant, "1")
            panel.plot([0, 1], [0, 1], color="#d9dfe2", lw=0.8, zorder=0)
            for findings, style in _parts(pooled):
                shown = thinned(len(findings))
                panel.scatter(column(findings, "true")[shown], column(findings, "noisy")[shown],
                              **style)  # fmt: skip
            panel.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
            if row == 0:
                panel.set_title(name)
            if place == 0:
                panel.set_ylabel(f"{variant.name}\nreported J")
        for panel in sheet.panels[-1]:
            panel.set_xlabel("true J")
    _legend(sheet, ("significant", SIGNIFICANT, "o"), ("insignificant", INSIGNIFICANT, "o"),
            ("pruned", PRUNED, "D"))  # fmt: skip
    sheet.save(path)


def thinned(count: int) -> Any:
    """Return which of so many points to draw: all, or evenly spaced ones.

    >>> len(thinned(5)), len(thinned(10**6)) <= MOST_POINTS
    (5, True)
    """
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MOST_POINTS).astype(int))


def _parts(pooled: Pooled) -> list[tuple[list[Any], dict[str, Any]]]:
    good = [one for one in pooled.kept if one.p_value <= LIMIT]
    bad = [one for one in pooled.kept if one.p_value > LIMIT]
    dots = {"s": 9, "linewidths": 0, "alpha": 0.8}
    return [
        (list(pooled.pruned), {"s": 7, "marker": "D", "color": PRUNED, "linewidths": 0}),
        (bad, {"color": INSIGNIFICANT, **dots}),
        (good, {"color": SIGNIFICANT, **dots}),
    ]


def _legend(sheet: Sheet, *entries: tuple[str, str, str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, ls="" if marker else "-", ms=4, label=label)
        for label, colour, marker in entries
    ]
    sheet.figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def histograms(pool: Pool, path: Path) -> None:
    """Draw the distribution of true Jaccard indices, ε = 1, above that of the baselines."""
    data, variants = pool.subjects, (*PLAIN, TWIN)
    rows = len(variants) + 1
    sheet = Sheet(rows, len(data), 2.3 * len(data) + 0.4, 1.35 * rows + 0.6, sharex=True)
    bins = np.linspace(0, 1, 11)
    for place, name in enumerate(data):
        for row, variant in enumerate(variants):
            panel = sheet.panels[row, place]
            pooled = pool.take(name, variant, "1")
            parts = _parts(pooled)
            panel.hist([column(found, "true") for found, _ in reversed(parts)], bins, stacked=True,
                       color=[SIGNIFICANT, INSIGNIFICANT, PRUNED], rwidth=0.9)  # fmt: skip
            panel.margins(y=0.28)
            panel.yaxis.get_major_locator().set_params(integer=True, nbins=4)
            zero = int((column(pooled.findings, "true") < 0.005).sum())
            if zero:
                panel.text(0.02, 0.97, f"{zero} at 0", transform=panel.transAxes, va="top",
                           fontsize=7, color=MUTED)  # fmt: skip
            counts = f"{len(parts[2][0])} / {len(parts[1][0])} / {len(parts[0][0])}"
            panel.text(0.98, 0.97, counts, transform=panel.transAxes, ha="right", va="top",
                       fontsize=7)  # fmt: skip
            if place == 0:
                panel.set_ylabel(variant.name)
            if row == 0:
                panel.set_title(name, pad=8)
        _baseline_panel(sheet.panels[-1, place], pool, name, bins, first=place == 0)
    private = ("significant", SIGNIFICANT, "s"), ("insignificant", INSIGNIFICANT, "s")
    others = ("SplitT", SPLIT_TREES, "s"), ("LayeredT", LAYERED_TREES, "s")
    _legend(sheet, *private, ("pruned", PRUNED, "s"), *others)
    sheet.save(path)


def _baseline_panel(panel: Any, pool: Pool, name: str, bins: Any, *, first: bool) -> None:
    """Draw the redescriptions of both baselines side by side, insignificant ones on top in grey."""
    least = smallest_kept(pool.take(name, by_name("MCMCTreePair"), "1"))
    width = (bins[1] - bins[0]) * 0.45
    told, highest = [], 1
    for place, (method, colour) in enumerate(
        zip(BASELINES, (SPLIT_TREES, LAYERED_TREES), strict=True)
    ):
        found = [o for o in pool.take(name, method, "").findings if o.noisy_support >= least]
        good = [one for one in found if one.p_value <= LIMIT]
        bad = [one for one in found if one.p_value > LIMIT]
        heights, others = (np.histogram(column(some, "true"), bins)[0] for some in (good, bad))
        lefts = bins[:-1] + (bins[1] - bins[0]) * 0.05 + place * width
        panel.bar(lefts, heights, width, align="edge", color=colour)
        panel.bar(lefts, others, width, bottom=heights, align="edge", color=PRUNED)
        told.append(f"{len(good)} + {len(bad)}" if bad else f"{len(good)}")
        highest = max(highest, int((heights + others).max()))
    panel.set_ylim(0, 1.28 * highest)
    panel.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    panel.text(0.02, 0.97, " / ".join(told), transform=panel.transAxes, va="top", fontsize=7)
    panel.set_xlabel("true J")
    if first:
        panel.set_ylabel("baselines")


def smallest_kept(pooled: Pooled) -> float:
    """Return the smallest reported support that is not pruned; baselines are held against it.

    >>> smallest_kept(Pooled((), (), 500))
    500
    """
    return min((one.noisy_support for one in pooled.kept), default=pooled.threshold)


def boxes(pool: Pool, epsilon: str, measure: str, path: Path) -> None:
    """Draw box plots of true J, or of its error, of significant redescriptions that are kept."""
    data = pool.subjects
    sheet = Sheet(1, len(data), 2.5 * len(data) + 0.4, 2.4, sharey=True)
    for panel, name in zip(sheet.panels[0], data, strict=True):
        for place, variant in enumerate(ALL):
            kept = [o for o in pool.take(name, variant, epsilon).kept if o.p_value <= LIMIT]
            values = column(kept, "true") if measure == "J" else differences(kept)
            colour = COLOURS[variant.name]
            if values.size:
                panel.boxplot(
                    [values], positions=[place], widths=0.65, patch_artist=True,
                    boxprops={"facecolor": colour, "alpha": 0.55, "edgecolor": colour},
                    medianprops={"color": INK}, whiskerprops={"color": colour},
                    capprops={"color": colour},
                    flierprops={"marker": ".", "ms": 2, "markeredgecolor": colour},
                )  # fmt: skip
            panel.text(place, 1.03, f"{values.size}", ha="center", fontsize=7, color=MUTED)
        panel.set(title=name, ylim=(-0.03, 1.1))
        panel.set_xticks(range(len(ALL)), [variant.code for variant in ALL])
    sheet.panels[0, 0].set_ylabel("true J" if measure == "J" else "|reported J − true J|")
    sheet.save(path)


def convergence(pool: Pool, path: Path) -> None:
    """Draw the scores of a walk at two ε, and their histograms between them."""
    found = walks(pool)
    sheet = Sheet(1, 3, 7.2, 2.3)
    left, middle, right = sheet.panels[0]
    colours = (COLOURS["AltMCMC"], OURS)
    for panel, run, colour in zip((left, right), found, colours, strict=False):
        scores = np.array(run.scores).reshape(3, -1)
        for part, shade in zip(scores, (0.35, 0.65, 1.0), strict=True):
            panel.plot(part, color=colour, alpha=shade, lw=0.6)
        panel.set(title=f"ε = {run.epsilon}", xlabel="step of 1,000", ylim=(0, 1))
    left.set_ylabel("score of the pair")
    for run, colour in zip(found, colours, strict=False):
        counts = np.array(run.histogram, dtype=np.float64)
        places = (np.arange(counts.size) + 0.5) / counts.size
        mean, _ = moments(run)
        middle.plot(places, counts / counts.sum() * counts.size, color=colour, lw=1.1,
                    label=f"ε = {run.epsilon}, mean {mean:.3f}")  # fmt: skip
    middle.set(xlabel="score", ylabel="density", title="all 100,000 steps")
    if found:
        highest = max(max(run.histogram) / sum(run.histogram) for run in found)
        middle.set_ylim(0, 1.45 * highest * len(found[0].histogram))
        middle.legend(fontsize=7, loc="upper left")
    sheet.save(path)


def runtimes(pool: Pool, path: Path) -> None:
    """Draw CPU seconds against rows: a panel for each variant, then all of them together.

    Shaded: one standard deviation on either side.
    """
    variants = [one for one in TIMED if one is not TWIN]
    sheet = Sheet(2, 3, 7.2, 4.4, sharex=True)
    *single, together = sheet.panels.ravel()
    for panel, variant in zip(single, variants, strict=True):
        _runtime(panel, pool, variant)
        panel.set(title=variant.name, ylim=(0, None))
    for variant in TIMED:
        _runtime(together, pool, variant)
    together.set(title="all, and twin", ylim=(0, None))
    for panel in sheet.panels[:, 0]:
        panel.set_ylabel("CPU seconds")
    sizes = list(pool.timed.values())
    for panel in sheet.panels[-1]:
        panel.set(xlabel="rows", xscale="log")
        panel.set_xticks(sizes, [f"{rows:,}" for rows in sizes])
        panel.minorticks_off()
    _legend(sheet, *((one.name, COLOURS[one.name], "o") for one in TIMED))
    sheet.save(path)


def _runtime(panel: Any, pool: Pool, variant: Variant) -> None:
    """Draw the times of one variant."""
    found = [
        (rows, [run.cpu for run in pool.take(name, variant, "1").runs])
        for name, rows in pool.timed.items()
    ]
    points = [(rows, cpu) for rows, cpu in found if cpu]
    sizes = [rows for rows, _ in points]
    means = np.array([np.mean(cpu) for _, cpu in points])
    spread = np.array([np.std(cpu) for _, cpu in points])
    colour, style = COLOURS[variant.name], "--" if variant.stable else "-"
    panel.plot(sizes, means, style, color=colour, marker="o", ms=3)
    panel.fill_between(sizes, np.maximum(means - spread, 1e-3), means + spread, color=colour,
                       alpha=0.2, lw=0)  # fmt: skip


def laplace(_pool: Pool, path: Path) -> None:
    """Draw the densities of Laplace noise with and without exact negations (appendix C)."""
    sheet = Sheet(1, 2, 6.4, 2.4)
    for panel, width in zip(sheet.panels[0], (12_000, 2_000), strict=True):
        places = np.linspace(-width, width, 1201)
        for scale, colour, style, label in (
            (160, COLOURS["AltMCMC"], "-", "λ = 160: heuristic, any depth"),
            (2720, COLOURS["AltExpM"], "--", "λ = 2,720: exact, depth 4"),
            (10400, COLOURS["MCMCTreePair"], ":", "λ = 10,400: exact, depth 6"),
        ):
            density = np.exp(-np.abs(places) / scale) / (2 * scale)
            panel.plot(places, density, style, color=colour, lw=1.2, label=label)
        panel.set(xlabel="noise", ylabel="density")
    sheet.panels[0, 1].set(ylim=(0, 0.0006), title="enlarged")
    sheet.panels[0, 0].set(ylim=(0, 0.0052), title="whole")
    sheet.panels[0, 0].legend(fontsize=6.5, loc="upper right")
    sheet.save(path)


def sweep(pool: Pool, values: Sequence[str], path: Path) -> None:
    """Draw the median true J and the share of significant ones against ε, on MAMMAL."""
    sheet = Sheet(1, 2, 6.8, 2.6)
    for variant in SWEPT:
        pooled = [pool.take("MAMMAL", variant, epsilon) for epsilon in values]
        there = [(float(e), p) for e, p in zip(values, pooled, strict=True) if p.kept]
        _sweep_line(sheet, variant, there)
    left, right = sheet.panels[0]
    left.set(xscale="log", xlabel="ε", ylabel="median true J", ylim=(0, 1.02))
    right.set(xscale="log", xlabel="ε", ylabel="significant", ylim=(0, 1.05))
    for panel in (left, right):
        panel.set_xticks([float(e) for e in values], list(values))
        panel.minorticks_off()
    right.legend(fontsize=7, loc="lower right")
    sheet.save(path)


def _sweep_line(sheet: Sheet, variant: Variant, points: list[tuple[float, Pooled]]) -> None:
    places = [place for place, _ in points]
    style: dict[str, Any] = {"color": COLOURS[variant.name], "marker": "o", "ms": 3}
    median = [float(np.median(column(pooled.kept, "true"))) for _, pooled in points]
    sheet.panels[0, 0].plot(places, median, **style)
    shares = [pooled.significant() for _, pooled in points]
    sheet.panels[0, 1].plot(places, shares, label=variant.name, **style)
