"""A tape of what runs ask of private data: for each paid request its price and its true scores.

A run is recorded with randomness that repeats, request by request. On replay every outcome is
forced to be the recorded one, and nothing is drawn: so a run that asks in another order, or draws
in another way, is the same run as long as each request has the same mechanism, the same price and
the same true scores. What the run makes of the outcomes, a result, must be the recorded one too.

Words for a step depend on the step alone, so that a walk, whose state follows from its words, is
the same in whatever order runs ask.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from fractions import Fraction
from threading import local
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import redveil.algorithms.run
from redveil.privacy import mechanisms
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import SystemRandomness
from redveil.sealed import Receipt, Sealed, open_for_owner, open_paid
from support.seeded import SeededRandomness


@dataclass(frozen=True)
class Request:
    """One paid request and its outcome.

    scores: a digest of what the mechanism saw: the scores of the candidates, the sizes of the
            groups, the last state of the walk
    law:    a digest of the rate and the base measure by which it chose
    """

    mechanism: str
    price: str
    scores: str
    law: str
    outcome: Any

    def asked(self) -> tuple[str, str, str, str]:
        """Return what must be the same on replay."""
        return self.mechanism, self.price, self.scores, self.law


@dataclass
class Tape:
    """The requests of one run, by step."""

    requests: dict[str, Request] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)


@contextmanager
def recording() -> Iterator[Tape]:
    """Write down what runs ask and what they are answered, with randomness that repeats."""
    tape = Tape()

    def answer(step: str, request: Request, draw: Callable[[], Any]) -> Any:
        assert step not in tape.requests, f"{step} is asked twice"
        outcome = draw()
        tape.requests[step] = Request(*request.asked(), _as_json(outcome))
        return outcome

    with _intercepting(answer):
        yield tape


@contextmanager
def replaying(tape: Tape) -> Iterator[None]:
    """Force the recorded outcomes, and require that exactly the recorded requests are made."""

    def answer(step: str, request: Request, _draw: Callable[[], Any]) -> Any:
        recorded = tape.requests.get(step)
        assert recorded is not None, f"{step} is not on the tape"
        assert request.asked() == recorded.asked(), f"{step} differs from the tape"
        tape.asked.add(step)
        return _as_released(recorded)

    with _intercepting(answer):
        yield
    missing = tape.requests.keys() - tape.asked
    assert not missing, f"never asked: {', '.join(sorted(missing))}"


@contextmanager
def _intercepting(answer: Callable[[str, Request, Callable[[], Any]], Any]) -> Iterator[None]:
    """Stand between mechanisms and what they open, and make draws depend on the step alone."""
    here = local()
    pay = Purse.pay

    def paid(purse: Purse, key: Any, mechanism: Any) -> Receipt:
        receipt = pay(purse, key, mechanism)
        here.source = SeededRandomness(_number(str(receipt.step)))
        return receipt

    def opened(function: Callable[[Any], Any], sealed: Sealed[Any], receipt: Receipt) -> Any:
        scores = _digest(open_for_owner(sealed))
        law = _digest_of_law(inspect.getclosurevars(function).nonlocals)
        request = Request(receipt.mechanism, str(receipt.price), scores, law, None)
        step = str(receipt.step)
        outcome = answer(step, request, lambda: open_paid(function, sealed, receipt))
        # What is drawn without being paid for, such as random starts.
        here.source = SeededRandomness(_number(f"after {step}"))
        return outcome

    def source() -> SeededRandomness:
        if not hasattr(here, "source"):
            here.source = SeededRandomness(_number("before the first step"))
        own: SeededRandomness = here.source
        return own

    def words(_self: SystemRandomness, count: int) -> NDArray[np.uint64]:
        return source().words(count)

    def laplace(_self: SystemRandomness, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        return source().laplace(epsilon, count)

    def gaussian(_self: SystemRandomness, rho: Fraction, count: int) -> NDArray[np.int64]:
        return source().gaussian(rho, count)

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "120")
        patched.setattr(Purse, "pay", paid)
        patched.setattr(mechanisms, "open_paid", opened)
        patched.setattr(SystemRandomness, "words", words)
        patched.setattr(SystemRandomness, "laplace", laplace)
        patched.setattr(SystemRandomness, "gaussian", gaussian)
        # Random starts are drawn before anything is paid for: in turn, so that they repeat.
        patched.setattr(redveil.algorithms.run, "run_all", _one_after_the_other)
        yield


def _one_after_the_other(pieces: Any, _stop: object, _workers: object = None) -> list[Any]:
    return [piece() for piece in pieces]


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _digest(value: Any) -> str:
    """Return a digest of whole numbers: an array of any width, or nested tuples."""
    whole = np.asarray(value)
    assert whole.dtype.kind in "iub", "scores are whole numbers"
    content = repr(whole.shape).encode() + whole.astype("<i8").tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


def _digest_of_law(given: Mapping[str, Any]) -> str:
    """Return a digest of what a choice was made by; "" if nothing was chosen."""
    if "base" not in given:
        return ""
    base = given["base"]
    parts = [base] if isinstance(base, np.ndarray) else [*_fields_of(base).values()]
    digests = [_digest(one) if isinstance(one, np.ndarray) else repr(one) for one in parts]
    return hashlib.sha256(repr((str(given["rate"]), digests)).encode()).hexdigest()[:16]


def _fields_of(one: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, by name."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def _as_json(outcome: Any) -> Any:
    if isinstance(outcome, np.ndarray):
        return outcome.tolist()
    if isinstance(outcome, tuple):
        return [_as_json(one) for one in outcome]
    return int(outcome)


def _as_released(recorded: Request) -> Any:
    """Return an outcome as the mechanism would release it."""
    if recorded.mechanism == "count":
        noisy = np.array(recorded.outcome)
        noisy.flags.writeable = False
        return noisy
    return _as_tuples(recorded.outcome)


def _as_tuples(outcome: Any) -> Any:
    return tuple(map(_as_tuples, outcome)) if isinstance(outcome, list) else outcome
