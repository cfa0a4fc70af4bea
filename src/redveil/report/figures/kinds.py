"""The kinds of figures that there are of a result, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

from redveil.errors import InputError
from redveil.report.document import ResultDocument
from redveil.report.figures.budget import budget
from redveil.report.figures.canvas import Sheet, check_figure, drawing, save
from redveil.report.figures.scatter import scatter
from redveil.report.figures.table import table
from redveil.report.figures.trees import ribbons, trees

FigureKind = Literal["scatter", "trees", "ribbons", "table", "budget"]

_OF_RESULT: Final[dict[str, Callable[[ResultDocument], Sheet]]] = {
    "scatter": scatter,
    "budget": budget,
}
_OF_PAIR: Final[dict[str, Callable[[ResultDocument, int | None], Sheet]]] = {
    "trees": trees,
    "ribbons": ribbons,
    "table": table,
}


def draw(
    document: ResultDocument, kind: FigureKind, path: Path, pair: int | None = None
) -> Path | None:
    """Draw a result; PNG, SVG or PDF, as the path ends.

    pair: which pair of trees, counted from 1; by default that of the first entry

    Returns where the figure that it replaced is kept, None if there was none.
    """
    check_figure(path)
    if kind not in get_args(FigureKind):
        known = ", ".join(get_args(FigureKind))
        raise InputError(f"there is no figure of this kind; use one of {known}")
    if pair is not None and kind in _OF_RESULT:
        raise InputError(f"{kind} shows the whole result; leave pair out")
    with drawing():
        of_pair = _OF_PAIR.get(kind)
        sheet = _OF_RESULT[kind](document) if of_pair is None else of_pair(document, pair)
        return save(sheet.figure, path)
