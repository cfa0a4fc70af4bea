"""The wall, attacked: everything that a curious user would try, and where private values may show.

The rows carry marks (`support.wall`): keys, a category that is not declared, numbers in and out of
bounds, and a number of entities. None of them may turn up on this side of the wall.
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import io
import json
import logging
import pickle
import pprint
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rich
from rich.console import Console
from rich.pretty import pretty_repr

import redveil
from redveil.algorithms.trial import Trial
from redveil.base.csv_text import csv_text
from redveil.budget.ledger import Ledger
from redveil.data.dataset import Dataset
from redveil.errors import SealedError
from redveil.mining import report
from redveil.report.result import Result
from redveil.sealed import Receipt, Released, Sealed
from support import wall
from support.command_line import Command, caller
from support.prepared import SOME_STEP
from support.wall import ENTITIES, MARKS, RUNS, leaks_in_frames, leaks_in_text, marked, mine_marked


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return caller(monkeypatch, capsys)


@cache
def trial_of(name: str) -> Trial:
    """Return what an algorithm works with, caught in the act."""
    caught: list[Trial] = []

    def catch(_share: float) -> None:
        frames = (frame for frame, _ in traceback.walk_stack(sys._getframe()))
        caught.extend(v for f in frames for v in f.f_locals.values() if isinstance(v, Trial))

    mine_marked(name, catch)
    return caught[0]


@cache
def result_of(name: str) -> Result:
    """Return what an algorithm releases."""
    return report(mine_marked(name))


#: What a user can get hold of: data sets, seals, and the inside of a run.
PRIVATE: dict[str, Callable[[], Any]] = {
    "dataset": marked,
    "table": lambda: marked().table,
    "report": lambda: marked().report,
    "numbers": lambda: Sealed(np.full(3, wall.INSIDE)),
    "trial": lambda: trial_of("tree-pair"),
    "prepared data": lambda: trial_of("twin").data,
    "in a list": lambda: [marked(), marked().table],
}


def inspected(thing: object) -> str:
    console = Console(file=io.StringIO(), width=200)
    rich.inspect(thing, console=console, all=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def logged(thing: object) -> str:
    stream = io.StringIO()
    logger = logging.Logger("wall", logging.DEBUG)
    logger.addHandler(logging.StreamHandler(stream))
    logger.debug("%s %r", thing, thing, extra={"thing": thing})
    return stream.getvalue()


def printed_by_pandas(thing: object) -> str:
    # pandas 2 asks for an iterator first, and passes the refusal on.
    try:
        return repr(pd.Series([thing], dtype=object))
    except SealedError as error:
        return str(error)


SHOWN: dict[str, Callable[[Any], object]] = {
    "repr": repr,
    "str": str,
    "format": "{}".format,
    "old format": lambda thing: "%s %r" % (thing, thing),  # noqa: UP031
    "pprint": lambda thing: pprint.pformat(thing, width=1),
    "rich pretty": lambda thing: pretty_repr(thing, expand_all=True),
    "rich inspect": inspected,
    "logging": logged,
    "members": lambda thing: repr(inspect.getmembers(thing)),
    "dir": lambda thing: [repr(getattr(thing, name, None)) for name in dir(thing)],
    "json, as text": lambda thing: json.dumps([thing], default=str),
    "json, as members": lambda thing: json.dumps([thing], default=lambda x: repr(dir(x))),
    "pandas": printed_by_pandas,
    "polars": lambda thing: repr(pl.Series([thing], dtype=pl.Object)),
    "exception": lambda thing: repr(ValueError(thing)),
    "size": lambda thing: repr(sys.getsizeof(thing)),
}
TAKEN: dict[str, Callable[[Any], object]] = {
    "pickle": pickle.dumps,
    "old pickle": lambda thing: pickle.dumps(thing, protocol=0),
    "deepcopy": copy.deepcopy,
    "asdict": dataclasses.asdict,
    "astuple": dataclasses.astuple,
    "json": json.dumps,
    "json of vars": lambda thing: json.dumps(thing, default=vars),
    "numbers": lambda thing: np.asarray(thing, dtype=float),
    "data frame": lambda thing: pd.DataFrame(thing).to_numpy(dtype=float),
    "state": lambda thing: pickle.dumps(object.__reduce_ex__(thing, 4)),
}


@pytest.mark.parametrize("way", SHOWN)
@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_private_shows(name: str, way: str) -> None:
    with np.printoptions(threshold=sys.maxsize):
        assert leaks_in_text(str(SHOWN[way](PRIVATE[name]()))) == []


@pytest.mark.parametrize("way", TAKEN)
@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_private_can_be_taken_along(name: str, way: str) -> None:
    """Refusing is enough; the refusal must not quote."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        TAKEN[way](PRIVATE[name]())
    assert leaks_in_text(f"{caught.value!r} {caught.value.__context__!r}") == []


def test_the_attacks_work_on_what_is_not_sealed() -> None:
    """Were these data not sealed, every way of looking that shows contents would show them."""
    open_table = {"ward": [wall.SECRET] * 3, "rows": ENTITIES}
    blind = {"members", "dir", "size", "json, as members"}
    for way in SHOWN.keys() - blind:
        assert leaks_in_text(str(SHOWN[way](open_table))), way
    assert MARKS.search(pickle.dumps(open_table).decode("latin-1"))


def test_a_seal_is_as_large_whatever_is_in_it() -> None:
    sizes = {sys.getsizeof(Sealed(value)) for value in (0, "x" * 10_000, list(range(999)))}
    assert len(sizes) == 1
    referents = gc.get_referents(Sealed(wall.SECRET))
    assert leaks_in_text(repr(referents)) == []


def test_a_released_value_shows_itself_and_its_receipts_only() -> None:
    released = Released((1, 2), (Receipt(SOME_STEP, "count", Fraction(1, 3)),))
    assert repr(released) == "Released((1, 2))"
    assert "_unused" not in repr(released.receipts)


def test_the_tuned_run_behind_the_wall_has_a_scout() -> None:
    assert mine_marked("twin, tuned").run.algorithm.adapts


@pytest.mark.parametrize("name", RUNS)
def test_a_progress_callback_finds_nothing_on_the_stack(name: str) -> None:
    """Code that a run calls back could look at its callers' variables, as a debugger would."""
    found: list[str] = []
    seen: list[str] = []

    def look(_share: float) -> None:
        frames = [frame for frame, _ in traceback.walk_stack(sys._getframe(1))]
        ours = [frame for frame in frames if "redveil" in frame.f_code.co_filename]
        seen.extend(frame.f_code.co_name for frame in ours)
        found.extend(leaks_in_frames(ours))

    mine_marked(name, look)
    assert found == []
    assert len(set(seen)) > 1


@pytest.mark.parametrize("name", RUNS)
def test_progress_follows_the_plan_and_not_the_rows(name: str) -> None:
    reports: list[list[float]] = []
    for entities in (ENTITIES, ENTITIES - 1):
        shares: list[float] = []
        mined = mine_marked(name, shares.append, entities)
        reports.append(shares)
        last = mined.run.algorithm.stages
        assert shares == [done / last for done in range(1, last + 1)]
    assert reports[0] == reports[1]


def strings_and_numbers(plain: Any) -> Iterator[str]:
    """Yield every key, text and number of a JSON document."""
    match plain:
        case dict():
            for key, value in plain.items():
                yield key
                yield from strings_and_numbers(value)
        case list():
            for value in plain:
                yield from strings_and_numbers(value)
        case float() if plain.is_integer():
            yield str(int(plain))
        case _:
            yield str(plain)


@pytest.mark.parametrize("name", RUNS)
def test_a_result_file_holds_no_mark(name: str) -> None:
    result = result_of(name)
    values = list(strings_and_numbers(json.loads(result.to_json())))
    assert [text for text in values if MARKS.search(text)] == []
    assert leaks_in_text(result.to_json()) == []
    assert leaks_in_text(f"{result!r}{result._repr_html_()}{csv_text(result.to_arrow())}") == []


def public_numbers() -> set[float]:
    """Return the numbers that a query may compare with: cut points of the schema."""
    views = wall.marked_schema().left, wall.marked_schema().right
    return {cut for view in views for one in view.attributes for cut in one.cuts}


@pytest.mark.parametrize("name", RUNS)
def test_released_queries_are_made_of_declarations(name: str) -> None:
    declared = {"north", "south", "west", "none", "some", "much"}
    plain = json.loads(result_of(name).to_json())
    values = set(_compared(plain["tree_pairs"])) | set(_compared(plain["redescriptions"]))
    numbers = {v for v in values if isinstance(v, float)}
    assert numbers <= public_numbers()
    assert {v for v in values if isinstance(v, str)} <= declared
    assert values


def _compared(plain: Any) -> Iterator[str | float | bool]:
    """Yield what attributes are compared with."""
    if isinstance(plain, list):
        for one in plain:
            yield from _compared(one)
    elif isinstance(plain, dict):
        if {"attribute", "op", "value"} <= plain.keys():
            value = plain["value"]
            yield value if isinstance(value, str | bool) else float(value)
        for one in plain.values():
            yield from _compared(one)


def without_count(text: str) -> list[str]:
    """Return leaks in a text made with real noise, which may hit the true number by chance."""
    return leaks_in_text(text.replace(str(ENTITIES), ""))


def test_a_quiet_command_says_nothing_and_its_files_hold_no_mark(
    tmp_path: Path, command: Command
) -> None:
    left, right = wall.write_marked(tmp_path)
    schema = left.parent / "datapackage.json"
    raw = json.loads(schema.read_text(encoding="utf-8"))
    raw |= {"id": "7e57", "redveil": {**raw.get("redveil", {}), "budget": "2"}}
    schema.write_text(json.dumps(raw), encoding="utf-8")
    out = tmp_path / "result.json"
    done = command("mine", left, right, "--epsilon", "1", "--quiet", "--output", out)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("new ledger begun: ")
    assert len(done.err.splitlines()) == 1
    assert without_count(out.read_text(encoding="utf-8")) == []

    ledger = left.parent / "datapackage.ledger.sqlite"
    assert MARKS.search(ledger.read_bytes().decode("latin-1")) is None
    with sqlite3.connect(ledger) as connection:
        (row,) = connection.execute("select * from charges").fetchall()
    connection.close()
    assert row[:4] == (1, "marked", "1", "mine")
    made_at, *more = row[4:]
    assert more[:4] == ["0", "7e57", "result.json", "twin"]
    # To the second, and nothing finer: how long a run takes depends on the rows.
    assert len(made_at) == len("2026-01-01T00:00:00+00:00")
    assert Ledger(ledger).spent("marked").epsilon == 1


def test_what_a_loud_command_tells_of_the_rows_is_marked_as_the_owners(
    tmp_path: Path, command: Command
) -> None:
    left, right = wall.write_marked(tmp_path)
    out = tmp_path / "result.json"
    done = command("mine", left, right, "--epsilon", "1", "--output", out)
    assert done.code == 0
    assert without_count(done.out) == []
    counts = [line for line in done.err.splitlines() if any(c.isdigit() for c in line)]
    assert f"owner only: {ENTITIES:,} people in both views" in counts
    files = "written to ", "recorded in ", "new ledger begun: "
    owners = [line for line in counts if not line.startswith(files)]
    assert all(line.startswith("owner only: ") for line in owners)
    # Numbers that return and do not fit the schema are the owner's to see; texts are not named.
    told = "\n".join(owners)
    assert f"outside the bounds (207 times {wall.OUTSIDE})" in told
    assert without_count(told.replace(str(wall.OUTSIDE), "")) == []


def test_loading_and_mining_log_and_warn_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    mine_marked("twin")  # compiled by now: the compiler's own log is long
    with warnings.catch_warnings(record=True) as heard, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        redveil.load(*wall.marked_frames(), wall.marked_schema())
        for name in RUNS:
            mine_marked(name)
    assert [leaks_in_text(repr(vars(record))) for record in caplog.records] == [[]] * len(
        caplog.records
    )
    assert [record.name for record in caplog.records if record.name.startswith("redveil")] == []
    assert [str(one.message) for one in heard] == []


def test_a_dataset_does_not_tell_how_many_rows_it_has() -> None:
    one, other = marked(), marked(ENTITIES - 1)
    assert repr(one) == repr(other)
    assert isinstance(one, Dataset)
    for way in ("pprint", "rich pretty", "size"):
        assert SHOWN[way](one) == SHOWN[way](other)
