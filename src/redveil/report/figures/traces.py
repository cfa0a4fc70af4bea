"""The scores of parallel walks, for the data owner. NOT private."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redveil.report.figures.canvas import Sheet, drawing, save

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def traces(scores: NDArray[np.float64], path: Path) -> Path | None:
    """Draw the scores of parallel walks, float64[walks, walk_steps]. NOT private.

    Returns where the figure that it replaced is kept, None if there was none.
    """
    with drawing():
        sheet = Sheet(6.4, 4.4)
        sheet.title("NOT PRIVATE: scores of parallel walks")
        axes = sheet.axes(0.7, 0.42, 5.5, 3.4)
        for walk in scores:
            axes.plot(walk, linewidth=0.7)
        axes.set(xlabel="step", ylabel="score")
        return save(sheet.figure, path)
