"""What an experiment mines: a public data set, or generated data. Each with its true rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np

import redveil
from redveil_research.experiments import datasets, generators
from redveil_research.experiments.rows import Rows, TwoTables, write_segments

SchemaChoice: TypeAlias = Literal["draft", "declared"]
# From this many rows on, generated data gets the paper's parameters for larger data.
LARGE: Final = 10_000
DIGITS: Final = "0123456789ABCDEF"
# About how many beneficiaries a segment of the paper's has, and of those that are smaller.
PAPER_SEGMENT: Final = 7200
SMALL_SEGMENTS: Final = {"CMS2": 625}


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A data set, sealed for mining, and its true rows for judging.

    >>> World("noise", 50).load().dataset
    <Dataset noise: 60 left and 40 right attributes>
    """

    dataset: redveil.Dataset
    views: tuple[Rows, Rows]


@dataclass(frozen=True, slots=True)
class PublicSubject:
    """A public data set in a folder, with a schema drafted from it or declared without it.

    segments: of a CMS data set, so many of the 16, by the first hexadecimal digit of the id
    cache:    for the files of the segments, which are written once

    >>> PublicSubject("CMS2", Path("somewhere"), segments=4).title
    'CMS2/4'
    """

    name: str
    folder: Path
    schema: SchemaChoice = "draft"
    segments: int = 0
    cache: Path = Path()

    @property
    def title(self) -> str:
        """The name in tables and journals."""
        return f"{self.name}/{self.segments}" if self.segments else self.name

    @property
    def large(self) -> bool:
        """Whether the paper's parameters for larger data apply."""
        return datasets.find(self.name).large

    @property
    def prune(self) -> int | None:
        """The paper's pruning threshold; in proportion where the paper has no data as small."""
        known = datasets.find(self.name).prune
        if known is None or not self.segments or self.name not in SMALL_SEGMENTS:
            return known
        return round(known * min(self.segments * SMALL_SEGMENTS[self.name] / PAPER_SEGMENT, 1))

    def files(self) -> tuple[Path, Path]:
        """Return the two files; those of segments are written unless they are there."""
        whole = datasets.find(self.name).files(self.folder)
        if not self.segments:
            return whole
        left, right = (
            self.cache / f"{self.name}-{self.segments}-{s}.csv" for s in ("left", "right")
        )
        for path, original in zip((left, right), whole, strict=True):
            if not path.is_file():
                self.cache.mkdir(parents=True, exist_ok=True)
                write_segments(original, path, DIGITS[: self.segments])
        return left, right

    def load(self) -> Loaded:
        """Load both files twice: with redveil, and as they are."""
        files = self.files()
        draft = self.schema == "draft"
        schema = (
            redveil.draft(*files).schema if draft else datasets.find(self.name).schema(self.folder)
        )
        return Loaded(redveil.load(*files, schema), TwoTables.read(*files).views())


@dataclass(frozen=True, slots=True)
class World:
    """Generated data.

    strength:  how strongly its views are related; None for the generator's own
    unrelated: whether the rows of the right view are shuffled, so that nothing is related

    >>> World("survey", 500, strength=0.3).title
    'survey 0.3, 500'
    >>> World("survey", 500, unrelated=True).title
    'survey shuffled, 500'
    """

    name: str
    rows: int
    seed: int = 1
    strength: float | None = None
    unrelated: bool = False
    # A person reads the threshold off a plot.
    prune: None = None

    @property
    def title(self) -> str:
        """The name in tables and journals; worlds that differ by their seed share it."""
        strength = "" if self.strength is None else f" {self.strength:g}"
        return f"{self.name}{strength}{' shuffled' if self.unrelated else ''}, {self.rows}"

    @property
    def large(self) -> bool:
        """Whether the paper's parameters for larger data apply."""
        return self.rows >= LARGE

    def load(self) -> Loaded:
        """Generate the data."""
        made = generators.generate(self.name, self.rows, self.seed, self.strength)
        tables = made.tables
        if self.unrelated:
            order = np.random.default_rng(self.seed).permutation(self.rows)
            tables = tables.unrelated(order)
        dataset = redveil.load(tables.left, tables.right, made.schema)
        return Loaded(dataset, tables.views())


def public_subject(name: str, data: Path, out: Path) -> PublicSubject:
    """Return a data set, or with a slash so many segments of it, which are kept in a folder.

    >>> public_subject("CMS-ALL/8", Path("data"), Path("out")).segments
    8
    """
    base, _, segments = name.partition("/")
    return PublicSubject(base, data, segments=int(segments or 0), cache=out / "segments")


# Data that can be loaded in any process: sealed data cannot be sent to one.
Subject: TypeAlias = PublicSubject | World


def public_subjects(
    folder: Path | None, only: Sequence[str], schema: SchemaChoice
) -> tuple[list[Subject], list[str]]:
    """Return the data sets that a folder has, and a message for each that it lacks.

    >>> public_subjects(Path("nowhere"), [], "draft")
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere: no such folder; name the folder of the data sets
    """
    if folder is None:
        raise redveil.InputError("no data; name the folder of the data sets, or use --generated")
    if not folder.is_dir():
        raise redveil.InputError(f"{folder}: no such folder; name the folder of the data sets")
    found, skipped = datasets.present(folder, only)
    return [PublicSubject(one.name, folder, schema) for one in found], skipped


def worlds(only: Sequence[str], rows: Sequence[int]) -> list[Subject]:
    """Return generated data of these kinds, all kinds if none is named, and of these sizes.

    >>> [world.title for world in worlds(["noise", "survey"], [300])]
    ['noise, 300', 'survey, 300']
    """
    names = only or list(generators.GENERATORS)
    if not set(names) <= set(generators.GENERATORS):
        known = ", ".join(generators.GENERATORS)
        raise redveil.InputError(f"no such generator; use one of {known}")
    return [World(name, size) for name in names for size in rows]
