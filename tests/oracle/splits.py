"""The splits of a view as sets of bins, and the bins that a path leaves possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redveil.schema import Kind, View


@dataclass(frozen=True)
class SplitSet:
    """One split: the attribute's number and every bin for which the split holds."""

    attribute: int
    holds: frozenset[int]


def splits_of(view: View) -> list[SplitSet]:
    """List a view's splits, attribute by attribute.

    Each division of the bins appears once: with two categories, the second split would divide the
    bins as the first does.
    """
    found: list[SplitSet] = []
    for number, attribute in enumerate(view.attributes):
        bins = range(attribute.bins)
        if attribute.kind is Kind.BOOLEAN:
            sets = [frozenset({1})]
        elif attribute.kind is Kind.CATEGORICAL:
            sets = [frozenset({b}) for b in bins]
        else:
            sets = [frozenset(range(b + 1)) for b in bins]
        listed: list[frozenset[int]] = []
        for holds in sets:
            others = frozenset(bins) - holds
            if others and others not in listed:
                listed.append(holds)
        found += [SplitSet(number, holds) for holds in listed]
    return found


def open_bins(view: View, path: Sequence[tuple[int, bool]]) -> list[list[int]]:
    """Return, for each attribute, the bins whose values would have taken the path."""
    splits = splits_of(view)
    return [
        [
            b
            for b in range(attribute.bins)
            if all((b in splits[s].holds) == held for s, held in path if splits[s].attribute == a)
        ]
        for a, attribute in enumerate(view.attributes)
    ]


def informative(view: View, path: Sequence[tuple[int, bool]]) -> list[bool]:
    """Return, for each split, whether two bins that took the path would answer differently."""
    remaining = open_bins(view, path)
    return [
        len({b in split.holds for b in remaining[split.attribute]}) == 2
        for split in splits_of(view)
    ]


def follows(view: View, path: Sequence[tuple[int, bool]], split: int) -> bool:
    """Return whether the split holds in every bin that took the path."""
    one = splits_of(view)[split]
    return all(b in one.holds for b in open_bins(view, path)[one.attribute])
