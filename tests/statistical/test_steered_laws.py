"""Steered choices: the law without steering, given that what is chosen is allowed.

That is what a base measure of 0 means. `test_run_laws.py` compares steered runs, of several levels
and several trials, with the oracle; `test_run_losses.py` has their exact losses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from oracle.entities import Entities
from oracle.run_law import Pair
from redveil.algorithms.steering import NO_STEERING, Steering
from redveil.algorithms.twin import RootScore, Twin
from redveil.schema import Side
from redveil.schema.unmatched import Group
from redveil.trees.splits import Splits
from support.enumeration import all_ways
from support.toys import WIDE, entities_of

EPSILON = Fraction(3)
CLOSE = 1e-9

Allowed = Callable[[str, str], bool]
CASES: dict[str, tuple[Steering, Allowed]] = {
    "required": (
        Steering(require=((Side.LEFT, "kind"), (Side.RIGHT, "spot"))),
        lambda left, right: left == "kind" and right == "spot",
    ),
    "required on one side": (
        Steering(require=((Side.LEFT, "flag"),)),
        lambda left, _: left == "flag",
    ),
    "unmatched": (
        Steering(unmatched=(Group(("flag",), ("spot",)), Group(("kind",), ("mark",)))),
        lambda left, right: (left, right) not in {("flag", "spot"), ("kind", "mark")},
    ),
    "both": (
        Steering(require=((Side.RIGHT, "mark"),), unmatched=(Group(("flag",), ("mark",)),)),
        lambda left, right: (left, right) == ("kind", "mark"),
    ),
}


def names(pair: Pair) -> tuple[str, str]:
    """Return the attributes at two roots."""
    views = (WIDE.left, WIDE.right)
    left, right = (
        view.names[int(Splits.of(view).attribute[tree[0] or 0])]
        for view, tree in zip(views, pair, strict=True)
    )
    return left, right


def law_of(entities: Entities, how: Twin) -> dict[tuple[Pair, ...], float]:
    """Return the probability of every pair of roots, whichever sides of them correspond."""
    found: dict[tuple[Pair, ...], float] = {}
    for way in all_ways(entities, how, EPSILON):
        found[way.pairs] = found.get(way.pairs, 0.0) + math.exp(way.log)
    return found


@pytest.mark.parametrize("score", RootScore)
@pytest.mark.parametrize("case", CASES)
def test_a_steered_choice_is_the_plain_one_given_that_it_is_allowed(
    case: str, score: RootScore
) -> None:
    steering, may = CASES[case]
    entities = entities_of(WIDE, 14, seed=5)
    steered_run = Twin(depth=1, root_score=score, steering=steering)
    plain = law_of(entities, replace(steered_run, steering=NO_STEERING))
    steered = law_of(entities, steered_run)
    allowed = {pairs: chance for pairs, chance in plain.items() if may(*names(pairs[0]))}
    assert 0 < len(allowed) < len(plain)
    whole = math.fsum(allowed.values())
    assert steered == pytest.approx(
        {pairs: one / whole for pairs, one in allowed.items()}, abs=CLOSE
    )
    # The best that is left is chosen more often, for the same price.
    best = max(allowed, key=lambda pairs: allowed[pairs])
    assert steered[best] > plain[best] + 0.01


def test_what_is_left_out_leaves_the_other_choices_as_they_were() -> None:
    entities = entities_of(WIDE, 14, seed=5)
    plain = law_of(entities, Twin(depth=1))
    kept = Steering(only=((Side.LEFT, "kind"),), ignore=((Side.RIGHT, "mark"),))
    steered = law_of(entities, Twin(depth=1, steering=kept))
    # Splits are numbered anew in the smaller views: flag was the first left, mark the first right.
    renamed = {
        (((pair[0][0] or 0) - 1,), ((pair[1][0] or 0) - 1,)): chance
        for (pair,), chance in plain.items()
        if names(pair) == ("kind", "spot")
    }
    whole = math.fsum(renamed.values())
    expected = {(pair,): chance / whole for pair, chance in renamed.items()}
    assert steered == pytest.approx(expected, abs=CLOSE)
