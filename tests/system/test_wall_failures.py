"""The wall when things break: no error that comes out of a run tells why, or of whom."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Never

import numpy as np
import pytest

import redveil
from redveil.errors import SealedError
from redveil.losses.score import Score
from redveil.privacy import mechanisms
from redveil.privacy.randomness import SystemRandomness
from redveil.privacy.two_level_selection import TwoLevelBase
from redveil.sealed import Receipt, Sealed, open_for_owner, within
from support import wall
from support.command_line import Command, caller
from support.console import is_one_line
from support.prepared import SOME_STEP
from support.wall import (
    ENTITIES,
    RUNS,
    SECRET,
    Poison,
    leaks_in_error,
    leaks_in_text,
    marked,
    mine_marked,
    poisoned,
)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return caller(monkeypatch, capsys)


def spoil(name: str, moment: int) -> BaseException | None:
    """Run an algorithm in which one computation on sealed data meets poison."""
    with poisoned(moment):
        try:
            mine_marked(name)
        except Exception as error:
            return error
    return None


@pytest.mark.parametrize("name", RUNS)
def test_no_stage_of_a_run_says_why_it_failed(
    name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with poisoned(0) as counted:
        mine_marked(name)
    assert counted.entered > 5
    # Tuned or not, twins go the same way once they have bought the size.
    last = 4 if name == "twin, tuned" else counted.entered
    with warnings.catch_warnings(record=True) as heard, caplog.at_level(logging.INFO):
        warnings.simplefilter("always")
        errors = [spoil(name, moment) for moment in range(1, last + 1)]
    failed = [error for error in errors if error is not None]
    # Nearly every stage touches what it is given.
    assert len(failed) > 0.6 * last
    assert {type(error) for error in failed} == {SealedError}
    assert len({str(error) for error in failed}) == 1
    assert [leak for error in failed for leak in leaks_in_error(error)] == []
    printed = capfd.readouterr()
    assert leaks_in_text(f"{caplog.text}{printed.out}{printed.err}") == []
    assert leaks_in_text(" ".join(str(one.message) for one in heard)) == []


@pytest.mark.parametrize("make", [lambda: SECRET, lambda: {SECRET: ENTITIES}, Poison])
def test_a_data_set_with_a_spoilt_table_fails_in_silence(make: Callable[[], Any]) -> None:
    dataset = redveil.Dataset(wall.marked_schema(), Sealed(make()), marked().report)
    with pytest.raises(SealedError) as caught:
        redveil.mine(dataset, epsilon=1)
    assert leaks_in_error(caught.value) == []


def test_a_column_of_the_wrong_length_or_kind_fails_in_silence() -> None:
    table = open_for_owner(marked().table)
    short = type(table)(table.rows, {**table.left, "gout": SECRET}, table.right)  # type: ignore[dict-item]
    for spoilt in (short, type(table)(ENTITIES + 1, table.left, table.right)):
        dataset = redveil.Dataset(wall.marked_schema(), Sealed(spoilt), marked().report)
        with pytest.raises(SealedError) as caught:
            redveil.mine(dataset, epsilon=1)
        assert leaks_in_error(caught.value) == []


@pytest.mark.parametrize("name", RUNS)
def test_a_callback_that_fails_takes_nothing_with_it(name: str) -> None:
    """Its error travels through the frames of the run, and debuggers show their variables."""

    def fail(_share: float) -> Never:
        raise RuntimeError("callback")

    with pytest.raises(RuntimeError, match="callback") as caught:
        mine_marked(name, fail)
    assert leaks_in_error(caught.value) == []


def test_the_command_line_does_not_tell_the_reason(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = wall.write_marked(tmp_path)
    files = "--output", tmp_path / "r.json", "--ledger", tmp_path / "ledger.sqlite"
    arguments = "mine", left, right, "--epsilon", "1", "--quiet", *files
    with poisoned(1):
        done = command(*arguments)
    assert (done.code, done.out) == (1, "")
    announcement, error = done.err.splitlines(keepends=True)
    assert announcement.startswith("new ledger begun: ")
    assert is_one_line(error)
    assert leaks_in_text(done.err) == []

    def fail(*_: object) -> Never:
        raise KeyError(SECRET)

    # Not foreseen, and outside of any seal: only the kind of error and its place are shown.
    monkeypatch.setattr("redveil.data.loading.join", fail)
    done = command(*arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("redveil: loading failed (KeyError in redveil.data.loading, line")
    assert is_one_line(done.err)
    assert leaks_in_text(done.err) == []


def test_an_error_in_a_thread_is_not_printed_by_it(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        within(lambda rows: rows + 1, Sealed(SECRET))

    heard: list[str] = []
    before, threading.excepthook = (
        threading.excepthook,
        lambda hook: heard.extend(leaks_in_error(hook.exc_value)) if hook.exc_value else None,
    )
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.excepthook = before
    assert heard == []
    assert leaks_in_text("".join(capfd.readouterr())) == []


class Broken:
    """A source of randomness that fails when it is asked."""

    def words(self, _count: int) -> Never:
        raise OSError("no entropy")

    def laplace(self, _epsilon: Fraction, _count: int) -> Never:
        raise OSError("no entropy")


EXACT = np.array([[ENTITIES, 1], [2, ENTITIES]])
TOY = Score("toy", Fraction(1), True, 0, Fraction(0), "privacy/choose.md")  # noqa: FBT003
TREES = TwoLevelBase(np.array([1]), np.array([1, 1]), np.ones((1, 2, 2), np.bool_))
#: Mechanisms that take sealed values and a source of randomness, and what they are to release.
MECHANISMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "count": (mechanisms.count, (), EXACT[0]),
    "choose": (mechanisms.choose, (TOY, np.ones((2, 2), dtype=np.int64)), EXACT),
    "choose_tree": (mechanisms.choose_tree, (TOY, TREES), EXACT[np.newaxis]),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_that_fails_does_not_show_what_it_was_about_to_release(name: str) -> None:
    mechanism, public, exact = MECHANISMS[name]

    def prepared(private: Any, source: Any) -> Callable[[], Any]:
        receipt = Receipt(SOME_STEP, name.removesuffix("_tree"), Fraction(1))
        return partial(mechanism, Sealed(private), *public, receipt, source)

    assert prepared(exact, SystemRandomness())().receipts
    for private, source in ((exact, Broken()), (Poison(), SystemRandomness())):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            prepared(private, source)()
        assert leaks_in_error(caught.value) == []


def test_stopping_a_computation_does_not_show_it() -> None:
    """Ctrl-C may come while rows are in the variables of a frame."""

    def stopped(rows: str) -> Never:
        assert rows
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        within(stopped, Sealed(SECRET))
    assert leaks_in_error(caught.value) == []


@pytest.mark.parametrize(
    "make", [lambda: SECRET, lambda: np.zeros(ENTITIES), lambda: EXACT, Poison]
)
def test_the_eyes_of_these_tests_are_open(make: Callable[[], Any]) -> None:
    """Were an exception not replaced, its frames would be seen, and those of its chain."""
    private = make()

    def fail(rows: object) -> Never:
        assert rows is private
        raise ValueError("quiet")

    def hide(rows: object) -> None:
        try:
            fail(rows)
        except ValueError:
            raise KeyError("later") from None

    with pytest.raises(ValueError, match="quiet") as caught:
        fail(private)
    assert any("fail: rows" in leak for leak in leaks_in_error(caught.value))
    with pytest.raises(KeyError) as hidden:
        hide(private)
    assert any("fail: rows" in leak for leak in leaks_in_error(hidden.value))
