"""Three published ways to mine without privacy, to compare with. For the data owner only."""

from __future__ import annotations

from typing import Literal, TypeAlias

BaselineName: TypeAlias = Literal["split-trees", "layered-trees", "cartwheels"]
