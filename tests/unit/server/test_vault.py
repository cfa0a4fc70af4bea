from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from redveil.errors import InputError
from redveil.server import vault
from redveil.server.vault import CHUNK, DamagedFileError

KEY = bytes(range(32))
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", [None, KEY])
def test_what_is_written_is_read(tmp_path: Path, size: int, key: bytes | None) -> None:
    content = os.urandom(size)
    parts = [content[: size // 3], content[size // 3 :]]
    digest = vault.write(tmp_path / "file", parts, b"label", key)
    assert vault.read(tmp_path / "file", b"label", key, digest) == content
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    assert sha256((tmp_path / "file").read_bytes()).hexdigest() == digest
    # Nothing else is left.
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_the_content_does_not_show(tmp_path: Path) -> None:
    vault.write(tmp_path / "file", [b"secret" * 100], b"label", KEY)
    assert b"secret" not in (tmp_path / "file").read_bytes()


def changed(path: Path, content: bytes) -> str:
    """Write a changed file, as somebody who can also change the stored digest would."""
    path.write_bytes(content)
    return sha256(content).hexdigest()


def test_changed_cut_exchanged_and_moved_chunks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    vault.write(path, [os.urandom(3 * CHUNK)], b"label", KEY)
    whole = path.read_bytes()
    head, size = len(vault.SEALED) + 32, CHUNK + 16
    chunks = [whole[head + n * size : head + (n + 1) * size] for n in range(3)]
    attempts = {
        "changed": whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:],
        "cut within a chunk": whole[:-1],
        "cut between chunks": whole[: head + 2 * size],
        "exchanged": whole[:head] + chunks[1] + chunks[0] + chunks[2],
        "repeated": whole[:head] + chunks[0] + chunks[0] + chunks[1] + chunks[2],
        "another salt": vault.SEALED + bytes(32) + whole[head:],
        "nothing": vault.SEALED + whole[len(vault.SEALED) : head],
        "no salt": vault.SEALED,
        "longer": whole + b"x",
    }
    for content in attempts.values():
        digest = changed(path, content)
        with pytest.raises(DamagedFileError, match="packed table"):
            vault.read(path, b"label", KEY, digest)


def test_a_file_is_bound_to_its_label_and_its_key(tmp_path: Path) -> None:
    path = tmp_path / "file"
    digest = vault.write(path, [b"rows"], b"label", KEY)
    for label, key in ((b"other", KEY), (b"label", bytes(32)), (b"label", None)):
        with pytest.raises(DamagedFileError):
            vault.read(path, label, key, digest)
    with pytest.raises(DamagedFileError, match="was changed"):
        vault.read(path, b"label", KEY, "00" * 32)
    with pytest.raises(DamagedFileError, match="cannot be read"):
        vault.read(tmp_path / "none", b"label", KEY, digest)


def test_a_plain_file_is_not_taken_for_an_encrypted_one(tmp_path: Path) -> None:
    digest = vault.write(tmp_path / "file", [b"rows"], b"label", None)
    with pytest.raises(DamagedFileError, match="not encrypted"):
        vault.read(tmp_path / "file", b"label", KEY, digest)


def test_two_files_with_the_same_content_differ(tmp_path: Path) -> None:
    one, other = (vault.write(tmp_path / name, [b"rows"], b"label", KEY) for name in "ab")
    assert one != other


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    vault.write(tmp_path / "file", [b"old"], b"label", None)
    with pytest.raises(FileExistsError):
        vault.write(tmp_path / "file", [b"new"], b"label", None)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes().endswith(b"old")


def test_a_key_has_64_digits() -> None:
    with pytest.raises(InputError, match="64"):
        vault.key_in("00" * 31, "key")
