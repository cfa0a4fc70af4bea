"""Writing files atomically: a crash or Ctrl-C leaves the old file or the new one, never a part.

Symbolic links are followed. What is not a regular file (a pipe, a terminal, /dev/null) is written
to, never replaced. A regular file is replaced only by a file of its own kind, so that a slip of the
keyboard cannot cost anybody a table.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from redveil.base.file_kind import FileKind, file_kind, may_replace
from redveil.errors import InputError

# Names of open files of this process: to replace what they stand for would cut the process off.
_DESCRIPTOR: Final = re.compile(
    r"/dev/(?:fd/(\d+)|stdin|stdout|stderr)|/proc/(?:self|(\d+))/fd/(\d+)"
)
_STANDARD: Final = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
# The most that a check before a run tries to write; larger results are rare.
_PROBE_BYTES: Final = 2**20
# How long to wait for others who write to the same folder: a second.
_TRIES: Final = 100
_PAUSE_SECONDS: Final = 0.01
_TEMPORARY: Final = ".redveil-"
_ELSEWHERE: Final = "name another file"
_REASONS: Final = {
    errno.ENOSPC: "the disk is full; make room",
    errno.EDQUOT: "the disk quota is used up; make room",
    errno.EFBIG: "the file would exceed the limit on file sizes; raise it",
    errno.EACCES: f"permission denied; {_ELSEWHERE}",
    errno.EPERM: f"permission denied; {_ELSEWHERE}",
    errno.EROFS: f"the file system is read-only; {_ELSEWHERE}",
    errno.ENOENT: "check that its folder exists",
    errno.ENOTDIR: "check that its folder exists",
    errno.ENAMETOOLONG: "the name is too long; shorten it",
    errno.ELOOP: f"its symbolic links lead in a circle; {_ELSEWHERE}",
    errno.EBADF: f"it is not open for writing; {_ELSEWHERE}",
    errno.EPIPE: "the other end of the pipe was closed",
    errno.ENXIO: f"nothing can be written there; {_ELSEWHERE}",
}


def write_text(path: Path, text: str, kind: FileKind) -> None:
    """Write text as UTF-8 to a file of some kind, atomically.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "a.json", '{"ε": 1}', FileKind.JSON)
    ...     (Path(folder) / "a.json").read_text(encoding="utf-8")
    '{"ε": 1}'
    """
    write_bytes(path, encoded(text, str(path)), kind)


def encoded(text: str, place: str) -> bytes:
    """Return a text as UTF-8, or refuse it if it contains half a character.

    >>> encoded(chr(0xD83D), "a.json")
    Traceback (most recent call last):
    redveil.errors.InputError: a.json: cannot be written; it contains half a character (a lone \
surrogate), so correct the names that it is made of
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"{place}: cannot be written; it contains half a character (a lone surrogate), so "
            "correct the names that it is made of"
        ) from None


def write_bytes(path: Path, content: bytes, kind: FileKind) -> None:
    """Write bytes to a temporary file, flush them to disk, then move it into place.

    >>> write_bytes(Path("nowhere/a.json"), b"{}", FileKind.JSON)
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere/a.json: cannot be written; check that its folder exists
    """
    with _explained(path):
        _write(path, content, kind, keep=False)


def replace_text(
    path: Path, text: str, kind: FileKind, *, read: bytes | None = None
) -> Path | None:
    """Write text, and keep the file that it replaces; return where, None if there was none.

    The earlier file may have been paid for, or edited by hand. It stays in place until the new one
    has been written completely.

    read: what was in the file when it was read, if the text was made from that; nothing is replaced
          if something else is in it now

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replaced = [replace_text(Path(folder) / "a.json", "{}", FileKind.JSON) for _ in "12"]
    ...     replaced[0], replaced[1].name
    (None, 'a.json.1')
    """
    return replace_bytes(path, encoded(text, str(path)), kind, read=read)


def replace_bytes(
    path: Path, content: bytes, kind: FileKind, *, read: bytes | None = None
) -> Path | None:
    """Write bytes, and keep the file that they replace, as `replace_text` does.

    >>> replace_bytes(Path("nowhere/a.png"), b"", FileKind.FIGURE)
    Traceback (most recent call last):
    redveil.errors.InputError: nowhere/a.png: cannot be written; check that its folder exists
    """
    with _explained(path):
        return _write(path, content, kind, keep=True, read=read)


def set_aside(text: str) -> Path | None:
    r"""Put a text into a new temporary file that only its owner can read; None if that fails.

    text: JSON, in which half a character that UTF-8 cannot encode can be spelled, as "\ud83d"

    >>> path = set_aside("{}")
    >>> path.read_text(encoding="utf-8"), path.unlink()
    ('{}', None)
    """
    try:
        handle, name = tempfile.mkstemp(prefix="redveil-", suffix=".json")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError:
        return None
    return Path(name)


def must_be_writable(path: Path, kind: FileKind, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output path that could not be written once the work is done and paid for.

    inputs: files that the same command reads, or otherwise needs; never written over

    >>> must_be_writable(Path("result.json"), FileKind.RESULT)
    >>> must_be_writable(Path("a.csv"), FileKind.RESULT, [Path("a.csv")])
    Traceback (most recent call last):
    redveil.errors.InputError: a.csv: this command needs that file itself; name another output file
    """
    for one in inputs:
        if _is_same(path, one):
            raise InputError(
                f"{path}: this command needs that file itself; name another output file"
            )
    with _explained(path):
        if _is_stream(path, _checked(path, kind)):
            _must_be_open(path)
            return
        target = followed(path)
        # The name under which an earlier file would be kept must be possible, too.
        with suppress(FileNotFoundError):
            target.with_name(f"{target.name}.1").stat()
        with tempfile.TemporaryFile(dir=target.parent, prefix=_TEMPORARY) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())


def must_be_changeable(path: Path) -> None:
    """Refuse what a changed copy cannot take the place of: a pipe, a device, a descriptor.

    >>> must_be_changeable(Path("/dev/null"))
    Traceback (most recent call last):
    redveil.errors.InputError: /dev/null: cannot be changed in place; name a file by its own name
    """
    if is_written_to(path):
        raise InputError(f"{path}: cannot be changed in place; name a file by its own name")


def is_written_to(path: Path) -> bool:
    """Return whether what is at a path is written to, and not replaced.

    >>> is_written_to(Path("/dev/stdout")), is_written_to(Path("nowhere.json"))
    (True, False)
    """
    try:
        return _is_stream(path, path.stat())
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Return whether there is something at a path, or may be, in a folder that cannot be searched.

    >>> is_there(Path("nowhere.json"))
    False
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def is_stream(path: Path) -> bool:
    """Return whether there is a pipe, a terminal or another device at a path.

    >>> is_stream(Path("/dev/null")), is_stream(Path("nowhere.json"))
    (True, False)
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write(
    path: Path, content: bytes, kind: FileKind, *, keep: bool, read: bytes | None = None
) -> Path | None:
    """Write to a path, whatever it stands for; return where an earlier file is kept."""
    earlier = _checked(path, kind)
    if _is_stream(path, earlier):
        _write_to_stream(path, content)
        return None
    target = followed(path)
    # A file keeps its permissions; mkstemp itself lets only the owner read.
    mode = 0o666 & ~_umask() if earlier is None else stat.S_IMODE(earlier.st_mode)
    # Not named after the path, whose name may be as long as names can be.
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=_TEMPORARY)
    kept = None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        with _turn(target.parent):
            if keep and earlier is None and _is_linked(Path(temporary), target):
                return None
            # Another process may have written there since.
            earlier = _checked(path, kind)
            _must_contain(target, read, path)
            if keep and earlier is not None and earlier.st_size:
                kept = _keep(target)
            Path(temporary).replace(target)
    except BaseException:
        # Ctrl-C can come after the new file is in place. Then this is the only copy of the old one.
        if kept is not None and _is_in_place(earlier, target):
            kept.unlink(missing_ok=True)
        raise
    finally:
        Path(temporary).unlink(missing_ok=True)
    return kept


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Let processes that write to a folder take turns, where the system can.

    Two that replace the same file would keep the same earlier one, and lose what the first wrote.
    """
    with ExitStack() as stack:
        # Not every system and file system has such locks.
        with suppress(ImportError, OSError):
            from fcntl import LOCK_EX, LOCK_NB, flock

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            for _ in range(_TRIES):
                try:
                    flock(handle, LOCK_EX | LOCK_NB)
                    break
                except BlockingIOError:
                    # Held for a moment by one of us, or for long by somebody with other plans.
                    time.sleep(_PAUSE_SECONDS)
        yield


def _is_linked(temporary: Path, target: Path) -> bool:
    """Give a new file its name, if there is nothing of that name and the system has hard links."""
    try:
        target.hardlink_to(temporary)
    except OSError:
        return False
    return True


def _is_in_place(earlier: os.stat_result | None, target: Path) -> bool:
    """Return whether a file is certainly the one that was there earlier."""
    try:
        return earlier is not None and os.path.samestat(earlier, target.stat())
    except OSError:
        return False


def _checked(path: Path, kind: FileKind) -> os.stat_result | None:
    """Return the status of what is at a path, None for nothing; refuse what must stay."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: cannot be written; it is a folder, so name a file in it")
    if stat.S_ISBLK(status.st_mode):
        raise InputError(f"{path}: cannot be written; it is a disk, so {_ELSEWHERE}")
    if not _is_stream(path, status):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "")
        found = file_kind(path)
        if not may_replace(kind, found):
            raise InputError(f"{path}: not replaced, because it is {found}; {_ELSEWHERE}")
    return status


def _is_stream(path: Path, status: os.stat_result | None) -> bool:
    """Return whether to write to what is there, instead of replacing it."""
    if status is None:
        return False
    return not stat.S_ISREG(status.st_mode) or _own_descriptor(path) is not None


def _must_contain(target: Path, read: bytes | None, path: Path) -> None:
    """Refuse to replace a file that has changed since it was read."""
    if read is not None and target.read_bytes() != read:
        raise InputError(f"{path}: changed since it was read; run the command again")


def _write_to_stream(path: Path, content: bytes) -> None:
    """Write to what is there, from where it stands; a file with output in it keeps that."""
    own = _own_descriptor(path)
    # Not opened by its name, which would open a file again that was opened for reading only.
    handle = os.open(path, os.O_WRONLY | os.O_APPEND) if own is None else os.dup(own)
    # Unbuffered and never truncating.
    with os.fdopen(handle, "wb", buffering=0) as stream:
        left = memoryview(content)
        while left:
            left = left[stream.write(left) or 0 :]


def _must_be_open(path: Path) -> None:
    """Refuse a pipe, a device or a descriptor that cannot be written to."""
    own = _own_descriptor(path)
    if own is None:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "")
        return
    from fcntl import F_GETFL, fcntl

    if fcntl(own, F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "")


def _own_descriptor(path: Path) -> int | None:
    """Return the number of an open file of this process by its name, None for other paths."""
    found = _DESCRIPTOR.fullmatch(str(path))
    if found is None or found[2] not in (None, str(os.getpid())):
        return None
    return _STANDARD.get(str(path), int(found[1] or found[3] or 0))


def typed(path: object) -> str:
    """Return a path or an address as it is typed in a shell, for commands that are suggested.

    >>> print(typed(Path("our study/left.csv")), typed("clinic.sqlite#visits"), typed("-x.json"))
    'our study/left.csv' 'clinic.sqlite#visits' ./-x.json
    """
    text = str(path)
    # A word that begins with a dash would be an option.
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def located(path: Path) -> Path:
    """Return a path that still leads to the file when the working folder is another.

    >>> located(Path("/data/../data/a.json")).as_posix()
    '/data/../data/a.json'
    """
    try:
        return path.absolute()
    except OSError:
        # The working folder has been deleted.
        return path


def followed(path: Path) -> Path:
    """Return the file that a path stands for, at the end of all symbolic links.

    >>> followed(Path("/dev/../dev")).as_posix()
    '/dev'
    """
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        # The working folder has been deleted.
        return path


def sqlite_files(path: Path) -> list[Path]:
    """Return a SQLite file and those that SQLite makes beside it, reads, and removes.

    It names them after the file at the end of all symbolic links.

    >>> [path.name for path in sqlite_files(Path("a.sqlite"))][:4]
    ['a.sqlite', 'a.sqlite-journal', 'a.sqlite-wal', 'a.sqlite-shm']
    """
    places = (path, followed(path))
    return [Path(f"{one}{end}") for one in places for end in ("", "-journal", "-wal", "-shm")]


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths stand for the same regular file, there already or not."""
    try:
        return path.samefile(other) and stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return followed(path) == followed(other)


def _keep(target: Path) -> Path:
    """Give a file a second, numbered name, and return it."""
    number = 1
    while True:
        kept = target.with_name(f"{target.name}.{number}")
        try:
            kept.hardlink_to(target)
        except FileExistsError:
            number += 1
        except OSError:
            # Not every file system has hard links.
            if kept.exists():
                number += 1
                continue
            shutil.copy2(target, kept)
            return kept
        else:
            return kept


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn the system's errors into a line that names the path, the reason and a remedy."""
    try:
        yield
    except (OSError, ValueError) as error:
        # A ValueError is a NUL character in the path.
        code = getattr(error, "errno", None)
        reason = _REASONS.get(code or 0, "check the disk and the path")
        raise InputError(f"{path}: cannot be written; {reason}") from None


def _umask() -> int:
    """Return the umask of the process, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
