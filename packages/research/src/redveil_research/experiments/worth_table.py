"""The table of lists by worth: runs summarised by row, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from redveil_research.experiments.judging import SIGNIFICANT
from redveil_research.experiments.runs import RowKey, Run, latest
from redveil_research.experiments.worth_targets import target_of

LARGER_HALF = 0.5
COLUMNS = (
    ("data", "---"),
    ("ε", "---:"),
    ("algorithm", "---"),
    ("runs", "---:"),
    ("empty", "---:"),
    ("worth", "---:"),
    ("first release", "---:"),
    ("target", "---:"),
    ("found", "---:"),
    ("confirmed", "---:"),
    ("larger halves", "---:"),
    ("significant", "---:"),
    ("J in interval", "---:"),
    ("width", "---:"),
    ("p within bound", "---:"),
    ("J", "---:"),
    ("corrected", "---:"),
    ("literals", "---:"),
    ("CPU s", "---:"),
)
LEGEND = """\
*worth* is the mean of the runs with its standard error, an empty list being worth 0: the sum over a
list of corrected J × novelty × 0.99^literals, less 1 for every entry whose true p-value (Fisher,
one-sided) is above 0.01. *first release* and *target* are about the default alone. *found* is a
mean per run. The others are about all redescriptions of a row's runs. Shares: *confirmed* by the
list itself; *larger halves*, of which a query covers more than half of the entities;
*significant*, with a true p-value of at most 0.01; *J in interval*, whose true J lies in the
reported interval; *p within bound*, whose true p-value is at most the reported one. Medians:
*width* of that interval, true *J*, *corrected* J and *literals*. *CPU s* is the median per run.
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """One row of the table. Shares lie between 0 and 1; NaN where nothing was found.

    worth: its mean and the standard error of that, NaN for a single run

    >>> summarise([Run("a", "twin", "1", 1, "x", 0.5, 0.4)]).empty
    1
    """

    data: str
    algorithm: str
    epsilon: str
    runs: int
    empty: int
    worth: tuple[float, float]
    found: float
    confirmed: float
    larger: float
    significant: float
    inside: float
    width: float
    p_within_bound: float
    jaccard: float
    corrected: float
    literals: float
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


def summarise(runs: Sequence[Run]) -> Summary:
    """Summarise the pooled runs of one row.

    >>> run = Run("a", "twin", "1", 1, "x", 0.5, 0.4, jaccard=(0.5,), corrected=(0.4,),
    ...           p_value=(0.0,), novelty=(1.0,), literals=(2,), share=(0.6,), low=(0.4,),
    ...           high=(0.55,), p_bound=(0.1,), confirmed=(True,))
    >>> summarise([run]).inside, summarise([run]).larger
    (1.0, 1.0)
    """

    def pooled(name: str) -> np.ndarray:
        return np.array([x for run in runs for x in getattr(run, name)], dtype=np.float64)

    true, low, high, p = (pooled(name) for name in ("jaccard", "low", "high", "p_value"))
    return Summary(
        *runs[0].row,
        runs=len(runs),
        empty=sum(run.found == 0 for run in runs),
        worth=mean_and_error([run.worth for run in runs]),
        found=float(np.mean([run.found for run in runs])),
        confirmed=_mean(pooled("confirmed")),
        larger=_mean(pooled("share") > LARGER_HALF),
        significant=_mean(p <= SIGNIFICANT),
        inside=_mean((low <= true) & (true <= high)),
        width=_median(high - low),
        p_within_bound=_mean(p <= pooled("p_bound")),
        jaccard=_median(true),
        corrected=_median(pooled("corrected")),
        literals=_median(pooled("literals")),
        cpu=_median(np.array([run.cpu for run in runs])),
    )


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error, NaN for a single value.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0)
    """
    error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(np.mean(values)), float(error)


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
    | a | 1 | twin | 1 | 1 | 0.00 | – | – | 0.0 | – | – | – | – | – | – | – | – | – | 0.40 |
    """
    head = "| " + " | ".join(name for name, _ in COLUMNS) + " |"
    rule = "| " + " | ".join(line for _, line in COLUMNS) + " |"
    rows = ["| " + " | ".join(_texts(one)) + " |" for one in summaries]
    return "\n".join([LEGEND, head, rule, *rows]) + "\n"


def _texts(one: Summary) -> list[str]:
    """Return the texts of a row, – for missing values."""
    known = target_of(one.data, one.algorithm, one.epsilon)
    mean, error = one.worth
    return [
        one.data,
        one.epsilon,
        one.algorithm,
        str(one.runs),
        str(one.empty),
        f"{mean:.2f}" if math.isnan(error) else f"{mean:.2f} ± {error:.2f}",
        f"{known.first:.2f}" if known else "–",
        f"{known.target:.2f}" if known else "–",
        f"{one.found:.1f}",
        shown(100 * one.confirmed, ".1f", " %"),
        shown(100 * one.larger, ".1f", " %"),
        shown(100 * one.significant, ".1f", " %"),
        shown(100 * one.inside, ".1f", " %"),
        shown(one.width, ".2f"),
        shown(100 * one.p_within_bound, ".1f", " %"),
        shown(one.jaccard, ".2f"),
        shown(one.corrected, ".2f"),
        shown(one.literals, "g"),
        f"{one.cpu:.2f}",
    ]


def shown(value: float, how: str, unit: str = "") -> str:
    """Return a number as text, – if there is none.

    >>> shown(math.nan, ".2f")
    '–'
    """
    return "–" if math.isnan(value) else f"{value:{how}}{unit}"
