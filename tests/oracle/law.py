"""Laws over finitely many outcomes, as natural logarithms of probabilities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final, NamedTuple

Outcome = Any  # something hashable
Law = dict[Outcome, float]


class Scored(NamedTuple):
    """How far one entity can change a score, and the number of grid units in 1."""

    width: Fraction
    grid: int


# The width of the change, plus the allowance for rounding in the score's proof (trees/scores).
GRID: Final = 2**12
SPLIT_GINI: Final = Scored(2 + Fraction(4, GRID), GRID)
TREE_GINI: Final = Scored(2 + Fraction(2, GRID), GRID)
LEVERAGE: Final = Scored(2 + Fraction(2, GRID), GRID)
AGREEMENT: Final = Scored(Fraction(3, 2), 2)
CORRESPONDENCE: Final = Scored(Fraction(3), GRID)
PAIR_PURITY: Final = Scored(3 + Fraction(6, GRID), GRID)
ASSOCIATION: Final = Scored(Fraction(7, 2) + Fraction(6, 2 * GRID), 2 * GRID)


@cache
def rate(scored: Scored, price: Fraction) -> float:
    """Return the exponent of one unit of a score."""
    return float(price / (scored.width * scored.grid))


def exponential(
    units: Mapping[Outcome, int],
    scored: Scored,
    price: Fraction,
    base: Mapping[Outcome, float] | None = None,
) -> Law:
    """Return P ∝ base · exp(price · score / width); without candidates the outcome is None."""
    if not units:
        return {None: 0.0}
    per_unit, best = rate(scored, price), max(units.values())
    logs = {
        one: per_unit * (value - best) + (math.log(base[one]) if base else 0.0)
        for one, value in units.items()
    }
    whole = math.log(math.fsum(map(math.exp, logs.values())))
    return {one: log - whole for one, log in logs.items()}


def uniform(outcomes: Sequence[Outcome]) -> Law:
    """Return the law under which all outcomes are equally likely."""
    return dict.fromkeys(outcomes, -math.log(len(outcomes)))


def then(law: Law, following: Callable[[Outcome], Law]) -> Law:
    """Return the law of a sequence with one more outcome, which may depend on those before."""
    return {
        (*before, new): log + more
        for before, log in law.items()
        for new, more in following(before).items()
    }


def together(laws: Sequence[Law]) -> Law:
    """Return the joint law of independent outcomes."""
    return {
        tuple(one for one, _ in each): sum(log for _, log in each)
        for each in itertools.product(*(law.items() for law in laws))
    }


def merged(law: Law, seen: Callable[[Outcome], Outcome]) -> Law:
    """Return the law of a function of the outcome."""
    mass: dict[Outcome, list[float]] = {}
    for outcome, log in law.items():
        mass.setdefault(seen(outcome), []).append(math.exp(log))
    return {outcome: math.log(math.fsum(parts)) for outcome, parts in mass.items()}


def renamed(law: Law, name: Callable[[Outcome], Outcome]) -> Law:
    """Return the law with every outcome renamed; no two may become equal."""
    found = {name(outcome): log for outcome, log in law.items()}
    assert len(found) == len(law), "two outcomes have the same name"
    return found


def loss(some: Law, other: Law) -> float:
    """Return the largest difference of logarithms over all outcomes."""
    assert some.keys() == other.keys()
    return max(abs(some[outcome] - other[outcome]) for outcome in some)
