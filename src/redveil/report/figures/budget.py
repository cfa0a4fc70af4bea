"""What the privacy loss was spent on, as bars: in all, and for each trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from redveil.privacy.loss import amount
from redveil.privacy.plan import StepKind
from redveil.report.document import ResultDocument, StepPart
from redveil.report.figures.canvas import SMALL, Sheet
from redveil.report.figures.words import fitted, measured, promised
from redveil.report.palette import BOTH, FAINT, INK, LINE, MUTED, PAPER, lightness, mixed
from redveil.schema.view import plural

# In inches.
EDGE: Final = 0.12
WIDTH: Final = 6.4
BAR: Final = 0.3
ROW: Final = 0.24
LABEL: Final = 0.75
LINE_HEIGHT: Final = 0.2
# Beyond, rows would fill pages.
MOST_TRIALS: Final = 40

_WORDS: Final = {
    StepKind.START: "start",
    StepKind.TREE: "trees",
    StepKind.TREE_PAIR: "pairs of trees",
    StepKind.TWIN_TREES: "pairs of trees",
    StepKind.LEAF_TABLE: "leaf tables",
}
_COUNTED: Final = (StepKind.LEAF_TABLE, StepKind.SIZE)

Spent = Mapping[str, Fraction]


def budget(document: ResultDocument) -> Sheet:
    """Draw what each kind of step cost, in all and for each trial."""
    promise = document.certificate
    unit = "ρ" if promise.rho else "ε"
    whole = _by_kind(promise.steps, promise.unit)
    trials = sorted({step.trial for step in promise.steps if step.trial is not None})
    rows = trials if 1 < len(trials) <= MOST_TRIALS else []
    colours = _colours(promise.steps, promise.unit)
    top = 0.62
    legend = top + BAR + 0.2
    below = legend + LINE_HEIGHT * len(whole) + 0.25
    sheet = Sheet(WIDTH, below + ROW * len(rows) + (0.55 if rows else 0))
    price = promised(promise) + (
        f" (ρ = {float(Fraction(promise.rho)):.3g})" if promise.rho else ""
    )
    title = fitted(f"What {price} was spent on", WIDTH - 0.3, 9.5, lines=1)
    sheet.title(title, f"{len(promise.steps)} steps that add up exactly")
    _bar(sheet, (EDGE, top, WIDTH - 2 * EDGE, BAR), whole, sum(whole.values()), colours)
    _legend(sheet, legend, whole, colours, unit)
    if rows:
        by_trial = {
            trial: _by_kind([one for one in promise.steps if one.trial == trial], promise.unit)
            for trial in rows
        }
        _trials(sheet, below, by_trial, colours, unit)
    return sheet


def _name(step: StepPart, unit: str) -> str:
    if step.kind is StepKind.SIZE:
        return f"number of {plural(unit)}"
    if step.level is not None:
        return f"splits of level {step.level}"
    return _WORDS[step.kind]


def _by_kind(steps: Sequence[StepPart], unit: str) -> dict[str, Fraction]:
    """Return what was spent on each kind of step, in the order of a run, counts last."""
    spent: dict[str, Fraction] = {}
    for counted in (False, True):
        for step in steps:
            if (step.kind in _COUNTED) is counted:
                name = _name(step, unit)
                spent[name] = spent.get(name, Fraction(0)) + amount(step.price)
    # The number of entities is bought first, and is the least.
    return dict(sorted(spent.items(), key=lambda item: item[0] == f"number of {plural(unit)}"))


def _colours(steps: Sequence[StepPart], unit: str) -> dict[str, str]:
    """Return a colour for each kind: counts are violet and dark, choices grey by level."""
    counted = {_name(step, unit): step.kind for step in steps if step.kind in _COUNTED}
    greys = [name for name in _by_kind(steps, unit) if name not in counted]
    colours = {
        name: mixed("#4a6572", 0.75 - 0.5 * place / max(1, len(greys) - 1))
        for place, name in enumerate(greys)
    }
    for name, kind in counted.items():
        colours[name] = BOTH if kind is StepKind.LEAF_TABLE else "#23282c"
    return colours


def _bar(
    sheet: Sheet,
    box: tuple[float, float, float, float],
    spent: Spent,
    full: Fraction | int,
    colours: Mapping[str, str],
) -> None:
    """Draw parts beside each other, as wide as what they cost."""
    x, y, width, height = box
    for name, cost in spent.items():
        wide = width * float(cost / full)
        fill = colours[name]
        sheet.box((x, y), wide, height, fill, edge=PAPER, line=0.8)
        text = f"{float(100 * cost / full):.0f} %"
        if height >= BAR and wide > measured(text) + 0.1:
            colour = PAPER if lightness(fill) < 0.3 else INK
            sheet.text(x + wide / 2, y + height / 2, text, across="center", colour=colour)
        x += wide


def _legend(sheet: Sheet, top: float, spent: Spent, colours: Mapping[str, str], unit: str) -> None:
    """List what was bought, and for how much."""
    full = sum(spent.values())
    for number, (name, cost) in enumerate(spent.items()):
        y = top + LINE_HEIGHT * number
        sheet.box((EDGE, y - 0.05), 0.1, 0.1, colours[name])
        sheet.text(EDGE + 0.18, y, fitted(name, 3, lines=1))
        sheet.text(4.6, y, f"{float(100 * cost / full):.3g} %", across="right")
        text = f"{unit} = {float(cost):.3g}"
        sheet.text(WIDTH - EDGE, y, text, across="right", colour=MUTED)


def _trials(
    sheet: Sheet, top: float, trials: Mapping[int, Spent], colours: Mapping[str, str], unit: str
) -> None:
    """Draw a bar for each trial, on a scale in ε."""
    most = max(sum(spent.values(), Fraction(0)) for spent in trials.values())
    left, width = EDGE + LABEL, WIDTH - 2 * EDGE - LABEL
    axes = sheet.axes(left, top, width, ROW * len(trials))
    axes.set(xlim=(0, float(most)), ylim=(0, 1), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"{unit}, by trial")
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.tick_params(color=LINE)
    for row, (trial, spent) in enumerate(trials.items()):
        y = top + ROW * row
        total = sum(spent.values(), Fraction(0))
        sheet.text(left - 0.08, y + ROW / 2, f"trial {trial}", across="right", size=SMALL)
        box = left, y + 0.04, width * float(total / most), ROW - 0.08
        _bar(sheet, box, spent, total, colours)
