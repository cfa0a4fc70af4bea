"""The exception hierarchy. Messages name places and remedies, never data.

RedveilError
├── InputError           the input cannot be used (exit code 2)
│   ├── SchemaError      a declaration is missing, contradictory or unreadable
│   ├── LoadError        a file or frame cannot be read with its schema
│   ├── QueryError       a query cannot be parsed or evaluated
│   └── ResultError      a result file is unreadable, of another version or without its list
├── OverBudgetError      the privacy budget does not cover the request (exit code 3)
├── StoreError           the database of a server cannot be used
│   └── LedgerError      a ledger was changed, cut off or restored from a backup
├── ConflictError        the state of a server does not allow the request
│   ├── LeaseError       a job is no longer the worker's
│   └── NotAllowedError  what allowed a job was taken back before it was charged
├── NotFoundError        there is no such thing, or it is not for the one who asks
├── RemoteError          a server cannot be reached, refuses, or does not answer as it should
├── SealedError          sealed data was accessed, or a computation on it failed
├── ClusterError         the cluster that has the entities is gone
├── PlanError            a run tried to spend something that is not in its plan
└── UnfinishedError      a run failed after the release; it carries what was released

LedgerWarning: a ledger was charged for a data set for the first time.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redveil.report.result import Result


class RedveilError(Exception):
    """The base class of all errors that this package raises deliberately.

    >>> issubclass(SchemaError, RedveilError)
    True
    """


class InputError(RedveilError):
    """The input cannot be used; the message says where and what to do.

    >>> issubclass(LoadError, InputError)
    True
    """


class SchemaError(InputError):
    """A schema is missing something, contradicts itself, or cannot be read.

    >>> raise SchemaError("left, attribute age: no bounds; declare minimum and maximum")
    Traceback (most recent call last):
    redveil.errors.SchemaError: left, attribute age: no bounds; declare minimum and maximum
    """


class LoadError(InputError):
    """A file or frame cannot be read with its schema. Seen by the data owner only.

    >>> raise LoadError("left.csv, line 7: 4 fields, expected 5")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.csv, line 7: 4 fields, expected 5
    """


class QueryError(InputError):
    """A query cannot be parsed, or does not fit the table it is evaluated on.

    >>> raise QueryError("position 4: expected ']'")
    Traceback (most recent call last):
    redveil.errors.QueryError: position 4: expected ']'
    """


class ResultError(InputError):
    """A result file is unreadable, or was written by an unsupported version.

    >>> issubclass(ResultError, InputError)
    True
    """


class OverBudgetError(RedveilError):
    """The privacy budget does not cover the request; nothing was released.

    >>> issubclass(OverBudgetError, InputError)
    False
    """


class StoreError(RedveilError):
    """The database of a server cannot be used; the message says why and what to do.

    >>> issubclass(LedgerError, StoreError)
    True
    """


class LedgerError(StoreError):
    """A ledger is not the one that was written: changed, cut off, or restored from a backup.

    >>> issubclass(LedgerError, InputError)
    False
    """


class ConflictError(RedveilError):
    """The state of a server does not allow the request, or no longer.

    >>> issubclass(LeaseError, ConflictError)
    True
    """


class LeaseError(ConflictError):
    """A job is no longer the worker's: its lease has run out, or it was cancelled.

    >>> issubclass(LeaseError, RedveilError)
    True
    """


class NotAllowedError(ConflictError):
    """What allowed a job was taken back before it was charged, or its owner has to approve first.

    >>> issubclass(NotAllowedError, RedveilError)
    True
    """


class NotFoundError(RedveilError):
    """There is no such thing, or it is not for the one who asks: the two look the same.

    >>> issubclass(NotFoundError, InputError)
    False
    """


class RemoteError(RedveilError):
    """A server cannot be reached, refuses, or does not answer as it should.

    >>> issubclass(RemoteError, InputError)
    False
    """


class SealedError(RedveilError):
    """Sealed data was accessed, or a computation inside the seal failed.

    The message never states why a computation failed: the reason may depend on private rows.

    >>> issubclass(SealedError, InputError)
    False
    """


class ClusterError(RedveilError):
    """The cluster that has the entities cannot be reached, or has lost too many workers.

    >>> issubclass(ClusterError, RedveilError)
    True
    """


class PlanError(RedveilError):
    """A run tried to spend something that is not in its plan, or to spend it twice.

    >>> issubclass(PlanError, RedveilError)
    True
    """


class UnfinishedError(RedveilError):
    """A run failed after it had released what was paid for, so the list was not made.

    result: what was released; its `filter` makes the list

    >>> UnfinishedError("the list was not made").result is None
    True
    """

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class LedgerWarning(UserWarning):
    """A ledger was charged for a data set for the first time; there may be another ledger.

    >>> issubclass(LedgerWarning, Warning)
    True
    """


def stopped(stop: KeyboardInterrupt | SystemExit) -> BaseException:
    """Return what stops the program in the same way, and holds nothing else.

    >>> stopped(SystemExit(7)), stopped(SystemExit("a row"))
    (SystemExit(7), SystemExit(1))
    """
    if isinstance(stop, KeyboardInterrupt):
        return KeyboardInterrupt()
    # A text would be printed, and then the code is 1.
    return SystemExit(stop.code if stop.code is None or isinstance(stop.code, int) else 1)


def innermost(error: BaseException) -> str:
    """Return the type of an unexpected error and the place in our code, never its message.

    >>> innermost(ValueError("secret"))
    'ValueError'
    """
    ours = [
        frame
        for frame in traceback.walk_tb(error.__traceback__)
        if str(frame[0].f_globals.get("__name__", "")).split(".")[0] == "redveil"
    ]
    if not ours:
        return type(error).__name__
    frame, line = ours[-1]
    return f"{type(error).__name__} in {frame.f_globals['__name__']}, line {line}"
