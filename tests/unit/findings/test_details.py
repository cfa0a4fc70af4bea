"""Details: what follows a story adds something to it."""

from __future__ import annotations

import numpy as np
import pytest

from redveil.findings.details import Details
from redveil.findings.extraction import Candidate
from redveil.query.text import parse_text

# Four leaves on each side: the first two are below one root's branch, the last two below the other.
DIAGONAL = np.diag([100.0, 100.0, 100.0, 100.0])


def pair(
    left: str,
    right: str,
    covered: tuple[tuple[int, ...], tuple[int, ...]],
    half: float = 0.3,
) -> Candidate:
    return Candidate(0, parse_text(left), parse_text(right), *covered, 0.5, half)


def adds(story: Candidate, other: Candidate, cells: np.ndarray = DIAGONAL) -> bool:
    """Return whether a pair adds something to a story."""
    details = Details([story, other], cells, None)
    details.mention(0)
    details.tell(0)
    return bool(details.adds[1])


STORY = pair("[a]", "[c]", ((0, 1), (0, 1)))


def test_a_part_of_the_story_whose_new_conditions_belong_together_is_a_detail() -> None:
    part = pair("[a] & [b]", "[c] & [d]", ((0,), (0,)))
    assert adds(STORY, part)
    unrelated = DIAGONAL.copy()
    unrelated[:2, :2] = 50.0
    assert not adds(STORY, part, unrelated)


def test_a_rider_is_no_detail() -> None:
    # Nearly all of the story's right support is in the first leaf.
    cells = np.diag([190.0, 10.0, 100.0, 100.0])
    assert not adds(STORY, pair("[a] & [b]", "[c] & [d]", ((0,), (0,))), cells)


def test_another_condition_on_one_side_only_is_no_detail() -> None:
    cells = DIAGONAL.copy()
    cells[1, 2] = 150.0
    assert not adds(STORY, pair("[a] & [b]", "[c]", ((0,), (0, 1))), cells)


def test_a_detail_has_no_or() -> None:
    other = ((0, 2), (0, 2))
    assert adds(STORY, pair("[e] & [g]", "[f]", other))
    assert not adds(STORY, pair("[e] | [g]", "[f]", other))


@pytest.mark.parametrize(
    ("left", "right", "covered"),
    [
        # The same left side, and one condition fewer on the right.
        ("[a] & [b]", "[c]", ((0,), (0, 1))),
        # The complement of the first conditions.
        ("![a]", "![c]", ((2, 3), (2, 3))),
    ],
)
def test_fewer_of_the_same_attributes_say_less(
    left: str, right: str, covered: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    story = pair("[a] & [b]", "[c] & [d]", ((0,), (0,)))
    assert not adds(story, pair(left, right, covered))


def test_other_cut_points_are_no_detail() -> None:
    entry = pair("[a] & [x > 5]", "[y <= 2]", ((0,), (0,)))
    for other, is_new in (
        (pair("[x > 9] & [a]", "[y <= 4]", ((1,), (0, 1))), False),
        (pair("[a] & [x <= 5]", "[y <= 2]", ((1,), (0,))), True),
        (pair("[a] & [x > 5]", "[z <= 2]", ((1,), (0,))), True),
    ):
        details = Details([entry, other], DIAGONAL, None)
        details.mention(0)
        assert bool(details.adds[1]) is is_new


def test_what_only_turns_a_story_around_is_no_detail() -> None:
    assert not adds(STORY, pair("![a] & ![e]", "![c]", ((2,), (2, 3))))
    assert not adds(STORY, pair("![a] & ![e]", "![c]", ((2, 3), (2, 3))))
    # A part of the others in which something else belongs together is one.
    assert adds(STORY, pair("![a] & ![e]", "![c] & [f]", ((2,), (2,))))


def test_a_detail_is_about_at_most_half_of_the_entities() -> None:
    both = ((0, 2), (0, 2))
    assert adds(STORY, pair("[e]", "[f]", both, half=0.5))
    assert not adds(STORY, pair("[e]", "[f]", both, half=0.51))
