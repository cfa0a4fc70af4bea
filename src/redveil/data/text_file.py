"""Read, decompress and decode text files."""

from __future__ import annotations

import codecs
import gzip
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from redveil.errors import LoadError
from redveil.schema.encoding import encoding_fault

# Of text that is held in memory for a draft; stops decompression bombs.
MOST_BYTES: Final = 8 * 2**30

_PIECE: Final = 16 * 2**20
# A share of the file that is less than all of it.
_NOT_YET_ALL: Final = 0.999

GZIP_MAGIC: Final = b"\x1f\x8b"
ZIP_MAGIC: Final = b"PK\x03\x04"
OLE_MAGIC: Final = b"\xd0\xcf\x11\xe0"
_MAGIC: Final = {
    GZIP_MAGIC: "compressed with gzip; rename it to end in .gz",
    b"PAR1": "a Parquet file; rename it to end in .parquet",
    ZIP_MAGIC: "a workbook or archive, not text; rename a workbook to end in .xlsx",
    OLE_MAGIC: "an old workbook, not text; save it as .xlsx",
}


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


def read_bytes(path: Path, place: str, *, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file, decompressed if its name ends in `.gz`; it may be empty.

    >>> read_bytes(Path("nowhere.csv"), "nowhere.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.csv: no such file; check the path
    """
    blocks: list[bytes] = []
    size = 0
    for block, _ in read_blocks(path, place, _PIECE):
        blocks.append(block)
        size += len(block)
        if size > most:
            raise LoadError(f"{place}: more than {most} bytes of text; split it or use Parquet")
    return b"".join(blocks)


def read_blocks(path: Path, place: str, size: int) -> Iterator[tuple[bytes, float]]:
    """Yield the content of a file block by block, decompressed if its name ends in `.gz`.

    With each block comes the share of the file that is then read: 1 with the last, and only then.
    An empty file has no blocks.
    """
    check_file(path, place, may_be_empty=True)
    try:
        with path.open("rb") as raw, _unpacked(raw, path, place) as file:
            # So long that the mark at the start of a file, and a second one, are in one block.
            block = _read(file, max(size, 8))
            for magic, complaint in _MAGIC.items():
                if block.startswith(magic):
                    raise LoadError(f"{place}: {complaint}")
            total = path.stat().st_size
            while block:
                following = _read(file, size)
                yield block, min(raw.tell() / total, _NOT_YET_ALL) if following else 1.0
                block = following
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise LoadError(f"{place}: damaged gzip data; copy or compress the file again") from None
    except MemoryError:
        raise LoadError(f"{place}: does not fit in memory; split it or use Parquet") from None
    except OSError:
        raise LoadError(f"{place}: cannot be read; check the permissions") from None


def _read(file: BinaryIO | gzip.GzipFile, size: int) -> bytes:
    return file.read(size)


@contextmanager
def _unpacked(raw: BinaryIO, path: Path, place: str) -> Iterator[BinaryIO | gzip.GzipFile]:
    if path.suffix.lower() != ".gz":
        yield raw
        return
    if raw.read(2) not in (GZIP_MAGIC, b""):
        raise LoadError(f"{place}: not compressed with gzip; remove .gz from its name")
    raw.seek(0)
    with gzip.GzipFile(fileobj=raw) as file:
        yield file


class Decoder:
    r"""Decodes a file block by block, without its byte order mark.

    >>> Decoder("utf-8", "left.csv").decode(b"id\xff", is_last=True)
    ('id', "not utf-8; declare the resource's encoding")
    """

    def __init__(self, encoding: str, place: str) -> None:
        problem = encoding_fault(encoding)
        if problem is not None:
            raise LoadError(f"{place}: {'; '.join(problem)}, and declare the resource's encoding")
        self._encoding = encoding
        self._place = place
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._is_first = True

    def decode(self, block: bytes, *, is_last: bool) -> tuple[str, str | None]:
        """Return the text of a block; or the text before a fault, and the fault."""
        try:
            text = self._decoder.decode(block, is_last)
        except ValueError as error:
            good = b""
            if isinstance(error, UnicodeDecodeError):
                good = error.object[: error.start]
            fault = f"not {self._encoding}; declare the resource's encoding"
            return good.decode(self._encoding, "ignore"), fault
        if self._is_first:
            text, self._is_first = text.removeprefix("\ufeff"), False
            if text.startswith("\ufeff") or block.startswith(2 * codecs.BOM_UTF8):
                raise LoadError(
                    f"{self._place}: two byte order marks; save the file again as UTF-8"
                )
        nul = text.find("\0")
        if nul < 0:
            return text, None
        what = "a NUL character; save the file as text, or declare its encoding in the resource"
        return text[:nul], what


def line_number(before: str) -> int:
    r"""Return the number of the line after a text; lines end in \n, \r\n or \r.

    >>> line_number("a\nb\r\nc\rd")
    4
    """
    return before.count("\n") + before.count("\r") - before.count("\r\n") + 1
