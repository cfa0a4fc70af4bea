"""Read large CSV files block by block, so that their text never is in memory as a whole.

Whatever is unusual is left to `csv_file`, which reads the whole text and says what is wrong.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa

from redveil.data.csv_file import may_be_open, read_rows, records, row_end, split
from redveil.data.layout import Layout
from redveil.data.raw import Piece, RawTable, check_names
from redveil.data.text_file import is_other_format, is_text
from redveil.errors import LoadError

# Smaller files are read as a whole. A table with many columns takes time for every block.
BLOCK: Final = 32 * 2**20
# A row that is longer is probably a quotation mark that is not closed.
_LONGEST_ROW: Final = 2**28
# A share of the file that is less than all of it.
_NOT_YET_ALL: Final = 0.999
_NOT_STREAMED: Final = "cannot be read block by block; read it as a whole"


class NotStreamedError(LoadError):
    """The file has to be read as a whole, perhaps to say what is wrong with it."""


@dataclass(frozen=True, slots=True, eq=False)
class CsvStream:
    """A large CSV file whose header has been read.

    start: how many bytes come before the rows, when decompressed
    block: how many bytes to read at a time; rows do not depend on it
    """

    place: str
    names: tuple[str, ...]
    layout: Layout
    path: Path
    start: int
    block: int = BLOCK

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return False

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of the next rows, for all rows in turn."""
        is_empty = True
        for rows, share in self._blocks():
            is_empty = False
            yield Piece(partial(self._table, rows, wanted, is_last=share >= 1), share)
        if is_empty:
            raise self._refusal()

    def _blocks(self) -> Iterator[tuple[bytes, float]]:
        """Yield whole rows, and which share of the file is then read; 1 with the last."""
        size, rest = self.path.stat().st_size, b""
        with self.path.open("rb") as raw, _unpacked(raw, self.path) as file:
            self._read(file, self.start)
            while block := self._read(file, self.block):
                rest += block
                end = row_end(rest, self.layout.delimiter)
                if len(rest) - end > _LONGEST_ROW:
                    raise self._refusal()
                if rest[:end].strip(b"\r\n"):
                    yield rest[:end], min(raw.tell() / size, _NOT_YET_ALL)
                    rest = rest[end:]
        # What comes after the last line end, also if there is nothing.
        yield rest, 1.0

    def _read(self, file: BinaryIO | gzip.GzipFile, size: int) -> bytes:
        try:
            return file.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile, OSError):
            pass
        raise self._refusal()

    def _table(self, rows: bytes, wanted: Sequence[str], *, is_last: bool) -> RawTable:
        """Read rows as text; refuse what the whole file would be refused for."""
        if not is_text(rows):
            raise self._refusal()
        width = len(self.names)
        if is_last and not rows.strip(b"\r\n"):
            nothing = {name: pa.chunked_array([], pa.string()) for name in wanted}
            return RawTable(self.place, 0, nothing, self._where)
        positions = [self.names.index(name) for name in wanted]
        columns = read_rows(rows, width, [*positions, width - 1], self.layout.delimiter)
        if columns is None:
            raise self._refusal()
        *columns, last = columns
        if is_last and len(last) and may_be_open(rows, last[-1].as_py(), self.layout.delimiter):
            raise self._refusal()
        named = dict(zip(wanted, columns, strict=True))
        return RawTable(self.place, len(last), named, self._where)

    def _where(self, rows: Sequence[int]) -> list[str]:
        return [f"{self.place}, row {row + 1}" for row in rows]

    def _refusal(self) -> NotStreamedError:
        return NotStreamedError(f"{self.place}: {_NOT_STREAMED}")


def open_csv_stream(path: Path, layout: Layout, place: str, block: int = BLOCK) -> CsvStream | None:
    """Open a large CSV file; None if it is small, or has to be read as a whole."""
    if codecs.lookup(layout.encoding).name not in ("utf-8", "utf-8-sig"):
        return None
    try:
        # Opening what is no file may wait for somebody to write to it.
        if not path.is_file():
            return None
        with path.open("rb") as raw, _unpacked(raw, path) as file:
            first = file.read(block)
            if not file.read(1):
                return None
    except (EOFError, zlib.error, gzip.BadGzipFile, OSError, ValueError):
        return None
    # What a small file is refused for must not depend on how many rows there are.
    header = None if is_other_format(first) else _header(first, layout.delimiter)
    if header is None:
        return None
    names, start = header
    return CsvStream(place, check_names(names, place), layout, path, start, block)


def _header(first: bytes, delimiter: str) -> tuple[list[str], int] | None:
    """Return the names of the columns and where the rows begin; None if that is not clear."""
    mark = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0
    end = row_end(first, delimiter, mark)
    head = first[mark:end]
    if head.startswith(codecs.BOM_UTF8) or not is_text(head):
        return None
    text = head.decode("utf-8")
    header = next(records(text, delimiter), None)
    if header is None or not header.is_closed:
        return None
    return split(header.text, delimiter), mark + len(text[: header.end].encode("utf-8"))


@contextmanager
def _unpacked(raw: BinaryIO, path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Return a file's content, decompressed if its name ends in `.gz`."""
    if path.suffix.lower() != ".gz":
        yield raw
        return
    with gzip.GzipFile(fileobj=raw) as file:
        yield file
