"""What was released and paid for is not lost if the list cannot be made."""

from __future__ import annotations

import pickle
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import redveil
from redveil import Result, mining
from redveil.errors import InputError, ResultError, UnfinishedError
from redveil.handover import Keep
from redveil.report.compare import compare
from support.clinic import clinic

Run = Callable[["Keep | None"], Result]


@cache
def first() -> Result:
    """Return a result that others start from."""
    return redveil.mine(clinic(), 20)


def mined(keep: Keep | None) -> Result:
    return redveil.mine(clinic(), 20, trials=2, keep=keep)


def published(keep: Keep | None) -> Result:
    return redveil.mine(clinic(), 20, profile="published", depth=1, alternations=1, keep=keep)


def described(keep: Keep | None) -> Result:
    return clinic().describe("[gout]", 20, keep=keep)


def refined(keep: Keep | None) -> Result:
    return first().refine(clinic(), 2, keep=keep)


def confirmed(keep: Keep | None) -> Result:
    return redveil.confirm(first(), clinic(), 20, keep=keep)


SEARCHED = [mined, described, refined]


def cut_off(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the inference of every run end with an error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(mining, "find", fail)
    monkeypatch.setattr(mining, "read_off", fail)


@pytest.mark.parametrize("run", [*SEARCHED, published])
def test_the_list_of_an_unfinished_result_is_the_one_that_was_not_made(
    run: Run, tmp_path: Path
) -> None:
    given: list[Result] = []
    finished = run(given.append)
    (early,) = given
    assert early.document.unfinished
    assert not early.document.redescriptions
    assert "The list has not been made" in str(early)
    early.save(tmp_path / "early.json")
    listed = Result.read(tmp_path / "early.json").filter()
    assert not listed.document.unfinished
    assert listed.redescriptions == finished.redescriptions
    assert listed.certificate == finished.certificate
    assert listed.document.tree_pairs == finished.document.tree_pairs
    assert listed.document.entities == finished.document.entities
    assert listed.document.false_discoveries == finished.document.false_discoveries
    assert "unfinished" not in finished.to_json()


def test_the_list_of_an_unfinished_confirmation_can_be_made(tmp_path: Path) -> None:
    given: list[Result] = []
    finished = confirmed(given.append)
    assert finished.redescriptions
    given[0].save(tmp_path / "early.json")
    listed = Result.read(tmp_path / "early.json").filter()
    assert listed == finished
    assert all(one.before for one in listed)
    for one in finished:
        answer = given[0].ask(one.left.text, one.right.text)
        assert answer.statistics.jaccard.estimate == pytest.approx(one.jaccard.estimate)


def test_an_unfinished_confirmation_that_was_damaged_is_refused(tmp_path: Path) -> None:
    given: list[Result] = []
    confirmed(given.append)
    text = given[0].to_json()
    assert text.count('"tree_pair": 0') >= 1
    (tmp_path / "early.json").write_text(text.replace('"tree_pair": 0', '"tree_pair": 99', 1))
    with pytest.raises(ResultError, match=r"pending\.0: its source is not in tree_pairs"):
        Result.read(tmp_path / "early.json")


NEEDS_A_LIST: dict[str, Callable[[Result], object]] = {
    "redescriptions": lambda one: one.redescriptions,
    "len": len,
    "iter": list,
    "bool": bool,
    "arrow": lambda one: one.to_arrow(),
    "pandas": lambda one: one.to_pandas(),
    "report": lambda one: one.report(),
    "sort": lambda one: one.sort("p"),
    "top": lambda one: one.top(1),
    "complement": lambda one: one.complement(),
    "compare": lambda one: compare(one, one),
    "confirm": lambda one: redveil.confirm(one, clinic(), 1),
    "refine": lambda one: one.refine(clinic(), 1),
    "truth": lambda one: redveil.truth(one, clinic()),
}


@cache
def early() -> Result:
    """Return an unfinished result."""
    given: list[Result] = []
    mined(given.append)
    return given[0]


@pytest.mark.parametrize("use", NEEDS_A_LIST.values(), ids=NEEDS_A_LIST)
def test_nobody_takes_an_unfinished_result_for_one_that_found_nothing(
    use: Callable[[Result], object],
) -> None:
    with pytest.raises(ResultError, match=r"has not been made.*Result\.filter make it"):
        use(early())
    assert "unfinished" in repr(early())
    assert "The list has not been made" in early()._repr_html_()


@pytest.mark.parametrize("run", [*SEARCHED, confirmed])
@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), MemoryError()])
def test_an_error_after_the_release_names_a_file_that_has_it_all(
    run: Run, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert first().redescriptions
    cut_off(error, monkeypatch)
    with pytest.raises(UnfinishedError, match="the list was not made") as caught:
        run(None)
    assert "secret" not in str(caught.value)
    found = re.search(r'redveil\.Result\.read\("(.+)"\)', str(caught.value))
    assert found
    read = Result.read(found[1])
    assert read == caught.value.result
    assert read.document.unfinished
    assert read.document.tree_pairs
    # As a pool of processes passes it on.
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_ctrl_c_after_the_release_names_a_file_that_has_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cut_off(KeyboardInterrupt(), monkeypatch)
    with pytest.raises(KeyboardInterrupt, match="what was released and paid for is in") as caught:
        mined(None)
    (path,) = tmp_path.iterdir()
    assert str(path) in str(caught.value)
    assert Result.read(path).filter().certificate.epsilon == "20"


def test_a_program_that_is_told_to_exit_says_so_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cut_off(SystemExit(7), monkeypatch)
    with pytest.raises(SystemExit) as caught:
        mined(None)
    (path,) = tmp_path.iterdir()
    assert str(path) in caught.value.__notes__[0]


def test_if_nothing_can_be_written_the_error_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    cut_off(ZeroDivisionError(), monkeypatch)
    with pytest.raises(UnfinishedError, match="is in the error's result") as caught:
        mined(None)
    assert caught.value.result is not None
    assert caught.value.result.document.tree_pairs


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(7)])
def test_if_nothing_can_be_written_whatever_stops_a_run_has_it(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    cut_off(error, monkeypatch)
    with pytest.raises(type(error)) as caught:
        mined(None)
    assert "is in the error's result" in " ".join(
        [str(caught.value), *getattr(caught.value, "__notes__", ())]
    )
    assert caught.value.result.filter().certificate.epsilon == "20"  # type: ignore[attr-defined]


def test_what_was_kept_is_not_kept_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cut_off(ZeroDivisionError(), monkeypatch)
    given: list[Result] = []
    with pytest.raises(UnfinishedError, match="was given to keep"):
        mined(given.append)
    assert len(given) == 1
    assert not list(tmp_path.iterdir())


def test_a_keep_that_fails_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(UnfinishedError, match=r"check that its folder exists\); what was released"):
        mined(lambda result: result.save("/nowhere/result.json"))
    (path,) = tmp_path.iterdir()
    assert Result.read(path).document.tree_pairs


def test_what_cannot_keep_anything_is_refused_before_the_charge(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match="keep: give a function"):
        redveil.mine(clinic(), 1, ledger=ledger, keep="result.json")  # type: ignore[arg-type]
    assert not ledger.exists()


def test_an_error_before_the_release_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(mining, "run", fail)
    with pytest.raises(ZeroDivisionError):
        mined(None)
