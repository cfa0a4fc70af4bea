from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from redveil.report.palette import BOTH, INK, LEFT, MUTED, PAPER, RIGHT, lightness

# How those without one kind of cones see linear red, green and blue (Viénot, Brettel, Mollon 1999).
WITHOUT_LONG = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
WITHOUT_MIDDLE = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])


def contrast(one: str, other: str) -> float:
    light, dark = sorted((lightness(one), lightness(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen(colour: str, by: np.ndarray) -> np.ndarray:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(np.clip(by @ linear, 0, 1)))


@pytest.mark.parametrize("colour", [LEFT, RIGHT, BOTH, INK, MUTED])
def test_every_colour_can_be_read_on_paper(colour: str) -> None:
    assert contrast(colour, PAPER) >= 4.5


def test_the_overlap_is_darker_than_both_tables_in_grey() -> None:
    assert contrast(BOTH, LEFT) > 1.3
    assert contrast(BOTH, RIGHT) > 1.3


@pytest.mark.parametrize("by", [np.eye(3), WITHOUT_LONG, WITHOUT_MIDDLE])
def test_the_three_differ_for_every_kind_of_colour_vision(by: np.ndarray) -> None:
    for one, other in combinations((LEFT, RIGHT, BOTH), 2):
        assert np.linalg.norm(seen(one, by) - seen(other, by)) > 0.11, (one, other)
