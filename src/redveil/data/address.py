"""Where a table is: in a file, in the files of a folder, or in a database."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from redveil.base.files import sqlite_files
from redveil.errors import LoadError

PARQUET_FILES: Final = (".parquet", ".pq")
DELIMITED_FILES: Final = tuple(
    f"{kind}{end}" for kind in (".csv", ".tsv", ".tab", ".txt") for end in ("", ".gz")
)
# Files with tables that are not read together: a folder that has one of them is ambiguous.
_OTHER_TABLES: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_DATABASES: Final = (".sqlite", ".sqlite3", ".db")
_POSTGRESQL: Final = ("postgresql://", "postgres://")
# An address that cannot be shown without what may be a part of a password.
_HIDDEN: Final = "postgresql://…"
# SQLAlchemy's form, with which a server's own database is named, too.
_SQLITE: Final = ("sqlite:///", "sqlite:")
# The name and the password in an address, as PostgreSQL's own library finds them: up to @, before
# any slash. A password may contain what ends an address elsewhere, such as # and ?.
_CREDENTIALS: Final = re.compile(r"[a-z]+://[^/\s]*@")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_QUERY: Final = re.compile(r"\s*(select|with)[\s*(\"']", re.IGNORECASE)
_WILD: Final = re.compile(r"[*?[]")


class Where(StrEnum):
    """The kinds of places that tables are read from.

    >>> Where("csv")
    <Where.CSV: 'csv'>
    """

    FILE = "file"
    FOLDER = "folder"
    CSV = "csv"
    PARQUET = "parquet"
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a table.

    text:     what stands for it in messages: as it was typed, but without a password
    path:     the file, the folder or the pattern of files; of a PostgreSQL database, nothing
    wanted:   the table of a database, or a query
    database: how to connect to PostgreSQL; never shown

    >>> Address.of("clinic.sqlite#visits")
    Address(where=<Where.SQLITE: 'sqlite'>, text='clinic.sqlite#visits', \
path=PosixPath('clinic.sqlite'), wanted='visits')
    >>> print(Address.of("postgresql://me:secret@host/clinic?sslmode=require#visits"))
    postgresql://host/clinic#visits
    """

    where: Where
    text: str
    path: Path
    wanted: str = ""
    database: str = field(default="", repr=False)

    @classmethod
    def of(cls, given: str | Path | Address) -> Address:
        """Return the address that a text or a path is."""
        if isinstance(given, Address):
            return given
        text = str(given)
        shown = " ".join(text.splitlines())
        found = None if isinstance(given, Path) else _named(text, shown)
        return found or cls(_kind_of(Path(text)), shown, Path(text))

    @classmethod
    def of_query(cls, database: str, query: str) -> Address:
        """Return the address of a query of a database: a SQLite file, or `postgresql://…`.

        >>> print(Address.of_query("clinic.sqlite", "SELECT * FROM visits"))
        sqlite:clinic.sqlite#SELECT * FROM visits
        """
        known = database.startswith((*_POSTGRESQL, *_SQLITE))
        if not known:
            _must_be_known(database)
        return cls.of(f"{'' if known else 'sqlite:'}{database}#{query}")

    def __str__(self) -> str:
        return self.text

    @property
    def place(self) -> str:
        """The name in messages about rows: never a query, which may contain values."""
        if self.where not in (Where.SQLITE, Where.POSTGRESQL):
            return self.text
        begin, wanted = " ".join(str(self.path).splitlines()), self.wanted
        if self.where is Where.POSTGRESQL:
            begin, _, wanted = self.text.partition("#")
        return f"{begin}, query" if self.is_query else f"{begin}, table {_shown(wanted)}"

    @property
    def is_query(self) -> bool:
        """Whether a query is wanted, and not a table."""
        return is_query(self.wanted)

    @property
    def is_files(self) -> bool:
        """Whether the table may have several files."""
        return self.where in (Where.FOLDER, Where.CSV, Where.PARQUET)

    @property
    def home(self) -> Path:
        """The folder in which a schema of the table is looked for: the one that it is in."""
        if self.where is Where.POSTGRESQL:
            return Path()
        parts = self.path.parts
        wild = next((n for n, part in enumerate(parts) if _WILD.search(part)), None)
        # Of a pattern, the folder that is named before it.
        return self.path.parent if wild is None else Path(*parts[:wild])

    def needed(self) -> list[Path]:
        """Return the files that the table is in, as far as they are there; for no other use.

        >>> Address.of("left.csv").needed()
        [PosixPath('left.csv')]
        """
        if self.where is Where.POSTGRESQL:
            return []
        if self.where is Where.SQLITE:
            return sqlite_files(self.path)
        if not self.is_files:
            return [self.path]
        try:
            return self.files()[1]
        except LoadError:
            return [self.path]

    def files(self) -> tuple[Where, list[Path]]:
        """Return the kind and the paths of all files of the table, in sorted order."""
        where, suffixes = self.where, {Where.CSV: DELIMITED_FILES, Where.PARQUET: PARQUET_FILES}
        if where is Where.FOLDER:
            where = self._kind_of_folder()
        if _is_folder(self.path):
            found = [one for one in _listed(self) if one.name.lower().endswith(suffixes[where])]
            if not found:
                raise LoadError(f"{self}: no {_word(where)} file in this folder; check the path")
        elif _exists(self.path) or not _WILD.search(str(self.path)):
            found = [self.path]
        else:
            found = [Path(one) for one in glob.glob(str(self.path), recursive=True)]  # noqa: PTH207
            if not found:
                raise LoadError(f"{self}: no such file; check the pattern")
        return where, sorted(found, key=str)

    def _kind_of_folder(self) -> Where:
        """Return which files of a folder are the table; if that is not clear, refuse it."""
        names = [one.name.lower() for one in _listed(self)]
        kinds = {
            Where.CSV: any(name.endswith(DELIMITED_FILES) for name in names),
            Where.PARQUET: any(name.endswith(PARQUET_FILES) for name in names),
        }
        found = [where for where, is_there in kinds.items() if is_there]
        if len(found) == 1 and not any(name.endswith(_OTHER_TABLES) for name in names):
            return found[0]
        what = "files of several formats" if found else "no CSV or Parquet file"
        raise LoadError(f"{self}: a folder with {what}; name the files, as in csv:folder/*.csv")


def is_query(text: str) -> bool:
    """Return whether a text is a query, and not the name of a table.

    >>> is_query("SELECT*FROM visits"), is_query("selected")
    (True, False)
    """
    return _QUERY.match(text) is not None


def _named(text: str, shown: str) -> Address | None:
    """Return the address that a text is; None if it is the name of a file or folder."""
    if text.startswith(_POSTGRESQL):
        return _in_postgresql(text)
    for prefix in _SQLITE:
        if text.startswith(prefix):
            return _in_sqlite(text.removeprefix(prefix), shown)
    for where in (Where.CSV, Where.PARQUET):
        if text.startswith(f"{where}:"):
            return Address(where, shown, Path(text.removeprefix(f"{where}:")))
    if any(f"{suffix}#" in text.lower() for suffix in _DATABASES) and not _exists(Path(text)):
        return _in_sqlite(text, shown)
    _must_be_known(text)
    return None


def _must_be_known(text: str) -> None:
    """Refuse the address of what is neither a file nor a database that is read."""
    scheme = _SCHEME.match(text)
    if scheme and not _exists(Path(text)):
        # Only the scheme: an address may contain a password.
        raise LoadError(
            f"{scheme[1]}://…: not an address that redveil knows; give a file, sqlite:… or "
            "postgresql://…"
        )


def _in_postgresql(text: str) -> Address:
    """Return the address of a table of PostgreSQL; no part of a password is shown.

    >>> print(Address.of("postgresql://me:pass#word@host/clinic#visits"))
    postgresql://host/clinic#visits
    """
    found = _CREDENTIALS.match(text)
    start = found.end() if found else text.index("://") + len("://")
    rest, _, wanted = text[start:].partition("#")
    # What follows the # of a password would be shown as the name of a table.
    if not is_query(wanted) and ("@" in wanted or "#" in wanted):
        raise LoadError(
            f"{_HIDDEN}: not clear where it ends; write %23 for # and %2F for / in a password, "
            "and a query for a table whose name contains # or @"
        )
    begin = _without_password(rest)
    if not wanted.strip():
        raise LoadError(f"{begin}: no table; name one after #, as in {begin}#visits")
    # A password among the parameters may end in what follows #.
    named = "…" if "password" in rest.lower() else wanted
    shown = " ".join(f"{begin}#{named}".splitlines())
    return Address(Where.POSTGRESQL, shown, Path(), wanted, text[:start] + rest)


def _without_password(rest: str) -> str:
    """Return an address of PostgreSQL without parameters, given what follows its credentials.

    >>> _without_password("host:5432/clinic?sslmode=require"), _without_password("me:1/2@host")
    ('postgresql://host:5432/clinic', 'postgresql://…')
    """
    try:
        parts = urlsplit(f"postgresql://{rest}")
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return _HIDDEN
    # With a slash in it, a password looks like a port and a path.
    return _HIDDEN if "@" in rest else f"postgresql://{host}{parts.path}"


def _in_sqlite(text: str, shown: str) -> Address:
    """Return the address of a table of a SQLite file, whose own path may contain `#`."""
    ends = [found.start() for found in re.finditer("#", text)]
    end = next((one for one in ends if _exists(Path(text[:one]))), ends[0] if ends else len(text))
    path, wanted = text[:end], text[end + 1 :]
    if not wanted.strip():
        raise LoadError(f"{shown}: no table; name one after #, as in sqlite:clinic.sqlite#visits")
    return Address(Where.SQLITE, shown, Path(path), wanted)


def _kind_of(path: Path) -> Where:
    """Return what a path without further words is, by what is there, or by its name."""
    if _is_folder(path):
        return Where.FOLDER
    if not _WILD.search(str(path)) or _exists(path):
        return Where.FILE
    name = path.name.lower()
    if name.endswith(PARQUET_FILES):
        return Where.PARQUET
    return Where.CSV if name.endswith(DELIMITED_FILES) else Where.FILE


def _listed(address: Address) -> list[Path]:
    """Return the files of a folder, without those that programs hide or keep for themselves."""
    try:
        return [one for one in address.path.iterdir() if not one.name.startswith((".", "_"))]
    except OSError:
        pass
    raise LoadError(f"{address}: cannot be read; check the permissions")


def _word(where: Where) -> str:
    return "Parquet" if where is Where.PARQUET else "CSV"


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else " " for c in name)[:60]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
