"""The runs on the tape: every algorithm, both profiles, small and middle data, missing values."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import redveil
from redveil.data.synthetic import clinic_frames, clinic_schema, wide_dataset, write_clinic
from support.mixed import mixed_dataset

RECORDED: Final = Path(__file__).parent / "recorded"


@cache
def clinic(patients: int) -> redveil.Dataset:
    """Return the clinic, some of whose laboratory values are missing."""
    return redveil.load(*clinic_frames(patients), clinic_schema())


def clinic_from_files(patients: int) -> redveil.Dataset:
    """Return the clinic as it is read from text files."""
    with tempfile.TemporaryDirectory() as folder:
        left, right, schema = write_clinic(Path(folder), patients)
        return redveil.load(left, right, redveil.Schema.read(schema))


def earlier(name: str) -> redveil.Result:
    """Return the result of another case, as it is recorded."""
    return redveil.Result.read(RECORDED / f"{name}.result.json")


def mined(dataset: Callable[[], redveil.Dataset], **parameters: Any) -> Callable[[], Any]:
    """Return a case that mines, at ε = 1 unless it says otherwise."""
    return lambda: redveil.mine(dataset(), **{"epsilon": 1, **parameters}, ledger=None)


def walking(**parameters: Any) -> dict[str, Any]:
    """Return parameters of a run by a short walk."""
    return {"depth": 2, "trials": 2, "walk_steps": 300, **parameters}


def small() -> redveil.Dataset:
    """Return 300 entities; every seventh value is missing."""
    return mixed_dataset(300, seed=7)


def middle() -> redveil.Dataset:
    """Return 4,000 patients."""
    return clinic(4000)


def wide() -> redveil.Dataset:
    """Return 3,000 entities with 100 flags and 40 numbers."""
    return wide_dataset(3000)


CASES: Final[dict[str, Callable[[], redveil.Result]]] = {
    "twin-small": mined(small),
    "twin-middle": mined(middle),
    "twin-wide": mined(wide),
    "twin-files": mined(lambda: clinic_from_files(1000), epsilon=2),
    "twin-delta": mined(middle, delta=1e-6),
    "twin-steered": mined(
        middle, depth=2, trials=2, ignore=["sex"], require=["gout"], within="[age > 40]"
    ),
    "twin-margins": mined(small, depth=2, trials=1, counts="least-squares", epsilon=5),
    "alt-expm-small": mined(small, algorithm="alt-expm", epsilon=3),
    "alt-expm-middle": mined(middle, algorithm="alt-expm"),
    "alt-expm-deep": mined(middle, algorithm="alt-expm", depth=3, trials=2, epsilon=4),
    "alt-expm-random": mined(middle, algorithm="alt-expm", start="random", depth=2, trials=2),
    "alt-mcmc-exact": mined(middle, algorithm="alt-mcmc", depth=2, trials=2),
    "alt-mcmc-walk": mined(
        middle, algorithm="alt-mcmc", sampler="walk", alternations=2, **walking()
    ),
    "alt-mcmc-walk-small": mined(
        small, algorithm="alt-mcmc", sampler="walk", epsilon=3, **walking()
    ),
    "tree-pair": mined(middle, algorithm="tree-pair", **walking()),
    "tree-pair-purity": mined(
        small, algorithm="tree-pair", pair_score="purity", epsilon=3, **walking()
    ),
    "published-alt-expm": mined(
        small, profile="published", algorithm="alt-expm", depth=3, alternations=3
    ),
    "published-alt-expm-wide": mined(
        wide, profile="published", algorithm="alt-expm", depth=2, alternations=2
    ),
    "published-alt-mcmc": mined(
        small, profile="published", algorithm="alt-mcmc", alternations=2, depth=2, walk_steps=800
    ),
    "published-tree-pair": mined(
        small, profile="published", algorithm="tree-pair", **walking(walk_steps=800)
    ),
    "describe": lambda: redveil.describe(middle(), "[gout]", epsilon="1/2", ledger=None),
    "describe-long": lambda: redveil.describe(
        middle(), "[age > 60] & ![gout]", epsilon=1, depth=2, ledger=None
    ),
    "refine": lambda: redveil.refine(
        earlier("twin-middle"), clinic(5000), epsilon=1, ledger=None
    ),
    "confirm": lambda: redveil.confirm(
        earlier("twin-middle"), clinic(2000), epsilon=1, ledger=None
    ),
}  # fmt: skip
