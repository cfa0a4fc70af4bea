"""The boundary between private and released values: `Sealed` and `Released`.

A sealed value cannot be printed, measured, compared, iterated, copied or pickled. Computations on
it stay inside the seal (`within`). It opens only for a mechanism that has a `Receipt`, or, for the
data owner, through `open_for_owner`. Python cannot stop code in the same process that is determined
to look. The seal prevents accidents, and leaks through logs and tracebacks; a contract test keeps
the list of modules that may open a seal short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar

from redveil.errors import SealedError, stopped

if TYPE_CHECKING:
    from redveil.losses.loss import Price
    from redveil.losses.plan import StepKey

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Receipt:
    """Evidence that one step of a plan was paid for. It opens a seal once."""

    step: StepKey
    mechanism: str
    price: Price
    _unused: list[bool] = field(default_factory=lambda: [True], repr=False, compare=False)


class Sealed(Generic[T]):
    """A private value that cannot be inspected.

    >>> diagnoses = Sealed(["asthma", "gout"])
    >>> diagnoses
    <sealed>
    >>> len(diagnoses)
    Traceback (most recent call last):
    redveil.errors.SealedError: sealed data cannot be inspected; only a paid mechanism opens it
    """

    # A closure instead of an attribute: debuggers, `vars` and tracebacks with locals show a
    # function, not the rows.
    __slots__ = ("__contents",)

    def __init__(self, value: T) -> None:
        self.__contents = lambda: value

    def __repr__(self) -> str:
        return "<sealed>"

    def __format__(self, _spec: str) -> str:
        return "<sealed>"

    def __refuse(self, *_: object) -> Never:
        raise SealedError("sealed data cannot be inspected; only a paid mechanism opens it")

    __len__ = __iter__ = __contains__ = __getitem__ = __bool__ = __eq__ = __hash__ = __refuse
    __lt__ = __le__ = __gt__ = __ge__ = __int__ = __float__ = __index__ = __array__ = __refuse
    __copy__ = __deepcopy__ = __reduce_ex__ = __reduce__ = __getstate__ = __refuse


class Released(Generic[T]):
    """A value that a paid mechanism released, with the receipts that paid for it.

    Only `redveil.privacy.mechanisms` makes one from sealed data; `combine` makes one from others.

    >>> Released("anything", ())
    Traceback (most recent call last):
    redveil.errors.SealedError: only a paid mechanism releases values
    """

    __slots__ = ("receipts", "value")
    value: T
    receipts: tuple[Receipt, ...]

    def __init__(self, value: T, receipts: tuple[Receipt, ...]) -> None:
        if not receipts:
            raise SealedError("only a paid mechanism releases values")
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "receipts", receipts)

    def __setattr__(self, *_: object) -> Never:
        raise AttributeError("released values are frozen")

    __delattr__ = __setattr__

    def __repr__(self) -> str:
        return f"Released({self.value!r})"


def within(function: Callable[..., R], *contents: Sealed[Any]) -> Sealed[R]:
    """Compute on sealed values, and return the result sealed.

    An exception is replaced by one that does not mention the cause, which may be a row. So are
    Ctrl-C, an exit and whatever else a time limit raises: their tracebacks would hold what was
    being computed.

    >>> within(len, Sealed([1, 2, 3]))
    <sealed>
    >>> within(lambda rows: 1 / 0, Sealed([1]))
    Traceback (most recent call last):
    redveil.errors.SealedError: a computation on sealed data failed; its reason stays sealed
    """
    try:
        return Sealed(function(*(_contents(sealed) for sealed in contents)))
    except (KeyboardInterrupt, SystemExit) as stop:
        failure: BaseException = stopped(stop)
    except BaseException:
        failure = SealedError("a computation on sealed data failed; its reason stays sealed")
    # Raised outside the handler, so that no __context__ keeps the original alive.
    raise failure


def combine(function: Callable[..., R], *releases: Released[Any]) -> Released[R]:
    """Post-process: a function of released values alone is as private as they are."""
    receipts = dict.fromkeys(receipt for one in releases for receipt in one.receipts)
    return Released(function(*(one.value for one in releases)), tuple(receipts))


def open_paid(function: Callable[[T], R], sealed: Sealed[T], receipt: Receipt) -> R:
    """Apply a function and open its result. Contract: called by `privacy.mechanisms` only."""
    if not isinstance(receipt, Receipt) or not receipt._unused:
        raise SealedError("sealed data opens only against a receipt, and once")
    receipt._unused.pop()
    # Inside the seal, so that the traceback of a failing mechanism does not hold the value.
    return _contents(within(function, sealed))


def open_for_owner(sealed: Sealed[T]) -> T:
    """Open a sealed value for the data owner. NOT private; nothing is charged.

    >>> open_for_owner(Sealed(7))
    7
    """
    return _contents(sealed)


def _contents(sealed: Sealed[T]) -> T:
    """Return the value inside a seal."""
    contents: Callable[[], T] = object.__getattribute__(sealed, "_Sealed__contents")
    return contents()
