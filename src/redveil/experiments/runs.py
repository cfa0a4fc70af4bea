"""Single runs of an experiment, compared with the truth and recorded in a journal.

A journal is a file of JSON lines. Every run is one line, appended as soon as the run is finished,
so that an interrupted experiment can be resumed. NOT private: it contains true values.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import redveil
from redveil.experiments import scouting
from redveil.experiments.judging import Judged, judge, worth
from redveil.experiments.subjects import Loaded

# data set, algorithm, ε
RowKey: TypeAlias = tuple[str, str, str]
PUBLISHED_ALGORITHMS = ("alt-mcmc", "alt-expm", "tree-pair")
# What the paper requires of redescriptions in its larger data sets.
LARGE_LIMITS = {"min_support": 100}


@dataclass(frozen=True, slots=True)
class Run:
    """One run and its redescriptions. Each list has one value per redescription, in their order.

    `settings` identifies the schema, the parameters and the software. `shape` is the depth and the
    number of the trees; `strength` and `related` are what the tuning rule went by (`scouting.py`).
    The other names are those of `Judged`, and of the fields of a result.

    >>> Run("MAMMAL", "twin", "1", 1, "x", 0.5, 0.5).worth
    0.0
    """

    data: str
    algorithm: str
    epsilon: str
    number: int
    settings: str
    seconds: float
    cpu: float
    shape: str = ""
    strength: float | None = None
    related: float | None = None
    jaccard: tuple[float, ...] = ()
    corrected: tuple[float, ...] = ()
    p_value: tuple[float, ...] = ()
    novelty: tuple[float, ...] = ()
    literals: tuple[int, ...] = ()
    share: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    p_bound: tuple[float, ...] = ()
    confirmed: tuple[bool | None, ...] = ()

    @property
    def judged(self) -> tuple[Judged, ...]:
        """The redescriptions, as judged on the true rows."""
        lists = (getattr(self, field.name) for field in fields(Judged))
        return tuple(Judged(*values) for values in zip(*lists, strict=True))

    @property
    def worth(self) -> float:
        """What the list is worth."""
        return worth(self.judged)

    @property
    def found(self) -> int:
        """How many redescriptions were reported."""
        return len(self.jaccard)

    @property
    def row(self) -> RowKey:
        """The row of the table to which the run belongs."""
        return self.data, self.algorithm, self.epsilon


def settings_of(algorithm: str, *, large: bool, prune: int | None = None) -> dict[str, Any]:
    """Return the arguments of `mine` for an algorithm's name in the table.

    The paper's algorithms run in the published profile, with the paper's parameters for small or
    `large` data and its threshold `prune`, if it has one for the data. `:hardened` after a name
    selects the hardened profile. All other names run with redveil's defaults. `@2x3` at the end
    fixes a depth of 2 and 3 pairs of twin trees, or 3 alternations; `+1e-6` is a δ.

    >>> settings_of("twin", large=True)
    {'algorithm': 'twin'}
    >>> settings_of("tree-pair", large=True)["trials"]
    20
    >>> settings_of("alt-expm", large=False, prune=500)["prune"]
    500
    >>> settings_of("alt-expm@3x4", large=False)["depth"]
    3
    >>> settings_of("tree-pair:hardened", large=True)
    {'algorithm': 'tree-pair', 'profile': 'hardened'}
    >>> settings_of("twin+1e-6", large=True)
    {'algorithm': 'twin', 'delta': '1e-6'}
    >>> settings_of("twin@2x3", large=True)
    {'algorithm': 'twin', 'depth': 2, 'trials': 3}
    """
    algorithm, _, fixed = algorithm.partition("@")
    algorithm, _, delta = algorithm.partition("+")
    name, _, profile = algorithm.partition(":")
    if profile or name not in PUBLISHED_ALGORITHMS:
        arguments = {"algorithm": name, "profile": profile, "delta": delta}
        given = {key: value for key, value in arguments.items() if value}
        return given | (_fixed_shape(name, fixed) if fixed else {})
    published: dict[str, Any] = {"algorithm": name, "profile": "published"}
    if large:
        published |= LARGE_LIMITS | {_repeats(name): 20}
    if prune is not None:
        published["prune"] = prune
    return published | (_fixed_shape(name, fixed) if fixed else {})


def _repeats(name: str) -> str:
    """Return the parameter that says how many trees, or pairs of trees, there are."""
    return "trials" if name in ("twin", "tree-pair") else "alternations"


def _fixed_shape(name: str, text: str) -> dict[str, int]:
    """Return depth and repetitions out of a text such as `2x3`."""
    depth, _, repeats = text.partition("x")
    if not (depth.isdecimal() and repeats.isdecimal()):
        raise redveil.InputError(f"{name}@{text}: no shape; write depth x repetitions, as in @2x3")
    return {"depth": int(depth), _repeats(name): int(repeats)}


def settings_name(dataset: redveil.Dataset, given: Mapping[str, Any]) -> str:
    """Return a short hash of everything that a run depends on, except ε and the noise.

    The plan stands for the defaults of parameters that are not given.

    >>> from redveil.data.synthetic import wide_dataset
    >>> len(settings_name(wide_dataset(10), {}))
    12
    """
    plan = redveil.plan(1, schema=dataset.schema, **given)
    parts = [redveil.__version__, dataset.schema.digest, plan.steps, dict(given)]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def perform(
    loaded: Loaded,
    data: str,
    algorithm: str,
    epsilon: str,
    number: int,
    *,
    large: bool,
    prune: int | None = None,
) -> Run:
    """Mine once, measure the time, and judge the list on the true rows.

    >>> from redveil.experiments.subjects import World
    >>> loaded = World("wide", 500).load()
    >>> perform(loaded, "wide", "alt-expm:hardened", "1", 1, large=False).row
    ('wide', 'alt-expm:hardened', '1')
    """
    given = settings_of(algorithm, large=large, prune=prune)
    wall, cpu = time.perf_counter(), time.process_time()
    result = redveil.mine(loaded.dataset, epsilon=epsilon, **given)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    judged = [asdict(one) for one in judge(result, loaded.views)]
    return Run(
        data,
        algorithm,
        epsilon,
        number,
        settings_name(loaded.dataset, given),
        round(spent[0], 4),
        round(spent[1], 4),
        shape=scouting.shape(result),
        strength=scouting.strength(result),
        related=scouting.related(result),
        **{field.name: tuple(one[field.name] for one in judged) for field in fields(Judged)},
        low=tuple(one.jaccard.low for one in result),
        high=tuple(one.jaccard.high for one in result),
        p_bound=tuple(one.p_value for one in result),
        confirmed=tuple(one.confirmed for one in result),
    )


def latest(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with the same settings as the last one, each number once.

    >>> latest([])
    []
    """
    kept = {run.number: run for run in runs if run.settings == runs[-1].settings}
    return list(kept.values())


def newest(runs: Sequence[Run]) -> list[Run]:
    """Return the last run of each number, whatever its settings: where numbers stand for data.

    >>> [run.settings for run in newest([Run("a", "twin", "1", 1, x, 0.5, 0.4) for x in "st"])]
    ['t']
    """
    return list({run.number: run for run in runs}.values())


def append(journal: Path, run: Run) -> None:
    """Append a run to the journal in a single write, so that several processes can share it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     append(path, Run("a", "twin", "1", 1, "x", 0.5, 0.5))
    ...     read(path)[0].row
    ('a', 'twin', '1')
    """
    line = json.dumps(asdict(run), ensure_ascii=False)
    try:
        handle = os.open(journal, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            # After a crash the last line may be incomplete; do not append to it.
            size = os.fstat(handle).st_size
            incomplete = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            os.write(handle, f"{chr(10) if incomplete else ''}{line}\n".encode())
        finally:
            os.close(handle)
    except OSError:
        raise redveil.InputError(f"{journal}: cannot be written; does its folder exist?") from None


def read(journal: Path) -> list[Run]:
    """Return the runs of a journal, none if there is no such file. Incomplete lines are skipped.

    >>> read(Path("nowhere.jsonl"))
    []
    """
    if not journal.is_file():
        return []
    lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
    return [run for line in lines if (run := _parse(line)) is not None]


def _parse(line: str) -> Run | None:
    """Return the run on a line, or None if the line is not a complete run."""
    try:
        plain = json.loads(line)
    except ValueError:
        return None
    names = {field.name for field in fields(Run)}
    if not isinstance(plain, dict) or set(plain) != names:
        return None
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
    return Run(**values)
