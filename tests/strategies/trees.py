"""Random trees over a view's public list of splits."""

from __future__ import annotations

from hypothesis import strategies as st

from oracle.splits import splits_of
from redveil.schema import Side, View
from redveil.trees.tree import Tree


@st.composite
def trees(draw: st.DrawFn, view: View, side: Side = Side.LEFT, most_levels: int = 4) -> Tree:
    """One tree of up to `most_levels` levels; some branches end early."""
    splits = splits_of(view)
    levels = draw(st.sampled_from(range(most_levels, -1, -1)))
    chosen: list[int | None] = []
    for node in range(2**levels - 1):
        hangs = node == 0 or chosen[(node - 1) // 2] is not None
        ends = not hangs or draw(st.integers(0, 3)) == 3
        chosen.append(None if ends else draw(st.integers(0, len(splits) - 1)))
    stuck = tuple(
        node
        for node, split in enumerate(chosen)
        if split is not None and not view.attributes[splits[split].attribute].required
    )
    return Tree(side, tuple(chosen), stuck)
