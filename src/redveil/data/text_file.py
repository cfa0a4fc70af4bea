"""The bytes of a text file, unpacked and decoded, or a LoadError that says why not."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from redveil.errors import LoadError

# Far above any table that fits in memory as text; a file that unpacks to more is not a table.
MOST_BYTES: Final = 8 * 2**30

_PIECE: Final = 16 * 2**20

GZIP_MAGIC: Final = b"\x1f\x8b"
_MAGIC: Final = {
    GZIP_MAGIC: "is packed with gzip; let its name end in .gz",
    b"PAR1": "is a Parquet file; let its name end in .parquet",
    b"PK\x03\x04": "is a spreadsheet or archive, not text; save it as CSV",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet, not text; save it as CSV",
}


def check_file(path: Path, place: str) -> None:
    """Raise a LoadError unless the path names a file that has something in it.

    >>> check_file(Path("nowhere.csv"), "nowhere.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.csv: no such file; check the path
    """
    try:
        size = path.stat().st_size
        is_folder = path.is_dir()
    except (FileNotFoundError, NotADirectoryError):
        raise LoadError(f"{place}: no such file; check the path") from None
    except (OSError, ValueError):
        raise LoadError(f"{place}: cannot be read; check the path and its permissions") from None
    if is_folder:
        raise LoadError(f"{place}: a folder; name a file in it")
    if size == 0:
        raise LoadError(f"{place}: the file is empty; check that it was written")


def read_bytes(path: Path, place: str, *, most: int = MOST_BYTES) -> bytes:
    """Return the file's content, unpacked if its name ends in `.gz`.

    >>> read_bytes(Path("nowhere.csv"), "nowhere.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.csv: no such file; check the path
    """
    check_file(path, place)
    try:
        with path.open("rb") as raw:
            if path.suffix.lower() != ".gz":
                data = _content(raw, most)
            elif raw.read(2) != GZIP_MAGIC:
                raise LoadError(f"{place}: not packed with gzip; take .gz off its name")
            else:
                raw.seek(0)
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    data = _content(unpacked, most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise LoadError(f"{place}: the gzip data is damaged; copy or pack it again") from None
    except MemoryError:
        raise LoadError(f"{place}: does not fit in memory; split it or use Parquet") from None
    except OSError:
        raise LoadError(f"{place}: cannot be read; check its permissions") from None
    if len(data) > most:
        raise LoadError(f"{place}: more than {most} bytes of text; split it or use Parquet")
    if not data:
        raise LoadError(f"{place}: the file is empty; check that it was written")
    for magic, complaint in _MAGIC.items():
        if data.startswith(magic):
            raise LoadError(f"{place}: {complaint}")
    return data


def _content(file: BinaryIO | gzip.GzipFile, most: int) -> bytes:
    """Read a file in pieces, and no further than just beyond the limit."""
    pieces: list[bytes] = []
    size = 0
    while size <= most and (piece := file.read(_PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def decode(data: bytes, encoding: str, place: str) -> str:
    """Return the text, without its byte order mark.

    >>> decode("é".encode("latin-1"), "utf-8", "left.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.csv, line 1: not utf-8; declare the resource's encoding
    """
    fault: int | None = None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        fault = error.start
    except (LookupError, ValueError):
        raise LoadError(f"{place}: unknown encoding; declare the resource's encoding") from None
    if fault is not None:
        line = line_number(data[:fault].decode(encoding, "ignore"))
        raise LoadError(f"{place}, line {line}: not {encoding}; declare the resource's encoding")
    text = text.removeprefix("\ufeff")
    nul = text.find("\0")
    if nul >= 0:
        line = line_number(text[:nul])
        raise LoadError(
            f"{place}, line {line}: a NUL character; save it as text, or declare the "
            "resource's encoding"
        )
    return text


def line_number(before: str) -> int:
    r"""Return the number of the line that follows a text; lines end in \n, \r\n or \r.

    >>> line_number("a\nb\r\nc\rd")
    4
    """
    return before.count("\n") + before.count("\r") - before.count("\r\n") + 1
