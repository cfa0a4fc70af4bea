"""Which pairs of splits twin trees may choose from: a public base measure.

It follows from the schema, from what a user requires and from trees that are released already,
never from the data (growing/pairing.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.schema import Schema, Side
from redveil.schema.naming import without_years
from redveil.trees.splits import Splits

Flags = NDArray[np.bool_]
#: Splits from a root to a node, each with whether it held.
Path = Sequence[tuple[int, bool]]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier pairs of trees ask, by the numbers of attributes. Released, so public.

    roots:   the attributes at their roots, on each side
    matched: the pairs of a left and a right attribute that stand at matched nodes
    """

    roots: Mapping[Side, frozenset[int]] = field(default_factory=dict)
    matched: frozenset[tuple[int, int]] = frozenset()

    def and_also(self, roots: Mapping[Side, int], matched: Collection[tuple[int, int]]) -> Earlier:
        """Return the same with one more pair of trees.

        >>> Earlier().and_also({Side.LEFT: 1, Side.RIGHT: 2}, [(1, 2)]).matched
        frozenset({(1, 2)})
        """
        both = {side: self.roots.get(side, frozenset()) | {roots[side]} for side in Side}
        return Earlier(both, self.matched.union(matched))


NO_EARLIER: Final = Earlier()


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """What may be chosen at a matched pair of nodes.

    splits: the candidate splits of each view
    roots:  bool[splits] on each side, which of them may stand at a root
    apart:  bool[left attributes, right attributes], which may not be matched with each other
    """

    splits: Mapping[Side, Splits]
    roots: Mapping[Side, Flags]
    apart: Flags

    @classmethod
    def of(
        cls, schema: Schema, splits: Mapping[Side, Splits], required: Mapping[Side, Collection[str]]
    ) -> Pairing:
        """Return what a schema's unmatched groups, and required attributes, allow.

        required: names of attributes, of which a root takes one; any, if there are none

        >>> from redveil.data.synthetic import clinic_schema
        >>> clinic = clinic_schema()
        >>> splits = {side: Splits.of(clinic.view(side)) for side in Side}
        >>> Pairing.of(clinic, splits, {Side.LEFT: ["gout"]}).roots[Side.LEFT].sum()
        np.int64(1)
        """
        names = {side: schema.view(side).names for side in Side}
        apart = np.zeros((len(names[Side.LEFT]), len(names[Side.RIGHT])), dtype=np.bool_)
        for group in schema.unmatched:
            left = [name in group.left for name in names[Side.LEFT]]
            right = [name in group.right for name in names[Side.RIGHT]]
            apart |= np.outer(left, right)
        roots = {side: _of_some(splits[side], required.get(side, ())) for side in Side}
        return cls(splits, roots, apart)

    def allowed(self, left: Path, right: Path, earlier: Earlier = NO_EARLIER) -> Flags:
        """Return which pairs of splits may be chosen below two paths, bool[left, right].

        A split must be able to divide the entities on its path, and may not be matched with any
        attribute on the other path. Roots leave the attributes of earlier roots alone; nodes below
        leave pairs of attributes alone that were matched before: other cut points would tell
        the same once more. Both hold only as long as there is anything else to choose.
        """
        paths = {Side.LEFT: left, Side.RIGHT: right}
        informative = {side: self.splits[side].informative(path) for side, path in paths.items()}
        if left or right:
            found = self._apart_from(paths, informative)
            untold = found & ~self._matched(earlier)
            return untold if untold.any() else found
        roots = {side: informative[side] & self.roots[side] for side in Side}
        used = {side: earlier.roots.get(side, frozenset()) for side in Side}
        fresh = {side: self._fresh(side, roots[side], used[side]) for side in Side}
        found = self._apart_from(paths, fresh)
        return found if found.any() else self._apart_from(paths, roots)

    def _fresh(self, side: Side, roots: Flags, avoid: Collection[int]) -> Flags:
        """Return the roots that ask something else than earlier ones, not even in another year."""
        splits = self.splits[side]
        names = np.array([without_years(name) for name in splits.view.names])
        alike = np.flatnonzero(np.isin(names, names[list(avoid)]))
        for used in (alike, list(avoid)):
            others = roots & ~np.isin(splits.attribute, used)
            if others.any():
                return others
        return roots

    def _matched(self, earlier: Earlier) -> Flags:
        """Return the pairs of splits whose attributes were matched before, bool[left, right]."""
        matched = np.zeros_like(self.apart)
        for pair in earlier.matched:
            matched[pair] = True
        return matched[np.ix_(*(self.splits[side].attribute for side in Side))]

    def _apart_from(self, paths: Mapping[Side, Path], may: Mapping[Side, Flags]) -> Flags:
        """Return the pairs of some splits whose attributes may be matched, bool[left, right]."""
        left, right = (self.splits[side].attribute for side in Side)
        # A leaf mentions all attributes of its path.
        above_left, above_right = (
            self.splits[side].attribute[[split for split, _ in paths[side]]] for side in Side
        )
        left_barred = np.logical_or.reduce(self.apart[:, above_right], axis=1)
        right_barred = np.logical_or.reduce(self.apart[above_left, :], axis=0)
        both = np.outer(may[Side.LEFT] & ~left_barred[left], may[Side.RIGHT] & ~right_barred[right])
        return both & ~self.apart[np.ix_(left, right)]


def _of_some(splits: Splits, names: Collection[str]) -> Flags:
    """Return the splits of some attributes, bool[splits]; of all, if these have none."""
    wanted = [number for number, name in enumerate(splits.view.names) if name in names]
    found = np.isin(splits.attribute, wanted)
    # The published profile leaves out attributes that have one value in the data.
    return found if found.any() else np.ones(len(splits), dtype=np.bool_)
