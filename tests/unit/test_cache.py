"""Where things are kept that can be made again, and where they are not."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from redveil.base.cache import KEPT_SECONDS, LOOKED, LOOKING_SECONDS, VARIABLE, Cache, cache_of


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    cache_of.cache_clear()
    yield
    cache_of.cache_clear()


def test_what_is_kept_is_found_by_its_owner_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep("a", b"entry")
    assert (cache.find("a"), cache.find("b")) == (b"entry", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOOKED, "a"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("kept", [b"", b"x" * 10, b"x" * 40])
def test_what_is_not_whole_is_not_found(kept: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(kept)
    assert Cache(tmp_path).find("a") is None


@pytest.mark.parametrize(
    ("looked", "left"),
    [
        (None, {"new", "young"}),
        (LOOKING_SECONDS + 60, {"new", "young"}),
        (LOOKING_SECONDS - 60, {"new", "old", "young"}),
    ],
)
def test_old_entries_make_room_once_a_day(
    looked: float | None, left: set[str], tmp_path: Path
) -> None:
    ages: dict[str, float] = {"old": KEPT_SECONDS + 60, "young": KEPT_SECONDS - 60}
    if looked is not None:
        ages[LOOKED] = looked
    now = time.time()
    for name, age in ages.items():
        (tmp_path / name).write_bytes(b"entry")
        os.utime(tmp_path / name, (now - age, now - age))
    Cache(tmp_path).keep("new", b"entry")
    assert {path.name for path in tmp_path.iterdir()} == left | {LOOKED}


def test_a_folder_that_is_gone_is_no_reason_to_stop(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "gone")
    cache.keep("a", b"entry")
    assert cache.find("a") is None


def test_the_named_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "here"))
    assert cache_of("noise").folder == tmp_path / "here" / "noise"
    assert (tmp_path / "here" / "noise").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
@pytest.mark.parametrize(("named", "place"), [("cache", "cache"), ("", "home/.cache")])
def test_the_users_cache_folder_is_the_default(
    named: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / named) if named else "relative")
    assert cache_of("noise").folder == tmp_path / place / "redveil" / "noise"


@pytest.mark.parametrize("home", [Path("~"), Path("/nowhere/at/all"), None])
def test_without_a_home_none_is_made(
    home: Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_home() -> Path:
        if home is None:
            raise RuntimeError
        return home

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(Path, "home", at_home)
    assert cache_of("noise").folder is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("named", ["", "file/below"])
def test_no_folder_means_nothing_is_kept(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / named) if named else "")
    cache = cache_of("noise")
    cache.keep("a", b"entry")
    assert (cache.folder, cache.find("a")) == (None, None)


def test_a_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "shared"))
    assert cache_of("noise").folder is None
