"""Read, decompress and decode text files."""

from __future__ import annotations

import codecs
import gzip
import stat
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from redveil.errors import LoadError
from redveil.schema.encoding import encoding_fault

# Larger than any table that fits in memory as text; stops decompression bombs.
MOST_BYTES: Final = 8 * 2**30

_PIECE: Final = 16 * 2**20

GZIP_MAGIC: Final = b"\x1f\x8b"
ZIP_MAGIC: Final = b"PK\x03\x04"
OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0"
_MAGIC: Final = {
    GZIP_MAGIC: "compressed with gzip; rename it to end in .gz",
    b"PAR1": "a Parquet file; rename it to end in .parquet",
    ZIP_MAGIC: "a workbook or archive, not text; rename a workbook to end in .xlsx",
    OLE_MAGIC: "an old workbook, not text; save it as .xlsx",
}


def is_other_format(data: bytes) -> bool:
    """Return whether a file that begins so is refused as no text.

    >>> is_other_format(b"PAR1"), is_other_format(b"id,age")
    (True, False)
    """
    return data.startswith(tuple(_MAGIC))


def check_file(path: Path, place: str, *, may_be_empty: bool = False) -> None:
    """Raise a LoadError unless the path is a file that is not empty, or may be.

    >>> check_file(Path("nowhere.csv"), "nowhere.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.csv: no such file; check the path
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise LoadError(f"{place}: no such file; check the path") from None
    except (OSError, ValueError):
        raise LoadError(f"{place}: cannot be read; check the path and the permissions") from None
    if stat.S_ISDIR(status.st_mode):
        raise LoadError(f"{place}: is a folder; name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise LoadError(f"{place}: not a regular file; copy its content to one")
    if status.st_size == 0 and not may_be_empty:
        raise LoadError(f"{place}: the file is empty; export it again")


def read_bytes(
    path: Path, place: str, *, most: int = MOST_BYTES, may_be_empty: bool = False
) -> bytes:
    """Return the content of a file, decompressed if its name ends in `.gz`.

    >>> read_bytes(Path("nowhere.csv"), "nowhere.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.csv: no such file; check the path
    """
    check_file(path, place, may_be_empty=may_be_empty)
    try:
        with path.open("rb") as raw:
            if path.suffix.lower() != ".gz":
                data = _content(raw, most)
            elif raw.read(2) != GZIP_MAGIC:
                raise LoadError(f"{place}: not compressed with gzip; remove .gz from its name")
            else:
                raw.seek(0)
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    data = _content(unpacked, most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise LoadError(f"{place}: damaged gzip data; copy or compress the file again") from None
    except MemoryError:
        raise LoadError(f"{place}: does not fit in memory; split it or use Parquet") from None
    except OSError:
        raise LoadError(f"{place}: cannot be read; check the permissions") from None
    if len(data) > most:
        raise LoadError(f"{place}: more than {most} bytes of text; split it or use Parquet")
    if not data and not may_be_empty:
        raise LoadError(f"{place}: the file is empty; export it again")
    for magic, complaint in _MAGIC.items():
        if data.startswith(magic):
            raise LoadError(f"{place}: {complaint}")
    return data


def _content(file: BinaryIO | gzip.GzipFile, most: int) -> bytes:
    """Read a file in pieces, and stop when the limit is exceeded."""
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
    problem = encoding_fault(encoding)
    if problem is not None:
        raise LoadError(f"{place}: {'; '.join(problem)}, and declare the resource's encoding")
    fault: int | None = None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        fault = error.start
    except ValueError:
        raise LoadError(f"{place}: not {encoding}; declare the resource's encoding") from None
    if fault is not None:
        line = line_number(data[:fault].decode(encoding, "ignore"))
        raise LoadError(f"{place}, line {line}: not {encoding}; declare the resource's encoding")
    text = text.removeprefix("\ufeff")
    if text.startswith("\ufeff") or data.startswith(2 * codecs.BOM_UTF8):
        raise LoadError(f"{place}: two byte order marks; save the file again as UTF-8")
    nul = text.find("\0")
    if nul >= 0:
        line = line_number(text[:nul])
        raise LoadError(
            f"{place}, line {line}: a NUL character; save the file as text, or declare its "
            "encoding in the resource"
        )
    return text


def is_text(data: bytes) -> bool:
    r"""Return whether bytes are UTF-8 without NUL characters.

    >>> is_text("é".encode()), is_text(b"\xe9"), is_text(b"a\0")
    (True, False, False)
    """
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def line_number(before: str) -> int:
    r"""Return the number of the line after a text; lines end in \n, \r\n or \r.

    >>> line_number("a\nb\r\nc\rd")
    4
    """
    return before.count("\n") + before.count("\r") - before.count("\r\n") + 1
