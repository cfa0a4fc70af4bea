"""Algorithms with any parameters."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC, Sampler, Start
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.algorithms.twin import RootScore, Twin

ALL: tuple[type[Algorithm], ...] = (Twin, AltExpM, AltMCMC, TreePair)

_SHARES = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000)


@st.composite
def algorithms(
    draw: st.DrawFn,
    *kinds: type[Algorithm],
    depth: int = 6,
    trials: int = 8,
    alternations: int = 8,
    walk_steps: int = 30,
) -> Algorithm:
    """Draw an algorithm of some kinds, of any if none is given; the numbers are the largest."""
    kind = draw(st.sampled_from(kinds or ALL))
    parameters: dict[str, st.SearchStrategy[Any]] = {
        "depth": st.integers(1, depth),
        "trials": st.integers(1, trials),
        "counts": st.sampled_from(Counts),
        "tree_share": _SHARES,
        "root_score": st.sampled_from(RootScore),
        "pair_score": st.sampled_from(PairScore),
        "alternations": st.integers(1, alternations),
        "start": st.sampled_from(Start),
        "sampler": st.sampled_from(Sampler),
        "walk_steps": st.integers(1, walk_steps),
    }
    given = {name: draw(parameters[name]) for name in kind.parameter_names()}
    if kind is AltMCMC and given["depth"] > 2:
        # Deep trees cannot be drawn exactly.
        given["sampler"] = Sampler.WALK
    if kind is Twin and given["trials"] > 1:
        given |= draw(scouts())
    made = kind(**given)
    return _alone(made) if draw(st.booleans()) else made


def scouts() -> st.SearchStrategy[dict[str, Any]]:
    """Draw what only the tuning rule sets: no scout, or one and whether its roots may recur."""
    shares = st.just(Fraction(0)) | _SHARES
    return st.fixed_dictionaries({"scout": shares, "again": st.booleans()})


def _alone(made: Algorithm) -> Algorithm:
    """Return a private start alone, where an algorithm can be reduced to one."""
    if not isinstance(made, Alternation) or made.walks or not made.starts_privately:
        return made
    return replace(made, depth=1, alternations=0)
