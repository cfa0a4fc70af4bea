"""Entities sent through trees one at a time. A missing value is None."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Ask(Enum):
    """What a node asks of an entity."""

    FLAG = "is the flag true?"
    AT_MOST = "is the code at most the node's?"
    EQUAL = "is the code the node's?"


@dataclass(frozen=True)
class Question:
    """One inner node: what it asks, of which column, compared with which code."""

    ask: Ask
    column: int
    code: int = 0

    def answer(self, flags: Sequence[bool | None], codes: Sequence[int | None]) -> bool | None:
        """Return what one entity answers, None when its value is missing."""
        if self.ask is Ask.FLAG:
            return flags[self.column]
        value = codes[self.column]
        if value is None:
            return None
        return value <= self.code if self.ask is Ask.AT_MOST else value == self.code


def child(node: int, *, answer: bool | None) -> int:
    """Return the next node: left if the split holds, right if not, the same if missing."""
    if answer is None:
        return node
    return 2 * node + 1 if answer else 2 * node + 2


def descend(
    positions: Sequence[int],
    first: int,
    questions: Mapping[int, Question],
    flags: Sequence[Sequence[bool | None]],
    codes: Sequence[Sequence[int | None]],
) -> list[int]:
    """Return the node of each entity after one step from the nodes `first` and higher.

    A node without a question is a leaf. flags, codes: the columns, each as long as positions.
    """
    moved: list[int] = []
    for entity, node in enumerate(positions):
        if node < first or node not in questions:
            moved.append(node)
            continue
        answer = questions[node].answer([c[entity] for c in flags], [c[entity] for c in codes])
        moved.append(child(node, answer=answer))
    return moved


def walk(splits: Sequence[int | None], answer: Callable[[int], bool | None]) -> int:
    """Return the node at which one entity ends.

    splits: the split of every node, None for a leaf; answer: whether a split holds for the entity.
    """
    node = 0
    while node < len(splits):
        split = splits[node]
        if split is None:
            break
        following = child(node, answer=answer(split))
        if following == node:
            break
        node = following
    return node
