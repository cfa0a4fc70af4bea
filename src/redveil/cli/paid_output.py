"""A result file that is there from the release on: first without a list, then with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from redveil.base.file_kind import FileKind
from redveil.base.files import is_written_to, replace_text, set_aside, typed
from redveil.cli.outputs import is_standard_output, rescued, save_paid
from redveil.errors import InputError, RedveilError, UnfinishedError, innermost

if TYPE_CHECKING:
    from redveil.report.result import Result

_IN: Final = "what was released and paid for is in {}"


class PaidOutput:
    """Where the result of a run goes.

    What was released is written before the list is made from it, so that it survives whatever
    happens then. What cannot be written twice, such as a pipe, has a temporary file for that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begun: Path | None = None
        self._text = ""
        self._kept: Path | None = None

    def begin(self, result: Result) -> None:
        """Write what was released. If it cannot be written, go on: `finish` will say so."""
        text = result.to_json()
        if not is_standard_output(self._path) and not is_written_to(self._path):
            with suppress(InputError):
                self._kept = replace_text(self._path, text, FileKind.RESULT)
                self._begun = self._path
        if self._begun is None:
            self._begun = set_aside(text)
        self._text = text

    def finish(self, text: str) -> Path | None:
        """Write the result; return where the file that it replaced is kept, None if none was."""
        aside = self._begun if self._begun != self._path else None
        try:
            kept = save_paid(text, self._path, FileKind.RESULT)
        except InputError:
            # It is elsewhere, as the error says.
            _discard(aside)
            raise
        # There is nothing left to name.
        begun, self._text, self._begun = self._text, "", None
        _discard(aside)
        if kept is not None and _contains(kept, begun):
            kept.unlink(missing_ok=True)
            return self._kept
        return self._kept or kept

    @contextmanager
    def naming(self) -> Iterator[None]:
        """If the block fails after the release, say where to find what was released."""
        try:
            yield
        except KeyboardInterrupt as stopped:
            said = self._where or self._rescued() or _said(stopped)
            if not said:
                raise
            raise UnfinishedError(f"stopped; {said}") from stopped
        except UnfinishedError as error:
            if not self._where and error.result is not None:
                raise InputError(f"{error} (it is in {rescued(error.result.to_json())})") from None
            problem = str(error).partition("; what was released")[0]
            said = f"{problem}; please report this; {self._where}"
            raise UnfinishedError(said, error.result) from None
        except RedveilError:
            raise
        except Exception as error:
            # Before the release, there is nothing to name.
            if not self._text:
                raise
            raise UnfinishedError(
                f"the result was not written ({innermost(error)}); please report this; "
                f"{self._where or self._rescued()}"
            ) from None

    def _rescued(self) -> str:
        """Write what `begin` could write nowhere, and say where; empty before the release."""
        return _IN.format(rescued(self._text)) if self._text else ""

    @property
    def _where(self) -> str:
        """Where what was released is, and what to do with it; empty if it is nowhere."""
        if self._begun is None:
            return ""
        listed = f"`redveil show {typed(self._begun)}` lists it at no cost"
        return f"{_IN.format(self._begun)}, and {listed}"


def _said(stopped: KeyboardInterrupt) -> str:
    """Return what Ctrl-C says of a result; one that is nowhere else is rescued."""
    result: Result | None = getattr(stopped, "result", None)
    if result is None or "error's result" not in str(stopped):
        return str(stopped)
    return _IN.format(rescued(result.to_json()))


def _discard(aside: Path | None) -> None:
    if aside is not None:
        with suppress(OSError):
            aside.unlink()


def _contains(path: Path, text: str) -> bool:
    """Return whether a file contains just that text."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False
