"""The sheet that figures are drawn on: measured in inches, with literal text, saved atomically.

Figures do not depend on the settings of whoever draws them, and the same figure is the same file.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from redveil import InputError
from redveil.seam.results import FIGURE_MARK, INK, LINE, MUTED, FileKind, replace_bytes

FORMATS: Final = (".png", ".svg", ".pdf")
# In points; what journals ask for at the width of a page.
SMALL: Final = 7.0
USUAL: Final = 8.0
LARGE: Final = 9.0
# For scripts that the first family has no letters for; those that are installed are used.
_FAMILIES: Final = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans", "Arial Unicode MS")
_SETTINGS: Final[dict[Any, Any]] = {
    # Names are drawn as they are written, dollar signs and all.
    "text.parse_math": False,
    "text.usetex": False,
    # Text stays text: it can be searched, copied and read aloud.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": FIGURE_MARK,
    "font.size": USUAL,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": LINE,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": LARGE,
    "axes.titlelocation": "left",
    "axes.labelsize": USUAL,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
}


class Sheet:
    """A figure of some width and height, in inches. Places count from the left, and from the top.

    The whole sheet is `page`, whose units are inches; `axes` adds a frame with its own scales.
    """

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height))
        self.page = self.figure.add_axes((0, 0, 1, 1))
        self.page.set_axis_off()
        self.page.set(xlim=(0, width), ylim=(height, 0))
        # In front of the frames, so that no line crosses a number.
        self.page.set_zorder(2)

    def axes(self, left: float, top: float, width: float, height: float) -> Any:
        """Add a frame with scales."""
        bottom = self.height - top - height
        place = left / self.width, bottom / self.height, width / self.width, height / self.height
        axes = self.figure.add_axes(place)
        axes.set_facecolor("none")
        return axes

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        across: str = "left",
        down: str = "center",
        size: float = USUAL,
        colour: str = INK,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Write a text; line ends are kept."""
        self.page.text(
            x,
            y,
            text,
            ha=across,
            va=down,
            fontsize=size,
            color=colour,
            fontweight="bold" if bold else "normal",
            rotation=90 if turned else 0,
            linespacing=1.15,
        )

    def box(
        self,
        place: tuple[float, float],
        width: float,
        height: float,
        fill: str,
        *,
        edge: str = "none",
        line: float = 0.0,
    ) -> None:
        """Draw a rectangle; its place is its upper left corner."""
        from matplotlib.patches import Rectangle

        drawn = Rectangle(place, width, height, facecolor=fill, edgecolor=edge, linewidth=line)
        self.page.add_patch(drawn)

    def title(self, text: str, below: str = "") -> None:
        """Write a title at the top, and a line below it."""
        self.text(0.12, 0.2, text, size=LARGE, bold=True)
        if below:
            self.text(0.12, 0.4, below, colour=MUTED)


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with our settings, whatever the user's are, and without a screen."""
    import matplotlib as mpl
    from matplotlib import font_manager

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        installed = set(font_manager.get_font_names())
        mpl.rcParams["font.family"] = [
            *(one for one in _FAMILIES if one in installed),
            # For whoever opens an SVG file without these.
            "sans-serif",
        ]
        # A letter that no font has is drawn as a box; that is all that can be done about it.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def check_figure(path: Path) -> None:
    """Refuse a path whose suffix is no kind of figure.

    >>> check_figure(Path("scatter.gif"))
    Traceback (most recent call last):
    redveil.errors.InputError: scatter.gif: unknown kind of figure; use .png, .svg, .pdf
    """
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: unknown kind of figure; use {', '.join(FORMATS)}")


def save(figure: Any, path: Path) -> Path | None:
    """Write a figure in the format of its suffix, atomically; keep an earlier one.

    The earlier one may have been edited by hand, for a paper. Returns where it is kept, None if
    there was none.
    """
    check_figure(path)
    content = BytesIO()
    # By the mark we know our own figures again, which are all that we replace.
    mark: dict[str, str | None] = {"Software" if path.suffix == ".png" else "Creator": FIGURE_MARK}
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix, {})
    figure.savefig(content, format=path.suffix[1:], dpi=300, metadata=mark | undated)
    return replace_bytes(path, content.getvalue(), FileKind.FIGURE)
