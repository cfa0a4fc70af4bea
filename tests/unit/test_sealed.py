from __future__ import annotations

import copy
import io
import json
import logging
import operator
import pickle
import traceback
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from redveil.data import raw
from redveil.errors import SealedError
from redveil.sealed import Receipt, Released, Sealed, combine, open_for_owner, open_paid, within
from support.prepared import SOME_STEP

SECRET = "patient 4711 has gout"
PAID = Receipt(SOME_STEP, "count", Fraction(1))

LOOKS: dict[str, Callable[[Any], object]] = {
    "len": len,
    "iter": iter,
    "bool": bool,
    "contains": lambda s: SECRET in s,
    "item": lambda s: s[0],
    "equal": lambda s: s == SECRET,
    "different": lambda s: s != SECRET,
    "less": lambda s: s < SECRET,
    "at most": lambda s: s <= SECRET,
    "more": lambda s: s > SECRET,
    "at least": lambda s: s >= SECRET,
    "hash": hash,
    "int": int,
    "float": float,
    "index": operator.index,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "json": json.dumps,
    "array": np.asarray,
    "vars": vars,
    "dict": lambda s: s.__dict__,
    "state": lambda s: s.__getstate__(),
    "add": lambda s: s + s,
    "set": lambda s: {s},
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_sealed_value_cannot_be_looked_at(look: str) -> None:
    with pytest.raises((SealedError, TypeError, AttributeError)) as caught:
        LOOKS[look](Sealed(SECRET))
    assert SECRET not in str(caught.value)


def test_every_way_of_printing_a_sealed_value_says_the_same() -> None:
    sealed = Sealed(SECRET)
    stream = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("%s %r", sealed, sealed)
    printed = [repr(sealed), str(sealed), f"{sealed}", f"{sealed:>9}", "%s" % sealed]  # noqa: UP031
    assert set(printed) == {"<sealed>"}
    assert stream.getvalue() == "<sealed> <sealed>\n"


def test_the_names_and_values_of_a_sealed_value_do_not_show_the_secret() -> None:
    sealed = Sealed(SECRET)
    shown = [repr(getattr(sealed, name, None)) for name in dir(sealed)]
    assert not any(SECRET in text for text in shown)


def test_tracebacks_with_local_variables_do_not_show_the_secret() -> None:
    def fails(sealed: Sealed[str]) -> None:
        assert sealed is None

    try:
        fails(Sealed(SECRET))
    except AssertionError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        assert SECRET not in "".join(shown.format())
        assert "<sealed>" in "".join(shown.format())


def test_a_failure_inside_the_seal_says_nothing_about_its_cause() -> None:
    def fail(value: str) -> None:
        raise ValueError(value)

    with pytest.raises(SealedError) as caught:
        within(fail, Sealed(SECRET))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert SECRET not in "".join(shown.format())


class TimeLimit(BaseException):
    """As some libraries raise it, from a signal or another thread."""


@pytest.mark.parametrize(
    ("raised", "expected", "code"),
    [
        pytest.param(TimeLimit(SECRET), SealedError, None, id="time limit"),
        pytest.param(KeyboardInterrupt(SECRET), KeyboardInterrupt, None, id="Ctrl-C"),
        pytest.param(SystemExit(7), SystemExit, 7, id="exit"),
        pytest.param(SystemExit(SECRET), SystemExit, 1, id="exit with a text"),
    ],
)
@pytest.mark.parametrize("door", ["within", "loading"])
def test_whatever_stops_a_computation_leaves_no_frames_behind(
    door: str, raised: BaseException, expected: type[BaseException], code: int | None
) -> None:
    def stop(value: str) -> None:
        raise raised

    def enter() -> None:
        if door == "within":
            within(stop, Sealed(SECRET))
            return
        found = raw.caught(partial(stop, SECRET), "loading")
        assert isinstance(found, BaseException)
        raise found

    with pytest.raises(expected) as came:
        enter()
    error = came.value
    assert getattr(error, "code", None) == code
    assert error.__cause__ is None
    assert error.__context__ is None
    frames = traceback.walk_tb(error.__traceback__)
    assert "stop" not in {frame.f_code.co_name for frame, _ in frames}
    assert SECRET not in str(error)


def test_work_inside_the_seal_stays_sealed() -> None:
    total = within(lambda a, b: a + b, Sealed(1), Sealed(2))
    assert isinstance(total, Sealed)
    assert open_for_owner(total) == 3


def test_a_seal_opens_against_a_receipt_only_and_once() -> None:
    receipt = Receipt(SOME_STEP, "count", Fraction(1))
    assert open_paid(abs, Sealed(7), receipt) == 7
    with pytest.raises(SealedError, match="once"):
        open_paid(abs, Sealed(7), receipt)
    with pytest.raises(SealedError):
        open_paid(abs, Sealed(7), "please")  # type: ignore[arg-type]


def test_a_sealed_value_cannot_be_given_attributes() -> None:
    with pytest.raises(AttributeError):
        Sealed(1).note = "x"  # type: ignore[attr-defined]


def test_released_values_are_frozen_and_remember_what_was_paid() -> None:
    released = Released(5, (PAID,))
    with pytest.raises(AttributeError):
        released.value = 6
    with pytest.raises(AttributeError):
        del released.value
    assert released.receipts == (PAID,)
    assert repr(released) == "Released(5)"


def test_nothing_is_released_without_a_receipt() -> None:
    with pytest.raises(SealedError):
        Released(5, ())


def test_combining_releases_keeps_every_receipt_once() -> None:
    other = Receipt(SOME_STEP, "choose", Fraction(1, 2))
    both = combine(lambda a, b: a + b, Released(1, (PAID,)), Released(2, (other, PAID)))
    assert both.value == 3
    assert both.receipts == (PAID, other)
