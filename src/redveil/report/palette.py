"""The colours of reports and figures: one for each table, and one for what they have in common.

Teal, rust and violet are told apart by those who confuse red and green, too. In grey print the
overlap is darker than either table, between which it stands; the tables themselves are told apart
by their sides. All three are dark enough for text on paper.
"""

from __future__ import annotations

from typing import Final

from redveil.schema import Side

LEFT: Final = "#1f6f8b"
RIGHT: Final = "#b5452e"
#: The overlap of two queries, and everything that is said of both tables.
BOTH: Final = "#56457f"
INK: Final = "#1b2328"
MUTED: Final = "#5c6870"
LINE: Final = "#b8c4ca"
FAINT: Final = "#e3e8ea"
PAPER: Final = "#ffffff"

BY_SIDE: Final = {Side.LEFT: LEFT, Side.RIGHT: RIGHT}


def mixed(colour: str, share: float, ground: str = PAPER) -> str:
    """Return a colour thinned with the ground that it stands on.

    >>> mixed("#000000", 0.5), mixed(BOTH, 1)
    ('#808080', '#56457f')
    """
    parts = zip(_parts(colour), _parts(ground), strict=True)
    return "#" + "".join(f"{round(share * one + (1 - share) * other):02x}" for one, other in parts)


def lightness(colour: str) -> float:
    """Return how light a colour is in grey print, from 0 to 1: its relative luminance.

    >>> lightness("#000000"), lightness(PAPER)
    (0.0, 1.0)
    """
    red, green, blue = (_linear(part / 255) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


def _linear(part: float) -> float:
    """Undo the gamma correction of sRGB."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
