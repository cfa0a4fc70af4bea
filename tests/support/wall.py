"""Rows that can be recognised wherever they turn up, and eyes that look everywhere for them."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, Never

import numpy as np
import polars as pl

import redveil
from redveil import sealed as sealed_module
from redveil.algorithms.catalogue import EVERYTHING, make_algorithm
from redveil.algorithms.confirm import Confirm
from redveil.algorithms.derived import with_derived
from redveil.algorithms.population import part_of
from redveil.algorithms.steering import Steering
from redveil.data.binning import BinnedTable, BinnedView
from redveil.data.report import LoadReport
from redveil.data.table import CodedColumn, NumericColumn, Table
from redveil.findings.reporting import Reporting
from redveil.losses.loss import Loss
from redveil.mining import Mined, mine
from redveil.query.condition import read_conditions
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Sealed
from redveil.trees.tree import Tree
from support.seeded import SeededRandomness

#: How many entities the marked tables have. No line, price or parameter has this number.
ENTITIES: Final = 2903
SECRET: Final = "zebra-Q7X"
#: A number within the bounds that is no cut point, and one that is out of bounds.
INSIDE: Final = 41.0625
OUTSIDE: Final = 987654.25
#: Texts that give away a row: a key, an undeclared category, numbers, and how many rows there are.
MARKS: Final = re.compile(rf"Q7X|987654|41\.0625|(?<![\w.]){ENTITIES}(?![\w.]|, in )")
PRIVATE_TYPES: Final = (Table, BinnedTable, BinnedView, NumericColumn, CodedColumn, LoadReport)


def marked_schema() -> Schema:
    """Return what is public about the marked tables."""
    left = (
        Attribute("age", Kind.NUMERIC, minimum=0, maximum=110, cuts=(20.0, 40.0, 60.0, 80.0)),
        Attribute("ward", Kind.CATEGORICAL, categories=("north", "south", "west")),
        Attribute("gout", Kind.BOOLEAN),
    )
    right = (
        Attribute("urate", Kind.NUMERIC, minimum=0, maximum=200, cuts=(5.0, 50.0, 100.0)),
        Attribute("pain", Kind.ORDINAL, categories=("none", "some", "much")),
        Attribute("cough", Kind.BOOLEAN),
    )
    views = View("history", "person", left), View("laboratory", "person", right)
    return Schema("marked", *views, unit="person")


def marked_frames(entities: int = ENTITIES) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return both tables. Gout and urate go together, so that there is something to be found."""
    number = np.arange(entities)
    sick = number % 3 == 0
    keys = [f"Q7X-{i}" for i in number]
    age = np.where(number % 2 == 0, INSIDE, np.where(number % 7 == 0, OUTSIDE, 70.0))
    wards = np.array(["north", "south", "west", SECRET])[number % 4]
    urate = np.where(sick, 120.0, np.where(number % 5 == 0, -OUTSIDE, INSIDE))
    pain = np.array(["none", "some", "much", SECRET])[np.where(sick, 2, number % 4)]
    left = {"person": keys, "age": age, "ward": wards, "gout": sick, "note": keys}
    right = {"person": keys, "urate": urate, "pain": pain, "cough": number % 2 == 1}
    return pl.DataFrame(left), pl.DataFrame(right)


@cache
def marked(entities: int = ENTITIES) -> redveil.Dataset:
    """Return the tables, loaded and sealed."""
    return redveil.load(*marked_frames(entities), marked_schema())


def write_marked(folder: Path) -> tuple[Path, Path]:
    """Write both tables and their schema into a folder whose own name is a mark."""
    place = folder / SECRET
    place.mkdir()
    paths = place / "history.csv", place / "laboratory.csv"
    for frame, path in zip(marked_frames(), paths, strict=True):
        frame.write_csv(path)
    # A ledger knows a data set by its id.
    identified = replace(marked_schema(), id="3f1c7a4e-9d5b-4c0a-8a61-0f6f1f7c2b9d")
    identified.save(place / "datapackage.json")
    return paths


#: Leaves out one attribute, requires another, and keeps two apart.
STEERING: Final = {
    "ignore": ["ward"], "require": ["gout"], "unmatched": [["age", "pain"]]
}  # fmt: skip

#: The shortest runs of every algorithm, by name.
RUNS: Final[dict[str, dict[str, Any]]] = {
    # With a size and a scout.
    "twin, tuned": {},
    "twin": {"depth": 2, "trials": 1},
    "twin, steered": {"depth": 2, "trials": 1, "steering": STEERING},
    "twin, of a part": {"depth": 2, "trials": 1},
    "alt-expm": {"algorithm": "alt-expm", "depth": 1, "trials": 1, "alternations": 1},
    "alt-expm, start alone": {"algorithm": "alt-expm", "alternations": 0},
    "alt-mcmc": {"algorithm": "alt-mcmc", "depth": 2, "trials": 1, "alternations": 1},
    "walk": {
        "algorithm": "alt-mcmc", "sampler": "walk", "depth": 1, "trials": 1, "alternations": 1,
        "walk_steps": 10,
    },
    "tree-pair": {"algorithm": "tree-pair", "depth": 1, "trials": 1, "walk_steps": 10},
    "describe": {"algorithm": "describe", "depth": 2, "trials": 2},
    "describe, tuned": {"algorithm": "describe"},
    "refine": {"algorithm": "refine", "depth": 2, "tree_share": "2/3"},
    "confirm": {"algorithm": "confirm", "trials": 1},
}  # fmt: skip
#: A given pair of queries, which is refined, or measured again.
GIVEN: Final = {
    Side.LEFT: [parse_text("[age > 40] & ![gout]")],
    Side.RIGHT: [parse_text("[urate <= 100]")],
}


def asked(name: str, rows: redveil.Dataset) -> redveil.Dataset:
    """Return the tables as a run asks for them."""
    if name.endswith("of a part"):
        schema = marked_schema()
        return part_of(rows, read_conditions("[age > 40]", schema, "within"))
    if name.startswith("describe"):
        return with_derived(rows, {Side.LEFT: GIVEN[Side.LEFT]}, keep=False)
    if name == "refine":
        return with_derived(rows, GIVEN, keep=True)
    if name == "confirm":
        return with_derived(rows, GIVEN, keep=False, unknown_is_false=True)
    return rows


def mine_marked(
    name: str,
    progress: Callable[[float], None] = lambda _: None,
    entities: int = ENTITIES,
    rows: redveil.Dataset | None = None,
) -> Mined:
    """Run an algorithm with noise that repeats, so that no noisy number is a mark by chance."""
    parameters = dict(RUNS[name])
    steering = Steering.of(marked_schema(), **parameters.pop("steering", {}))
    algorithm, loss = make_algorithm(**parameters, among=EVERYTHING), Loss(Fraction(1))
    if isinstance(algorithm, Confirm):
        algorithm = Confirm.measuring(((Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,))),))
    algorithm = replace(algorithm, steering=steering)
    wanted = asked(name, rows or marked(entities))
    return mine(wanted, algorithm, Reporting(), loss, SeededRandomness, progress)


class Poison:
    """Stands where a row should be, and raises an error with a mark when it is touched."""

    def __getattr__(self, name: str) -> Never:
        # Numba asks whether arguments have this attribute. The C function it calls can report
        # only absence; Python 3.13 and later print any other error as unraisable.
        raise (AttributeError if name == "_numba_type_" else ValueError)(SECRET)

    def __repr__(self) -> str:
        return SECRET


@dataclass
class Poisoning:
    """Counts how often work goes inside a seal, and spoils the contents once."""

    spoiled: int
    entered: int = 0


@contextmanager
def poisoned(spoiled: int) -> Iterator[Poisoning]:
    """Hand poison to the computation that is the given one to look into a seal, from 1 on."""
    real, state = sealed_module._contents, Poisoning(spoiled)

    def contents(sealed: Sealed[Any]) -> Any:
        frames = [frame for frame, _ in traceback.walk_stack(sys._getframe(1))][:4]
        names = [frame.f_code.co_name for frame in frames]
        # `within` looks from a generator of its own; where a walk ended is released as it is.
        if "within" not in names[:2] or "walk" in names:
            return real(sealed)
        state.entered += 1
        return Poison() if state.entered == state.spoiled else real(sealed)

    sealed_module._contents = contents
    try:
        yield state
    finally:
        sealed_module._contents = real


def leaks_in_text(text: str) -> list[str]:
    """Return the lines that give something away."""
    return [line for line in text.splitlines() if MARKS.search(line)]


def leaks_in_frames(frames: Iterable[FrameType]) -> list[str]:
    """Return where local variables hold rows, or show them when they are printed."""
    found = []
    with np.printoptions(threshold=sys.maxsize):
        for frame in frames:
            for name, value in frame.f_locals.items():
                if _holds_rows(value) or MARKS.search(_printed(value)):
                    found.append(f"{frame.f_code.co_qualname}: {name}")
    return found


def leaks_in_error(error: BaseException) -> list[str]:
    """Return what an exception gives away: message, notes, chain, and every frame's variables.

    The frame that caught it is the attacker's own, and so is this module.
    """
    found, todo, seen = [], [error], set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        found += leaks_in_text("".join(traceback.format_exception(one)))
        found += leaks_in_text(repr((one, one.args, vars(one))))
        frames = [frame for frame, _ in traceback.walk_tb(one.__traceback__)]
        own = frames[:1] if one is error else []
        found += leaks_in_frames(
            frame for frame in frames if frame not in own and frame.f_code.co_filename != __file__
        )
        # Whether or not Python would print them.
        todo += [other for other in (one.__cause__, one.__context__) if other is not None]
    return found


def _holds_rows(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return ENTITIES in value.shape or -(-ENTITIES // 64) in value.shape
    return isinstance(value, PRIVATE_TYPES)


def _printed(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return repr(error.args)
