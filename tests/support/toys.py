"""Two pairs of views so small that every run on them can be listed, and these runs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from oracle.entities import BOTH, Entities, Entity, Views
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import AltExpM, AltMCMC, Sampler, Start
from redveil.algorithms.describe import Describe, TreeScore
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.refine import Refine
from redveil.algorithms.steering import Steering
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.algorithms.twin import RootScore, Twin
from redveil.schema import Attribute, Kind, Side, View
from redveil.schema.unmatched import Group

KIND: Final = Attribute("kind", Kind.CATEGORICAL, categories=("x", "y", "z"))
SURE_KIND: Final = Attribute("kind", Kind.CATEGORICAL, required=True, categories=("x", "y", "z"))
FLAG: Final = Attribute("flag", Kind.BOOLEAN)
MARKS: Final = View(
    "marks", "id", (Attribute("mark", Kind.BOOLEAN, required=True), Attribute("spot", Kind.BOOLEAN))
)
# One attribute on the left: there is nothing to divide where one of its splits holds.
NARROW: Final = Views(View("kinds", "id", (KIND,)), MARKS)
# Two on the left that differ in their number of splits, so that the base measure of trees matters.
WIDE: Final = Views(View("kinds", "id", (FLAG, SURE_KIND)), MARKS)
# A query that a person gave, and what it can be described by.
ASKED: Final = Views(
    View("given", "id", (Attribute("asked", Kind.BOOLEAN),)), View("kinds", "id", (FLAG, SURE_KIND))
)

# A pair of queries that was found before, last on either side, and what it can be refined by.
_FOUND: Final = Attribute("found", Kind.BOOLEAN)
_SURELY: Final = Attribute("found", Kind.BOOLEAN, required=True)
PAIRED: Final = Views(
    View("kinds", "id", (SURE_KIND, _FOUND)), View("marks", "id", (MARKS.attributes[0], _SURELY))
)


def kinds_of(views: Views) -> list[Entity]:
    """List all possible entities: every value of every attribute, or None if it may be missing."""
    sides = []
    for side in BOTH:
        values = [
            [*range(one.bins), *([] if one.required else [None])]
            for one in views.view(side).attributes
        ]
        sides.append(list(itertools.product(*values)))
    return list(itertools.product(*sides))


def entities_of(views: Views, size: int, seed: int) -> Entities:
    """Return entities of which half are of only two kinds, so that the views are related."""
    generator = np.random.default_rng(seed)
    kinds = kinds_of(views)
    usual = generator.integers(0, len(kinds), 2)
    which = np.where(
        generator.random(size) < 0.5,
        usual[generator.integers(0, 2, size)],
        generator.integers(0, len(kinds), size),
    )
    return Entities(views, tuple(kinds[number] for number in which))


@dataclass(frozen=True)
class Toy:
    """A run on two views."""

    views: Views
    how: Algorithm


def _pairs(depth: int) -> TreePair:
    return TreePair(depth=depth, walk_steps=8, tree_share=Fraction(9, 10))


# A flag says nothing new beside a spot, nor a kind beside a mark.
_SPOTS: Final = Group(("flag",), ("spot",))
_MARKS: Final = Group(("kind",), ("mark",))

# Runs whose guarantee is exact.
EXACT: Final = {
    "twin": Toy(NARROW, Twin(depth=1)),
    "twin, leverage": Toy(NARROW, Twin(depth=1, root_score=RootScore.LEVERAGE)),
    "twin, agreement": Toy(NARROW, Twin(depth=1, root_score=RootScore.AGREEMENT)),
    "twin, two trials": Toy(NARROW, Twin(depth=1, trials=2)),
    "twin, two levels": Toy(NARROW, Twin(depth=2)),
    "twin, required": Toy(
        WIDE, Twin(depth=1, steering=Steering(require=((Side.LEFT, "kind"),)))
    ),
    "twin, unmatched, two trials": Toy(
        WIDE, Twin(depth=1, trials=2, steering=Steering(unmatched=(_SPOTS, _MARKS)))
    ),
    "twin, steered, two levels": Toy(
        WIDE,
        Twin(depth=2, steering=Steering(require=((Side.RIGHT, "mark"),), unmatched=(_SPOTS,))),
    ),
    "twin, scout": Toy(NARROW, Twin(depth=1, trials=2, scout=Fraction(1, 5))),
    "twin, scout, again": Toy(NARROW, Twin(depth=1, trials=2, scout=Fraction(2, 3), again=True)),
    "twin, scout, deepened": Toy(NARROW, Twin(depth=2, trials=2, scout=Fraction(1, 4))),
    "alt-expm": Toy(NARROW, AltExpM(depth=1)),
    "alt-expm, start alone": Toy(
        NARROW,
        AltExpM(depth=1, alternations=0, root_score=RootScore.AGREEMENT
        ),
    ),
    "alt-expm, steered start": Toy(
        WIDE, AltExpM(depth=1, alternations=0, steering=Steering(unmatched=(_SPOTS, _MARKS)))
    ),
    "alt-expm, random start": Toy(
        NARROW,
        AltExpM(depth=1, start=Start.RANDOM, counts=Counts.LEAST_SQUARES
        ),
    ),
    "alt-expm, two levels": Toy(
        WIDE, AltExpM(depth=2, alternations=1, start=Start.RANDOM)
    ),
    "alt-mcmc, start alone": Toy(
        NARROW,
        AltMCMC(depth=1, alternations=0, counts=Counts.TWO_PASS),
    ),
    "alt-mcmc": Toy(WIDE, AltMCMC(depth=1, alternations=1)),
    "alt-mcmc, random start": Toy(
        WIDE,
        AltMCMC(depth=1, start=Start.RANDOM, counts=Counts.TWO_PASS),
    ),
    "alt-mcmc, two levels": Toy(
        WIDE, AltMCMC(depth=2, alternations=1, start=Start.RANDOM)
    ),
    "describe": Toy(ASKED, Describe(depth=1)),
    "describe, agreement": Toy(ASKED, Describe(depth=1, tree_score=TreeScore.AGREEMENT)),
    "describe, two levels": Toy(ASKED, Describe(depth=2)),
    "describe, two trees": Toy(ASKED, Describe(depth=1, trials=2)),
    "refine": Toy(PAIRED, Refine(depth=2)),
}  # fmt: skip

# Runs whose guarantee holds in the limit; these walks are short, so that they end far from it.
WALKS: Final = {
    "alt-mcmc, walk": Toy(WIDE, AltMCMC(depth=1, walk_steps=4, sampler=Sampler.WALK)),
    "alt-mcmc, walk, two levels": Toy(
        WIDE,
        AltMCMC(
            depth=2,
            alternations=1,
            walk_steps=20,
            sampler=Sampler.WALK,
            start=Start.RANDOM,
        ),
    ),
    "tree-pair": Toy(WIDE, _pairs(depth=1)),
    "tree-pair, purity": Toy(WIDE, replace(_pairs(depth=1), pair_score=PairScore.PURITY)),
    "tree-pair, two levels": Toy(NARROW, replace(_pairs(depth=2), walk_steps=20)),
}
