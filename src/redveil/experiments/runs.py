"""Single runs of an experiment: mined, held against the truth, and kept in a journal.

A journal is a file of JSON lines. Every run is one line, appended as soon as it is finished, so
that an experiment that was stopped goes on where it was. NOT private: it holds true values.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import redveil
from redveil import owner
from redveil.algorithms.parameters import Algorithm, Parameters, Profile
from redveil.errors import InputError
from redveil.version import software

if TYPE_CHECKING:
    from redveil.data.dataset import Dataset

Cell: TypeAlias = tuple[str, str, str]
PAPERS_ALGORITHMS = ("alt-mcmc", "alt-expm", "tree-pair")


@dataclass(frozen=True, slots=True)
class Run:
    """One run and what became of it; a value a redescription in each list.

    `settings` names the schema, the parameters and the software that made it. `distinct` counts
    different triples of true supports (left, right, both): what is the same extent under another
    wording counts once.

    >>> Run("MAMMAL", "twin", "1", 1, "x", 0.5, 0.5).found
    0
    """

    data: str
    algorithm: str
    epsilon: str
    number: int
    settings: str
    seconds: float
    cpu: float
    distinct: int = 0
    true: tuple[float, ...] = ()
    noisy: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    true_p: tuple[float, ...] = ()
    p_bound: tuple[float, ...] = ()

    @property
    def found(self) -> int:
        """How many redescriptions were reported."""
        return len(self.true)

    @property
    def cell(self) -> Cell:
        """The cell of the table that the run belongs to."""
        return self.data, self.algorithm, self.epsilon


def settings_of(algorithm: str, *, large: bool) -> dict[str, Any]:
    """Return what `mine` is given for an algorithm's name in the table.

    The paper's algorithms run as published, with the paper's parameters for small or `large` data;
    `:hardened` after a name means our profile, and any other name our defaults. `+1e-6` at the
    end is a δ.

    >>> settings_of("twin", large=True)
    {'algorithm': 'twin'}
    >>> settings_of("tree-pair", large=True)["trials"]
    20
    >>> settings_of("tree-pair:hardened", large=True)
    {'algorithm': 'tree-pair', 'profile': 'hardened'}
    >>> settings_of("twin+1e-6", large=True)
    {'algorithm': 'twin', 'delta': '1e-6'}
    """
    algorithm, _, delta = algorithm.partition("+")
    name, _, profile = algorithm.partition(":")
    if profile or name not in PAPERS_ALGORITHMS:
        ours = {"algorithm": name, "profile": profile, "delta": delta}
        return {key: value for key, value in ours.items() if value}
    given: dict[str, Any] = {"algorithm": name, "profile": Profile.PUBLISHED.value}
    if not large:
        return given
    constraints = Parameters.of(**given).constraints
    given["constraints"] = replace(constraints, min_support=100)
    return given | {"trials" if name == Algorithm.TREE_PAIR else "alternations": 20}


def parameters_of(given: Mapping[str, Any]) -> Parameters:
    """Return the parameters among what `mine` is given.

    >>> parameters_of({"algorithm": "twin", "delta": "1e-6"}).algorithm.value
    'twin'
    """
    return Parameters.of(**{key: value for key, value in given.items() if key != "delta"})


def settings_name(dataset: Dataset, given: Mapping[str, Any]) -> str:
    """Return a short name of everything that a run depends on, its price and its noise aside.

    >>> from redveil.data.synthetic import wide_dataset
    >>> len(settings_name(wide_dataset(10), {}))
    12
    """
    parts = [software(), dataset.schema.digest, parameters_of(given).public(), dict(given)]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def perform(
    dataset: Dataset, data: str, algorithm: str, epsilon: str, number: int, *, large: bool
) -> Run:
    """Mine once, timed, and look up the truth.

    >>> from redveil.data.synthetic import wide_dataset
    >>> run = perform(wide_dataset(500), "wide", "alt-expm:hardened", "1", 1, large=False)
    >>> run.cell
    ('wide', 'alt-expm:hardened', '1')
    """
    given = settings_of(algorithm, large=large)
    wall, cpu = time.perf_counter(), time.process_time()
    result = redveil.mine(dataset, epsilon=epsilon, **given)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    found = owner.truth(result, dataset).redescriptions
    truths = [one.true for one in found if one.true is not None]
    supports = {(t.support.left, t.support.right, t.support.both) for t in truths}
    return Run(
        data,
        algorithm,
        epsilon,
        number,
        settings_name(dataset, given),
        round(spent[0], 4),
        round(spent[1], 4),
        distinct=len(supports),
        true=tuple(t.jaccard for t in truths),
        noisy=tuple(one.jaccard.estimate for one in found),
        low=tuple(one.jaccard.low for one in found),
        high=tuple(one.jaccard.high for one in found),
        true_p=tuple(t.p_value for t in truths),
        p_bound=tuple(one.p_value for one in found),
    )


def append(journal: Path, run: Run) -> None:
    """Add a run to the journal with a single write, so that several processes may.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     append(path, Run("a", "twin", "1", 1, "x", 0.5, 0.5))
    ...     read(path)[0].cell
    ('a', 'twin', '1')
    """
    line = json.dumps(asdict(run), ensure_ascii=False)
    try:
        handle = os.open(journal, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            # A line that a crash cut short must not swallow this one.
            size = os.fstat(handle).st_size
            torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            os.write(handle, f"{chr(10) if torn else ''}{line}\n".encode())
        finally:
            os.close(handle)
    except OSError:
        raise InputError(f"{journal}: cannot be written; does its folder exist?") from None


def read(journal: Path) -> list[Run]:
    """Return the runs of a journal; none if there is no such file. Broken lines are passed over.

    >>> read(Path("nowhere.jsonl"))
    []
    """
    if not journal.is_file():
        return []
    lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
    return [run for line in lines if (run := _parse(line)) is not None]


def _parse(line: str) -> Run | None:
    """Read a line, or return None if it is not a whole run."""
    try:
        plain = json.loads(line)
    except ValueError:
        return None
    names = {field.name for field in fields(Run)}
    if not isinstance(plain, dict) or set(plain) != names:
        return None
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
    return Run(**values)
