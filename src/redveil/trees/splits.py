"""The candidate splits of a view: a public list, the same for every data set with the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redveil.schema import Attribute, Kind, View


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """All candidate splits of a view. A split holds for one range of bins of one attribute.

    attribute: int32[splits], the number of the attribute in the view
    low, high: int32[splits], the first and the last bin for which the split holds
    first_bin: int64[attributes + 1], where each attribute's bins begin when all are concatenated
    """

    view: View
    attribute: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    first_bin: NDArray[np.int64]

    @classmethod
    def of(cls, view: View) -> Splits:
        """List a view's splits: true for Booleans, up to each cut, or one category.

        >>> from redveil.schema import Attribute, Kind, View
        >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 5.0))
        >>> splits = Splits.of(View("patients", "id", (Attribute("sick", Kind.BOOLEAN), age)))
        >>> splits.attribute.tolist(), splits.low.tolist(), splits.high.tolist()
        ([0, 1, 1], [1, 0, 0], [1, 0, 1])
        """
        ranges = [_ranges(attribute) for attribute in view.attributes]
        low, high = np.concatenate([np.zeros((2, 0), dtype=np.int32), *ranges], axis=1)
        numbers = np.arange(len(ranges), dtype=np.int32)
        attribute = np.repeat(numbers, [one.shape[1] for one in ranges])
        bins = [a.bins for a in view.attributes]
        first_bin = np.concatenate([[0], np.cumsum(bins)]).astype(np.int64)
        return cls(view, attribute, low, high, first_bin)

    def __len__(self) -> int:
        return self.attribute.size

    def stops(self, inner: Mapping[int, int]) -> tuple[int, ...]:
        """Return the inner nodes of a tree at which a missing value can stop an entity.

        inner: the split at each inner node, by node number. Depends on the schema alone: an
        attribute that is not required can be missing, but not below a node that tests it.
        """
        return tuple(node for node in sorted(inner) if self._may_stop(inner, node))

    def _may_stop(self, inner: Mapping[int, int], node: int) -> bool:
        attribute = self.attribute[inner[node]]
        if self.view.attributes[attribute].required:
            return False
        above = node
        while above > 0:
            above = (above - 1) // 2
            if self.attribute[inner[above]] == attribute:
                return False
        return True

    def answer(self, path: Sequence[tuple[int, bool]], split: int) -> bool | None:
        """Return whether a path implies that a split holds or does not; None if it implies neither.

        path: see `informative`.
        """
        attribute = self.attribute[split]
        begin, end = self.first_bin[attribute : attribute + 2]
        same = [(above, held) for above, held in path if self.attribute[above] == attribute]
        possible = self._possible(same)[begin:end] if same else np.ones(end - begin, dtype=np.bool_)
        holding = int(possible[self.low[split] : self.high[split] + 1].sum())
        remaining = int(possible.sum())
        return None if 0 < holding < remaining else holding == remaining

    def informative(self, path: Sequence[tuple[int, bool]]) -> NDArray[np.bool_]:
        """Return which splits can still divide the entities on a path, bool[splits].

        path: the splits from the root, each with whether it held. Depends on the schema and the
        path alone. A split whose answer follows from the path would only waste budget.
        """
        possible = self._possible(path)
        before = np.concatenate([[0], np.cumsum(possible)])
        begin, end = self.first_bin[self.attribute], self.first_bin[self.attribute + 1]
        holding = before[begin + self.high + 1] - before[begin + self.low]
        remaining = before[end] - before[begin]
        divides: NDArray[np.bool_] = (holding > 0) & (holding < remaining)
        return divides

    def _possible(self, path: Sequence[tuple[int, bool]]) -> NDArray[np.bool_]:
        """Return the bins that are possible on a path, bool[bins]."""
        possible = np.ones(self.first_bin[-1], dtype=np.bool_)
        for split, held in path:
            attribute = self.attribute[split]
            begin, end = self.first_bin[attribute : attribute + 2]
            inside = np.zeros(end - begin, dtype=np.bool_)
            inside[self.low[split] : self.high[split] + 1] = True
            possible[begin:end] &= inside if held else ~inside
        return possible


def _ranges(attribute: Attribute) -> NDArray[np.int32]:
    """Return the ranges of bins for which the splits of an attribute hold, int32[2, splits]."""
    if attribute.kind is Kind.BOOLEAN:
        return np.ones((2, 1), dtype=np.int32)
    if attribute.kind.is_ordered:
        last = np.arange(attribute.bins - 1, dtype=np.int32)
        return np.stack([np.zeros_like(last), last])
    each = np.arange(attribute.splits, dtype=np.int32)
    return np.stack([each, each])
