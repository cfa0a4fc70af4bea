"""The variants that the paper compares, and ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Variant:
    """One algorithm with its parameters.

    name: as in the paper's table of significant redescriptions
    code: as in its Mann–Whitney tables and box plots
    base: its name among the runs, without a depth

    >>> VARIANTS[0].at(3)
    'alt-mcmc@3'
    >>> TWIN.at(3)
    'twin'
    """

    name: str
    code: str
    base: str
    stable: bool = False

    def at(self, depth: int) -> str:
        """Return its name among the runs, with trees of a depth; ours sets its own."""
        return self.base if self is TWIN else f"{self.base}@{depth}"


VARIANTS: Final = (
    Variant("AltMCMC", "S", "alt-mcmc"),
    Variant("AltExpM", "EM", "alt-expm"),
    Variant("AltMCMC S", "Ss", "alt-mcmc~stable", stable=True),
    Variant("AltExpM S", "EMs", "alt-expm~stable", stable=True),
    Variant("MCMCTreePair", "M", "tree-pair"),
    Variant("MCMCTreePair b", "Mb", "tree-pair~0.5"),
)
TWIN: Final = Variant("twin", "twin", "twin")
ALL: Final = (*VARIANTS, TWIN)
# The three of the paper's scatter plots and correlations.
PLAIN: Final = tuple(one for one in VARIANTS if one.code in ("S", "EM", "M"))
# Those of the paper's runtimes, which do not depend on the share of ε for the trees, and ours.
TIMED: Final = tuple(one for one in ALL if one.code != "Mb")
BASELINES: Final = {"split-trees": "SplitT", "layered-trees": "LayeredT"}


def by_name(name: str) -> Variant:
    """Return a variant by its name in the paper.

    >>> by_name("AltExpM S").code
    'EMs'
    """
    return next(one for one in ALL if one.name == name)
