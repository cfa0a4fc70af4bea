"""The names that users choose from. Imports nothing, so that help and completion stay fast.

A contract test compares them with the algorithms, profiles and parameters that there are.
"""

from __future__ import annotations

from typing import Literal

AlgorithmName = Literal["twin", "alt-expm", "alt-mcmc", "tree-pair"]
# Those that start from given queries, and all of them together.
QuestionName = Literal["describe", "refine", "confirm"]
AnyAlgorithmName = Literal[
    "twin", "alt-expm", "alt-mcmc", "tree-pair", "describe", "refine", "confirm"
]
ProfileName = Literal["hardened", "published"]
CountsName = Literal["cells", "least-squares", "two-pass"]
SamplerName = Literal["exact", "walk"]
StartName = Literal["private", "random"]
RootScoreName = Literal["correspondence", "leverage", "agreement"]
PairScoreName = Literal["association", "purity"]
