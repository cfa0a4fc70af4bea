"""Handing over what a run released before anything is inferred from it.

A run is charged before it begins, so what it released must not be lost because the list cannot be
made: by a mistake of ours, for lack of memory, or because somebody has pressed Ctrl-C.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from redveil.base.files import set_aside
from redveil.errors import InputError, RedveilError, UnfinishedError, innermost

if TYPE_CHECKING:
    from redveil.report.result import Result

#: Is given an unfinished result: what was released, without a list.
Keep: TypeAlias = "Callable[[Result], object]"


class Handover:
    """What a run released, from the release until the list is made.

    keep: is given it as an unfinished result, at once

    >>> Handover(5)
    Traceback (most recent call last):
    redveil.errors.InputError: keep: give a function, which is given what was released
    """

    def __init__(self, keep: Keep | None = None) -> None:
        if keep is not None and not callable(keep):
            raise InputError("keep: give a function, which is given what was released")
        self._keep = keep
        self._make: Callable[[], Result] | None = None
        self._is_kept = False

    def take(self, make: Callable[[], Result]) -> None:
        """Take over what was released.

        make: makes the unfinished result
        """
        self._make = make
        if self._keep is not None:
            self._keep(make())
            self._is_kept = True

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """If the block fails after the release, say where to find what was released."""
        try:
            yield
        except BaseException as error:
            if self._make is None:
                raise
            result, where = self._safe(self._make)
            if isinstance(error, KeyboardInterrupt):
                raise _carrying(KeyboardInterrupt(where), result) from None
            if not isinstance(error, Exception):
                error.add_note(where)
                _carrying(error, result)
                raise
            problem = str(error) if isinstance(error, RedveilError) else innermost(error)
            raise UnfinishedError(f"the list was not made ({problem}); {where}", result) from error

    def _safe(self, make: Callable[[], Result]) -> tuple[Result, str]:
        """Put what was released where it outlives the process, unless that was done; say where."""
        result = make()
        if self._is_kept:
            return result, "what was released and paid for was given to keep"
        path = set_aside(result.to_json())
        if path is None:
            return result, "what was released and paid for is in the error's result"
        named = json.dumps(str(path), ensure_ascii=False)
        return result, (
            f"what was released and paid for is in {path}; "
            f"redveil.Result.read({named}).filter() makes the list"
        )


def _carrying(error: BaseException, result: Result) -> BaseException:
    """Return an error that is none of ours, and yet has a `result`, as an UnfinishedError has."""
    error.result = result  # type: ignore[attr-defined]
    return error
