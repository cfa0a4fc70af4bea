from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from redveil.errors import InputError
from redveil.files import write_bytes, write_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_text_is_written_as_utf_8_without_changing_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "ε\r\n∧\n")
    assert (tmp_path / "a.txt").read_bytes() == "ε\r\n∧\n".encode()
    assert names(tmp_path) == ["a.txt"]


def test_an_earlier_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a.txt", b"long and old")
    write_bytes(tmp_path / "a.txt", b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_when_writing_is_stopped_the_old_file_stays_and_nothing_else(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    write_bytes(path, b"old")

    def stop(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(error):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_a_full_disk_is_reported_and_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    write_bytes(path, b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match=r"a\.txt: cannot be written"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_a_folder_in_the_files_place_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(InputError, match=r"a\.txt: cannot be written"):
        write_bytes(tmp_path / "a.txt", b"new")
    assert names(tmp_path) == ["a.txt"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="check that its folder exists"):
        write_bytes(tmp_path / "nowhere" / "a.txt", b"new")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_permissions_that_the_process_asks_for(
    mask: int, mode: int, tmp_path: Path
) -> None:
    before = os.umask(mask)
    try:
        write_bytes(tmp_path / "a.txt", b"new")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode
