"""The sheet that figures are drawn on: measured in inches, with literal text, saved atomically.

Figures do not depend on the settings of whoever draws them, and the same figure is the same file.
Names and tests are as people write them, and no wider than their place.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from redveil import InputError
from redveil.seam.queries import (
    And,
    Known,
    Literal,
    Not,
    Query,
    Value,
    interval_pairs,
    number_text,
    to_text,
)
from redveil.seam.results import (
    FIGURE_MARK,
    INK,
    LINE,
    MUTED,
    CertificatePart,
    FileKind,
    replace_bytes,
)

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


_SIGNS = {"=": "=", "!=": "≠", "<=": "≤", ">": ">"}
_DOTS = "…"
Titles = Mapping[str, str]
_UNTITLED: Titles = MappingProxyType({})
# A sign and the value after it stay together.
_WORDS = re.compile("(?<![=≠≤<>]) ")


def in_words(query: Query, titles: Titles = _UNTITLED) -> str:
    """Return a test as people write it, without brackets where it is a single one.

    titles: what readers call attributes, of those that have a title

    >>> in_words(Literal("gout", "=", True)), in_words(Literal("gout", "=", False))
    ('gout', 'not gout')
    >>> in_words(Literal("age", "<=", 65)), in_words(Literal("sex", "!=", "f"))
    ('age ≤ 65', 'sex ≠ f')
    """
    match query:
        case Literal(name, _, bool() as value):
            return _called(name, titles) if value else f"not {_called(name, titles)}"
        case Literal(name, op, value):
            return f"{_called(name, titles)} {_SIGNS[op]} {_value(value)}"
        case Known(name):
            return f"{_called(name, titles)} known"
        case Not(Known(name)):
            return missing_words(name, titles)
        case _:
            return to_text(query)


def missing_words(name: str, titles: Titles = _UNTITLED) -> str:
    """Return that an attribute has no value.

    >>> missing_words("t3", {"t3": "March mean (°C)"})
    'March mean (°C) missing'
    """
    return f"{_called(name, titles)} missing"


def _called(name: str, titles: Titles) -> str:
    return titles.get(name) or name


def conjunction_words(query: Query, titles: Titles = _UNTITLED) -> list[str]:
    """Return the tests of a conjunction; two that are an interval become one.

    >>> low, high = Literal("age", ">", 20), Literal("age", "<=", 40)
    >>> conjunction_words(And((low, high, Literal("gout", "=", True))))
    ['20 < age ≤ 40', 'gout']
    """
    groups = interval_pairs(query.operands) if isinstance(query, And) else [(query,)]
    return [_group(group, titles) for group in groups]


def _group(group: Sequence[Query], titles: Titles) -> str:
    match group:
        case (Literal(name, _, low), Literal(_, _, high)):
            return f"{_value(low)} < {_called(name, titles)} ≤ {_value(high)}"
        case _:
            return in_words(group[0], titles)


def _value(value: Value) -> str:
    return number_text(value).replace("-", "−") if isinstance(value, float) else str(value)


def printable(text: str) -> str:
    r"""Return a text on one line, without characters that change how others are read.

    >>> printable("a\n\u202eb\tc")
    'a b c'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def fitted(text: str, width: float, size: float = USUAL, *, lines: int = 2) -> str:
    """Return a text in lines that are no wider than so many inches; its middle may be left out.

    The end of a test is its value, and names of one kind often begin alike.
    """
    whole = printable(text)
    # No letter is narrower than a quarter of its height.
    kept = min(len(whole), int(4 * lines * width * 72 / size) + 1)
    shorter = (_without_middle(whole, most) for most in range(kept, 1, -1))
    words = _WORDS.split(whole) if kept == len(whole) else []
    for one in chain([whole] if words else [], _without_words(words), shorter):
        folded = _folded(one, width, size)
        if len(folded) <= lines:
            return "\n".join(folded)
    return _without_middle(whole, 1)


def _without_words(words: Sequence[str]) -> Iterator[str]:
    """Yield a text without more and more words of its middle, but with its last two.

    >>> list(_without_words(["mean", "highs", "in", "July", "> 5"]))
    ['mean highs… July > 5', 'mean… July > 5']
    """
    for kept in range(len(words) - 1, 2, -1):
        last = max(kept // 2, 2)
        yield f"{' '.join(words[: kept - last])}{_DOTS} {' '.join(words[-last:])}"


def _without_middle(text: str, most: int) -> str:
    """Leave out the middle of a text.

    >>> _without_middle("abcdefghij", 6), _without_middle("abc", 3)
    ('abc…ij', 'abc')
    """
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head].rstrip()}{_DOTS}{text[len(text) - (most - 1 - head) :].lstrip()}"


def _folded(text: str, width: float, size: float) -> list[str]:
    """Divide a text into lines, between words if possible."""
    lines = [""]
    for word in _WORDS.split(text):
        longer = f"{lines[-1]} {word}".strip()
        if measured(longer, size) <= width:
            lines[-1] = longer
            continue
        if measured(word, size) <= width:
            lines.append(word)
            continue
        for letter in f" {word}" if lines[-1] else word:
            if lines[-1] and measured(lines[-1] + letter, size) > width:
                lines.append("")
            lines[-1] += letter
    return lines


def measured(text: str, size: float = USUAL, *, bold: bool = False) -> float:
    """Return how wide a text is, in inches; of several lines, the widest."""
    return (
        max(sum(_ems(letter, bold=bold) for letter in line) for line in text.split("\n"))
        * size
        / 72
    )


@lru_cache(maxsize=4096)
def _ems(letter: str, *, bold: bool) -> float:
    """Return how wide a letter is, for a size of 1."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=100, weight="bold" if bold else "normal")
    # A space alone has no outline.
    around = f"n{letter}n"
    wide, narrow = (
        text_to_path.get_text_width_height_descent(one, font, ismath=False)[0]
        for one in (around, "nn")
    )
    return float(wide - narrow) / 100


def promised(certificate: CertificatePart) -> str:
    """Return what a result promises, and whether it is known not to keep it."""
    return certificate.promise + (" (NOT MET)" if certificate.unmet else "")


def numbers(entries: Sequence[int], most: int = 5) -> str:
    """Return the numbers of entries, and how many more there are.

    >>> numbers([1, 2]), numbers(range(1, 21))
    ('1, 2', '1, 2, 3, 4, 5, +15')
    """
    shown = [str(one) for one in entries[:most]]
    return ", ".join([*shown, *([f"+{len(entries) - most}"] if len(entries) > most else [])])
