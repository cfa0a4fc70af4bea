"""The law of twin trees, from the definitions: every choice at every matched pair of nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from oracle.entities import (
    BOTH,
    LEFT,
    RIGHT,
    Entities,
    Entity,
    Path,
    Shape,
    Views,
    grafted,
    path_to,
)
from oracle.law import (
    AGREEMENT,
    CORRESPONDENCE,
    GRID,
    Law,
    Scored,
    exponential,
    renamed,
    then,
    together,
)

NodePair = tuple[int, int]
Choice = tuple[int, int, int] | None  # whether the sides cross, left split, right split


class Used(NamedTuple):
    """What a pair of trees leaves alone, as long as there is anything else to choose.

    roots:   the attributes that roots avoid, left and right
    matched: the pairs of attributes that nodes below the roots avoid
    """

    roots: Sequence[Collection[int]] = ((), ())
    matched: Collection[tuple[int, int]] = ()


NOTHING = Used()


class Twins(NamedTuple):
    """The left and the right tree, and their matched leaves."""

    trees: tuple[Shape, Shape]
    matches: tuple[NodePair, ...]


class Rule(NamedTuple):
    """What is public about the choices, by the numbers of attributes.

    required: attributes of which each root takes one, left and right; any, if there are none
    apart:    pairs of a left and a right attribute that may not be matched
    """

    required: tuple[Collection[int], Collection[int]] = ((), ())
    apart: Collection[tuple[int, int]] = ()


ANY = Rule()
BEFORE_GROWTH = Twins(((), ()), ((0, 0),))


def twin_law(
    entities: Entities,
    root: Scored,
    prices: Sequence[Fraction],
    used: Used,
    rule: Rule = ANY,
    begun: Twins = BEFORE_GROWTH,
) -> Law:
    """Return the law of a pair of twin trees, one level per price; correspondence below the root.

    begun: what is grown already
    """
    law: Law = {begun: 0.0}
    for level, price in enumerate(prices):
        scored = root if level == 0 and begun is BEFORE_GROWTH else CORRESPONDENCE
        grown: Law = {
            (now, chosen): log + more
            for now, log in law.items()
            for chosen, more in level_law(entities, now, scored, price, used, rule).items()
        }
        law = renamed(grown, lambda both: extended(*both))
    return law


def trials_law(
    entities: Entities,
    root: Scored,
    prices: Sequence[Sequence[Fraction]],
    rule: Rule = ANY,
    *,
    deepens: bool = False,
    again: bool = False,
) -> Law:
    """Return the law of several pairs; each avoids what earlier ones ask.

    prices:  of the levels of each pair
    deepens: whether the second pair begins with the first, which is then a scout's
    again:   whether the second may have the roots of the first
    """

    def next_pair(earlier: tuple[Twins, ...]) -> Law:
        levels = prices[len(earlier)]
        told = earlier[int(again) :]
        roots = [
            {
                entities.views.attribute(side, split)
                for one in told
                for split in one.trees[side][:1]
                if split is not None
            }
            for side in BOTH
        ]
        used = Used(roots, {pair for one in told for pair in matched(entities.views, one)})
        begun = earlier[0] if deepens and len(earlier) == 1 else BEFORE_GROWTH
        return twin_law(entities, root, levels, used, rule, begun)

    law: Law = {(): 0.0}
    for _ in prices:
        law = then(law, next_pair)
    return law


def level_law(
    entities: Entities, now: Twins, scored: Scored, price: Fraction, used: Used, rule: Rule
) -> Law:
    """Return the law of the choices at all matched pairs of leaves."""
    laws: list[Law] = []
    for match in now.matches:
        # Attributes are avoided as long as there is anything else to choose.
        pairs = offered(entities.views, now, match, used, rule)
        if not pairs:
            pairs = offered(entities.views, now, match, NOTHING, rule)
        here = [
            one
            for one in entities.at(LEFT, now.trees[LEFT], match[LEFT])
            if entities.views.end(RIGHT, now.trees[RIGHT], one) == match[RIGHT]
        ]
        units: dict[Choice, int] = {
            choice: score_units(entities.views, scored, choice, here)
            for choice in ((crossed, *pair) for crossed in (0, 1) for pair in pairs)
        }
        base = dict.fromkeys(units, 1.0)
        if units and match != (0, 0):
            # Below the roots, a pair may stay as it is.
            base[None], units[None] = float(len(units)), 0
        laws.append(exponential(units, scored, price, base))
    return together(laws)


def offered(
    views: Views, now: Twins, match: NodePair, used: Used, rule: Rule
) -> list[tuple[int, int]]:
    """Return the pairs of splits that may be chosen at a matched pair of nodes."""
    paths = [path_to(now.trees[side], match[side]) or () for side in BOTH]
    lefts, rights = (
        may_stand(views, side, paths[side], used.roots[side], rule.required[side]) for side in BOTH
    )
    return [
        (left, right)
        for left, right in itertools.product(lefts, rights)
        if not (any(paths) and attributes_of(views, left, right) in used.matched)
        and not any(
            pair in rule.apart
            for pair in itertools.product(
                *(
                    [
                        views.attribute(side, split)
                        for split in (chosen, *(s for s, _ in paths[side]))
                    ]
                    for side, chosen in ((LEFT, left), (RIGHT, right))
                )
            )
        )
    ]


def attributes_of(views: Views, left: int, right: int) -> tuple[int, int]:
    """Return the attributes of a left and a right split."""
    return views.attribute(LEFT, left), views.attribute(RIGHT, right)


def matched(views: Views, twins: Twins) -> set[tuple[int, int]]:
    """Return the pairs of attributes at matched nodes: those above matched leaves."""
    found = set()
    for match in twins.matches:
        node = match
        while node != (0, 0):
            node = (node[LEFT] - 1) // 2, (node[RIGHT] - 1) // 2
            one, other = twins.trees[LEFT][node[LEFT]], twins.trees[RIGHT][node[RIGHT]]
            assert one is not None
            assert other is not None
            found.add(attributes_of(views, one, other))
    return found


def may_stand(
    views: Views, side: int, path: Path, used: Collection[int], required: Collection[int]
) -> list[int]:
    """Return the splits allowed after a path; at the root, required and unused ones if possible."""
    may = views.offered(side, path)
    if path:
        return may
    roots = [one for one in may if not required or views.attribute(side, one) in required]
    return [one for one in roots if views.attribute(side, one) not in used] or roots


def score_units(
    views: Views, scored: Scored, choice: tuple[int, int, int], here: Sequence[Entity]
) -> int:
    """Return the score of a choice among some entities, in units."""
    crossed, left, right = choice
    answers = [(views.answer(LEFT, left, one), views.answer(RIGHT, right, one)) for one in here]
    first, size = (True, not crossed), len(here)
    matched = answers.count(first)
    second = answers.count((False, bool(crossed)))
    rest = size - matched - second
    if scored is CORRESPONDENCE:
        return min(x * matched + y * second + z * rest for x, y, z in worths())
    if scored is AGREEMENT:
        return 2 * min(matched, second) - rest
    lefts = sum(one is True for one, _ in answers)
    rights = sum(other is first[1] for _, other in answers)
    return GRID * (matched * size - lefts * rights) // size if size else 0


@cache
def worths() -> list[tuple[int, int, int]]:
    """Return what a matched entity on either side and an unmatched one count, at every odds.

    In units, towards 0. With odds r of the first side to the second: 2, 2r² and −2r if r is at most
    a half; 1/r, r and −1 up to 1; beyond, the two sides change places.
    """
    found = []
    for percent in range(0, 101, 5):
        less = min(percent, 100 - percent)
        r = Fraction(less, 100 - less)
        low = r <= Fraction(1, 2)
        first, second, rest = (Fraction(2), 2 * r * r, -2 * r) if low else (1 / r, r, Fraction(-1))
        if percent > 50:
            first, second = second, first
        x, y, z = (math.trunc(GRID * one) for one in (first, second, rest))
        found.append((x, y, z))
    return found


def extended(now: Twins, chosen: Sequence[Choice]) -> Twins:
    """Return the twins after a level's choices."""
    left: dict[int, int | None] = {}
    right: dict[int, int | None] = {}
    matches: list[NodePair] = []
    for (a, b), choice in zip(now.matches, chosen, strict=True):
        if choice is None:
            matches.append((a, b))
            continue
        crossed, left[a], right[b] = choice
        matches += [(2 * a + 1, 2 * b + 1 + crossed), (2 * a + 2, 2 * b + 2 - crossed)]
    trees = grafted(now.trees[LEFT], left), grafted(now.trees[RIGHT], right)
    return Twins(trees, tuple(sorted(matches)))
