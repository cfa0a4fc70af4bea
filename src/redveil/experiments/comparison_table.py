"""The table of the comparison: runs summarised by row, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from redveil.experiments.runs import RowKey, Run

SIGNIFICANT = 0.01
COLUMNS = (
    ("data", "---"),
    ("ε", "---:"),
    ("algorithm", "---"),
    ("runs", "---:"),
    ("empty", "---:"),
    ("found per run", "---:"),
    ("distinct", "---:"),
    ("significant", "---:"),
    ("J median", "---:"),
    ("J 90 %", "---:"),
    ("abs. ΔJ", "---:"),
    ("J in interval", "---:"),
    ("width", "---:"),
    ("p within bound", "---:"),
    ("seconds", "---:"),
    ("CPU s", "---:"),
)
LEGEND = """\
Over all redescriptions of a row's runs: *significant*, the share with a true p-value of at most
0.01; *J*, the true Jaccard index, its median and 90 % quantile; *abs. ΔJ*, the median absolute
difference of noisy and true J; *J in interval*, the share whose true J lies in the reported
interval, and *width*, the median width of that interval; *p within bound*, the share whose true
p-value is at most the reported one. *found per run* and *distinct* are means; *distinct* counts
different triples of true supports. *seconds* and *CPU s* are medians.
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """One row of the table. Shares lie between 0 and 1; NaN where nothing was found.

    >>> summarise([Run("a", "twin", "1", 1, "x", 0.5, 0.4)]).empty
    1
    """

    data: str
    algorithm: str
    epsilon: str
    runs: int
    empty: int
    found: float
    distinct: float
    significant: float
    jaccard: tuple[float, float, float]
    difference: float
    inside: float
    width: float
    p_within_bound: float
    seconds: float
    cpu: float


def summarise_all(runs: Iterable[Run]) -> list[Summary]:
    """Summarise every row. If its settings have changed, only runs with the latest ones count.

    >>> old, new = (Run("a", "twin", "1", 1, x, 0.5, 0.4) for x in ("old", "new"))
    >>> [(one.data, one.runs) for one in summarise_all([old, new])]
    [('a', 1)]
    """
    grouped: dict[RowKey, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.row, []).append(run)
    return [summarise(latest(group)) for group in grouped.values()]


def latest(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with the same settings as the last one, each number once.

    >>> latest([])
    []
    """
    kept = {run.number: run for run in runs if run.settings == runs[-1].settings}
    return list(kept.values())


def summarise(runs: Sequence[Run]) -> Summary:
    """Summarise the pooled runs of one row.

    >>> run = Run("a", "twin", "1", 1, "x", 0.5, 0.4, 1, (0.5,), (0.6,), (0.4,), (0.55,), (0.0,),
    ...           (0.1,))
    >>> summarise([run]).inside, summarise([run]).jaccard
    (1.0, (0.5, 0.5, 0.5))
    """
    true, noisy, low, high, true_p, bound = (
        np.concatenate([np.asarray(getattr(run, name), dtype=np.float64) for run in runs])
        for name in ("true", "noisy", "low", "high", "true_p", "p_bound")
    )
    low_j, median_j, high_j = (
        float(q) for q in (np.quantile(true, (0.1, 0.5, 0.9)) if true.size else (np.nan,) * 3)
    )
    return Summary(
        *runs[0].row,
        runs=len(runs),
        empty=sum(run.found == 0 for run in runs),
        found=float(np.mean([run.found for run in runs])),
        distinct=float(np.mean([run.distinct for run in runs])),
        significant=_mean(true_p <= SIGNIFICANT),
        jaccard=(low_j, median_j, high_j),
        difference=_median(np.abs(noisy - true)),
        inside=_mean((low <= true) & (true <= high)),
        width=_median(high - low),
        p_within_bound=_mean(true_p <= bound),
        seconds=_median(np.array([run.seconds for run in runs])),
        cpu=_median(np.array([run.cpu for run in runs])),
    )


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if values.size else math.nan


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else math.nan


def ordered(
    summaries: Iterable[Summary], data: Sequence[str], algorithms: Sequence[str]
) -> list[Summary]:
    """Sort rows in the given orders, other rows last, and by decreasing ε.

    >>> runs = [Run("a", "twin", e, 1, "x", 0.5, 0.4) for e in ("0.1", "1")]
    >>> [one.epsilon for one in ordered(summarise_all(runs), ["a"], ["twin"])]
    ['1', '0.1']
    """

    def place(names: Sequence[str], name: str) -> tuple[int, str]:
        return (names.index(name), "") if name in names else (len(names), name)

    return sorted(
        summaries,
        key=lambda one: (
            place(data, one.data),
            -Fraction(one.epsilon),
            place(algorithms, one.algorithm),
        ),
    )


def markdown(summaries: Iterable[Summary]) -> str:
    """Return the table with its legend.

    >>> print(markdown(summarise_all([Run("a", "twin", "1", 1, "x", 0.5, 0.4)])).splitlines()[-1])
    | a | 1 | twin | 1 | 1 | 0.0 | 0.0 | – | – | – | – | – | – | – | 0.50 | 0.40 |
    """
    head = "| " + " | ".join(name for name, _ in COLUMNS) + " |"
    rule = "| " + " | ".join(line for _, line in COLUMNS) + " |"
    rows = ["| " + " | ".join(_texts(one)) + " |" for one in summaries]
    return "\n".join([LEGEND, head, rule, *rows]) + "\n"


def _texts(one: Summary) -> list[str]:
    """Return the texts of a row, – for missing values."""
    return [
        one.data,
        one.epsilon,
        one.algorithm,
        str(one.runs),
        str(one.empty),
        f"{one.found:.1f}",
        f"{one.distinct:.1f}",
        _shown(100 * one.significant, ".1f", " %"),
        _shown(one.jaccard[1], ".2f"),
        _shown(one.jaccard[2], ".2f"),
        _shown(one.difference, ".3f"),
        _shown(100 * one.inside, ".1f", " %"),
        _shown(one.width, ".2f"),
        _shown(100 * one.p_within_bound, ".1f", " %"),
        f"{one.seconds:.2f}",
        f"{one.cpu:.2f}",
    ]


def _shown(value: float, how: str, unit: str = "") -> str:
    return "–" if math.isnan(value) else f"{value:{how}}{unit}"
