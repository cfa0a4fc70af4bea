"""Single runs of an experiment, compared with the truth and recorded in a journal.

A journal is a file of JSON lines. Every run is one line, appended as soon as the run is finished,
so that an interrupted experiment can be resumed. NOT private: it contains true values.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import redveil
from redveil.seam.truth import estimates_only
from redveil_research.experiments.judging import Judged, binomial_tail, judge, worth
from redveil_research.experiments.subjects import Loaded

# data set, algorithm, ε
RowKey: TypeAlias = tuple[str, str, str]
PUBLISHED_ALGORITHMS = ("alt-mcmc", "alt-expm", "tree-pair")
# What the paper requires of redescriptions in its larger data sets.
LARGE_LIMITS = {"min_support": 100}
# Modules that a run does not depend on.
NOT_MINING = ("cli/", "report/", "schema_form/", "seam/")


class Finding(NamedTuple):
    """One redescription: what a result says about it, and what the rows say.

    p_value: of the true rows, by the paper's test, the binomial tail
    """

    noisy: float
    noisy_support: float
    true: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Run:
    """One run and its redescriptions. Each list has one value per redescription, in their order.

    `settings` identifies the schema, the parameters and the version, `code` the source that mined.
    `shape` is the depth and the number of the trees. `findings` are all redescriptions before
    anything is pruned, so that other thresholds need no other run; `scores` and `histogram` are
    those of a walk. The other names are those of `Judged`, and of the fields of a result.

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
    code: str = ""
    findings: tuple[Finding, ...] = ()
    scores: tuple[float, ...] = ()
    histogram: tuple[int, ...] = ()

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


def settings_of(algorithm: str, *, large: bool) -> dict[str, Any]:
    """Return the arguments of `mine` for an algorithm's name in the table.

    The paper's algorithms run in the published profile, with the paper's parameters for small or
    `large` data; nothing is pruned before it is recorded. `:hardened` after a name selects the
    hardened profile. All other names run with redveil's defaults. Then may follow:

    +1e-6    a δ
    ~stable  the paper's stable setting: many initial attributes, one alternation each
    ~0.5     the share of ε for the trees; 0.5 is the paper's balanced setting
    @2x3     a depth of 2 and 3 pairs of trees, or 3 alternations; @2 is the depth alone

    >>> settings_of("twin", large=True)
    {'algorithm': 'twin'}
    >>> settings_of("tree-pair~0.5", large=True)
    {'algorithm': 'tree-pair', 'profile': 'published', 'prune': 0, 'min_support': 100, \
'trials': 20, 'tree_share': '0.5'}
    >>> settings_of("alt-expm~stable@3", large=False)
    {'algorithm': 'alt-expm', 'profile': 'published', 'prune': 0, 'trials': 4, \
'alternations': 1, 'depth': 3}
    >>> settings_of("tree-pair:hardened", large=True)
    {'algorithm': 'tree-pair', 'profile': 'hardened'}
    >>> settings_of("twin+1e-6", large=True)
    {'algorithm': 'twin', 'delta': '1e-6'}
    >>> settings_of("twin@2x3", large=True)
    {'algorithm': 'twin', 'depth': 2, 'trials': 3}
    """
    algorithm, _, fixed = algorithm.partition("@")
    algorithm, _, flag = algorithm.partition("~")
    algorithm, _, delta = algorithm.partition("+")
    name, _, profile = algorithm.partition(":")
    if profile or name not in PUBLISHED_ALGORITHMS:
        arguments = {"algorithm": name, "profile": profile, "delta": delta}
        given: dict[str, Any] = {key: value for key, value in arguments.items() if value}
    else:
        given = {"algorithm": name, "profile": "published", "prune": 0}
        if large:
            given |= LARGE_LIMITS | {_repeats(name): 20}
    if flag == "stable":
        given |= {"trials": given.pop("alternations", 4), "alternations": 1}
    elif flag:
        given["tree_share"] = flag
    return given | (_fixed_shape(name, fixed) if fixed else {})


def _repeats(name: str) -> str:
    """Return the parameter that says how many trees, or pairs of trees, there are."""
    return "trials" if name in ("twin", "tree-pair") else "alternations"


def _fixed_shape(name: str, text: str) -> dict[str, int]:
    """Return depth and repetitions out of a text such as `2x3`, or the depth alone."""
    depth, times, repeats = text.partition("x")
    if not (depth.isdecimal() and (repeats.isdecimal() or not times)):
        raise redveil.InputError(f"{name}@{text}: no shape; write depth x repetitions, as in @2x3")
    return {"depth": int(depth)} | ({_repeats(name): int(repeats)} if times else {})


def _shape(result: redveil.Result) -> str:
    """Return the depth and number of a run's pairs of trees, or of its trees."""
    used = result.certificate.parameters
    return f"{used['depth']}×{used.get('alternations', used.get('trials'))}"


def settings_name(
    dataset: redveil.Dataset, given: Mapping[str, Any], prune: int | None = None
) -> str:
    """Return a short hash of everything that a run depends on, except ε and the noise.

    The plan stands for the defaults of parameters that are not given. `prune` is the threshold that
    is applied afterwards, if any.

    >>> from redveil.data.synthetic import wide_dataset
    >>> len(settings_name(wide_dataset(10), {}))
    12
    """
    plan = redveil.plan(1, schema=dataset.schema, **given)
    parts = [redveil.__version__, dataset.schema.digest, plan.steps, dict(given)]
    if prune is not None:
        parts.append(prune)
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def code_name() -> str:
    """Return a short hash of the source that mines, whatever its version says.

    >>> len(code_name())
    12
    """
    digest = hashlib.sha256()
    mining = _sources(files("redveil"), "")
    baselines = _sources(files("redveil_research.baselines"), "baselines/")
    for name, text in sorted([*mining, *baselines]):
        if not name.startswith(NOT_MINING):
            digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()[:12]


def _sources(folder: Traversable, above: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _sources(one, f"{above}{one.name}/")
        elif one.name.endswith(".py"):
            yield above + one.name, one.read_bytes()


def perform(
    loaded: Loaded,
    data: str,
    algorithm: str,
    epsilon: str,
    number: int,
    *,
    large: bool,
    prune: int | None = None,
    intervals: bool = True,
) -> Run:
    """Mine once, measure the time, prune, and judge the list on the true rows.

    intervals: also in the published profile, whose times are the paper's only without

    >>> from redveil_research.experiments.subjects import World
    >>> loaded = World("wide", 500).load()
    >>> perform(loaded, "wide", "alt-expm:hardened", "1", 1, large=False).row
    ('wide', 'alt-expm:hardened', '1')
    """
    given = settings_of(algorithm, large=large)
    published = given.get("profile") == "published"
    plain = published and not intervals
    wall, cpu = time.perf_counter(), time.process_time()
    with estimates_only() if plain else nullcontext():
        everything = redveil.mine(loaded.dataset, epsilon=epsilon, ledger=None, **given)
    spent = time.perf_counter() - wall, time.process_time() - cpu
    result = pruned(everything, prune) if published else everything
    judged = [asdict(one) for one in judge(result, loaded.views)]
    return Run(
        data,
        algorithm,
        epsilon,
        number,
        settings_name(loaded.dataset, given, prune if published else None),
        round(spent[0], 4),
        round(spent[1], 4),
        shape=_shape(result),
        **{field.name: tuple(one[field.name] for one in judged) for field in fields(Judged)},
        low=() if plain else tuple(one.jaccard.low for one in result),
        high=() if plain else tuple(one.jaccard.high for one in result),
        p_bound=() if plain else tuple(one.p_value for one in result),
        confirmed=tuple(one.confirmed for one in result),
        code=code_name(),
        findings=tuple(compared(everything, loaded)),
    )


def pruned(result: redveil.Result, threshold: int | None) -> redveil.Result:
    """Drop redescriptions whose noisy support is too small: below the threshold, or perhaps 0.

    >>> from redveil.data.synthetic import wide_dataset
    >>> len(pruned(redveil.mine(wide_dataset(500), 1), 10**6))
    0
    """
    kept = tuple(
        one
        for one in result
        if (
            one.support.both.low > 0
            if threshold is None
            else one.support.both.estimate >= threshold
        )
    )
    return redveil.Result(result.document.model_copy(update={"redescriptions": kept}))


def compared(result: redveil.Result, loaded: Loaded) -> Iterator[Finding]:
    """Yield what a result says about its redescriptions beside what the rows say."""
    entities = max(loaded.views[0].count, 1)
    for one in redveil.truth(result, loaded.dataset):
        assert one.true is not None
        known = one.true.support
        yield Finding(
            round(one.jaccard.estimate, 6),
            round(one.support.both.estimate, 2),
            round(one.true.jaccard, 6),
            float(f"{binomial_tail(known.both, known.left, known.right, entities):.6g}"),
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
    plain = asdict(run)
    plain["findings"] = [list(one) for one in run.findings]
    line = json.dumps(plain, ensure_ascii=False)
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
    # Earlier journals lack what has a default, and have what is not recorded any more.
    needed = {field.name for field in fields(Run) if field.default is MISSING}
    if not isinstance(plain, dict) or not needed <= set(plain):
        return None
    values: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in plain.items() if k in names
    }
    values["findings"] = tuple(Finding(*one) for one in values.get("findings", ()))
    return Run(**values)
