"""What a detail adds to its story."""

from __future__ import annotations

import pytest

from redveil.query.formula import And, Query, negate
from redveil.report.document import (
    AttributesPart,
    LeafTablePart,
    RedescriptionPart,
    ResultDocument,
    TreePairPart,
)
from redveil.report.page.sentences import SPACE, Teller
from support.results import (
    attribute_parts,
    boolean,
    document,
    redescription,
    redescription_of,
    tree_part,
)

MINK, BAT, COOL, MILD = map(boolean, ("mink", "bat", "cool", "mild"))
# Ends, by their numbers: not the first; both; the first alone. Rows are the left ones.
CELLS = ((500.0, 40.0, 60.0), (10.0, 75.0, 25.0), (30.0, 20.0, 80.0))
STORY = redescription("mink", "cool")


def of(detail: RedescriptionPart, cells: tuple[tuple[float, ...], ...] = CELLS) -> ResultDocument:
    trees = TreePairPart(
        left=tree_part("species", "mink", "bat"),
        right=tree_part("climate", "cool", "mild"),
        leaf_table=LeafTablePart(cells=cells, cells_price="2/3", fitted=cells),
    )
    attributes = AttributesPart(
        left=attribute_parts("mink", "bat"), right=attribute_parts("cool", "mild")
    )
    made = document(STORY, detail)
    return made.model_copy(update={"tree_pairs": (trees,), "attributes": attributes})


def said(
    left: Query, right: Query, cells: tuple[tuple[float, ...], ...] = CELLS, *, story: int = 1
) -> str | None:
    detail = redescription_of(left, right).model_copy(update={"detail": story})
    found = Teller(of(detail, cells)).addition(detail)
    return None if found is None else "".join(found).replace(SPACE, " ")


def test_a_detail_says_what_is_special_in_its_part() -> None:
    # Of 100 with mink, bat and cool, 75 have mild; of 100 without the bat, 20.
    assert said(And((MINK, BAT)), And((COOL, MILD))) == (
        "Among patients with mink and cool, about 75 % of those with bat have mild, "
        "compared with about 20 % of the others."
    )


def test_it_is_said_only_where_it_holds() -> None:
    flipped = (CELLS[0], CELLS[2], CELLS[1])
    assert said(And((MINK, BAT)), And((COOL, MILD)), flipped) is None
    nobody = (CELLS[0], CELLS[1], (30.0, 0.0, -4.0))
    assert said(And((MINK, BAT)), And((COOL, MILD)), nobody) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # One side is about the story, the other about its opposite: no part of either.
        (And((MINK, BAT)), And((negate(COOL), MILD))),
        # Nothing new on one side.
        (And((MINK, BAT)), COOL),
        # Nothing of the story.
        (BAT, MILD),
        # The trees do not ask for bats where there is no mink.
        (And((negate(MINK), BAT)), And((negate(COOL), MILD))),
    ],
)
def test_other_details_speak_for_themselves(left: Query, right: Query) -> None:
    assert said(left, right) is None


def test_a_story_that_is_not_there_is_none() -> None:
    assert said(And((MINK, BAT)), And((COOL, MILD)), story=7) is None
    assert said(And((MINK, BAT)), And((COOL, MILD)), story=0) is None
    assert Teller(of(STORY)).addition(STORY) is None


def contributed(
    left: Query, right: Query, cells: tuple[tuple[float, ...], ...] = CELLS
) -> list[str]:
    one = redescription_of(left, right)
    found = Teller(of(one, cells)).contributions(one)
    return ["".join(sentence).replace(SPACE, " ") for sentence in found]


def test_the_last_of_several_conditions_says_what_it_contributes() -> None:
    # Of 110 with mink and bat, 75 have both; of 130 with mink alone, 20. Of 135 with cool and mild,
    # 75 are with mink and bat; of 165 with cool alone, 25.
    assert contributed(And((MINK, BAT)), And((COOL, MILD))) == [
        "Among patients with mink, about 68 % of those with bat have cool and mild, compared with "
        "about 15 % of the others.",
        "Among patients with cool, about 56 % of those with mild have mink and bat, compared with "
        "about 15 % of the others.",
    ]
    assert contributed(And((MINK, BAT)), COOL) == [
        "Among patients with mink, about 91 % of those with bat have cool, compared with about "
        "77 % of the others."
    ]


def test_a_condition_that_contributes_nothing_is_not_mentioned() -> None:
    assert contributed(MINK, COOL) == []
    alike = (CELLS[0], CELLS[1], (10.0, 75.0, 25.0))
    assert contributed(And((MINK, BAT)), COOL, alike) == []
    # Trees that ask for bats among minks alone cannot tell what minks contribute among bats.
    assert contributed(And((BAT, MINK)), COOL) == contributed(And((MINK, BAT)), COOL)


def test_all_sentences_come_in_the_order_of_what_matters() -> None:
    story, detail = (
        redescription_of(And((MINK, BAT)), COOL),
        redescription_of(And((MINK, BAT)), And((COOL, MILD))).model_copy(update={"detail": 1}),
    )
    teller = Teller(of(detail))
    firsts = [[sentence[0][:5] for sentence in teller.sentences(one)] for one in (story, detail)]
    assert firsts == [["Of ab", "The o", "Among"], ["Among", "Of ab", "The o"]]
