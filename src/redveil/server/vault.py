"""Files at rest: readable by one user, encrypted if there is a key, never half written.

An encrypted file is a header (magic, salt) and chunks. Each chunk is sealed with AES-256-GCM under
a key of this file alone (HKDF of the key and the salt). Its nonce is its number; it is bound to the
file's label, its number, and whether it is the last. So chunks cannot be changed, left out,
exchanged, or moved between files, and a file that was cut short is refused.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from redveil.errors import InputError

PLAIN: Final = b"redveil packed 1\n"
SEALED: Final = b"redveil locked 1\n"
CHUNK: Final = 1 << 20
_SALT: Final = 32
_TAG: Final = 16
_KEY: Final = 32


class DamagedFileError(InputError):
    """A file at rest is not what was written, or was written with another key."""


def read_key(path: Path) -> bytes:
    """Return the key for data at rest in a file that only its owner can read.

    Keep it elsewhere than the data: whoever has both needs nothing else.
    """
    try:
        if path.stat().st_mode & 0o007:
            raise InputError(f"{path}: others can read this key; run chmod 600")
        text = path.read_text(encoding="ascii")
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read; name the key for data at rest") from None
    return key_in(text, str(path))


def key_in(digits: str, place: str) -> bytes:
    """Return the key that is written in hexadecimal digits.

    >>> key_in("00", "REDVEIL_SERVER_DATA_KEY_DIGITS")
    Traceback (most recent call last):
    redveil.errors.InputError: REDVEIL_SERVER_DATA_KEY_DIGITS: give 64 hexadecimal digits, as \
`openssl rand -hex 32` prints
    """
    try:
        key = bytes.fromhex(digits.strip())
    except ValueError:
        key = b""
    if len(key) != _KEY:
        raise InputError(f"{place}: give 64 hexadecimal digits, as `openssl rand -hex 32` prints")
    return key


def write(path: Path, parts: Iterable[bytes], label: bytes, key: bytes | None) -> str:
    """Write a new file atomically, for this user's eyes only; return its SHA-256.

    label: what the file is; it can be read only under the same label
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    digest = sha256()
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in _encoded(parts, label, key):
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        # A link is made only if there is nothing of that name: versions are never replaced.
        os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return digest.hexdigest()


def read(path: Path, label: bytes, key: bytes | None, expected: str) -> bytes:
    """Return the content of a file; refuse one that was changed, cut short or moved.

    expected: the SHA-256 that `write` has returned
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise DamagedFileError("a packed table cannot be read; restore it, or pack again") from None
    if sha256(content).hexdigest() != expected:
        raise DamagedFileError("a packed table was changed; restore it, or pack again")
    if content.startswith(PLAIN):
        if key is not None:
            raise DamagedFileError("a packed table is not encrypted, but a key is set; pack again")
        return content[len(PLAIN) :]
    if not content.startswith(SEALED) or key is None:
        raise DamagedFileError("a packed table is encrypted; set the key for data at rest")
    return b"".join(_decoded(memoryview(content)[len(SEALED) :], label, key))


def _encoded(parts: Iterable[bytes], label: bytes, key: bytes | None) -> Iterator[bytes]:
    if key is None:
        yield PLAIN
        yield from parts
        return
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt = secrets.token_bytes(_SALT)
    cipher = AESGCM(_file_key(key, salt))
    yield SEALED + salt
    number, waiting = 0, bytearray()
    for part in parts:
        waiting += part
        # The last chunk is known only at the end, so one is always kept.
        while len(waiting) > CHUNK:
            yield cipher.encrypt(_nonce(number), bytes(waiting[:CHUNK]), _bound(label, number))
            del waiting[:CHUNK]
            number += 1
    yield cipher.encrypt(_nonce(number), bytes(waiting), _bound(label, number, is_last=True))


def _decoded(content: memoryview, label: bytes, key: bytes) -> Iterator[bytes]:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    cipher = AESGCM(_file_key(key, bytes(content[:_SALT])))
    content = content[_SALT:]
    size = CHUNK + _TAG
    last = max(0, -(-len(content) // size) - 1)
    for number in range(last + 1):
        chunk = content[number * size : (number + 1) * size]
        bound = _bound(label, number, is_last=number == last)
        try:
            yield cipher.decrypt(_nonce(number), chunk, bound)
        except InvalidTag:
            raise DamagedFileError(
                "a packed table was changed, or encrypted with another key"
            ) from None


def _file_key(key: bytes, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), _KEY, salt, b"redveil packed table").derive(key)


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


def _bound(label: bytes, number: int, *, is_last: bool = False) -> bytes:
    return sha256(label).digest() + number.to_bytes(12, "big") + bytes([is_last])
