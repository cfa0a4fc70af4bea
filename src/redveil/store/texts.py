"""What the database may hold: names, moments and amounts as texts."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from redveil.errors import InputError
from redveil.losses.loss import Loss

LONGEST_NAME: Final = 200
# Sums of decimal numbers with so many places stay short, however many are charged.
PLACES: Final = 30


def moment(when: datetime) -> str:
    """Return a moment as it is stored: UTC, to the second and no finer; texts sort like moments.

    >>> moment(datetime(2026, 1, 1, 12, 0, 0, 5, tzinfo=UTC))
    '2026-01-01T12:00:00+00:00'
    """
    if when.tzinfo is None:
        raise InputError("a moment needs a time zone; use datetime.now(UTC)")
    return when.astimezone(UTC).isoformat(timespec="seconds")


def checked_name(text: object, what: str) -> str:
    r"""Return a name that people give, or refuse one that is empty, long or has control characters.

    >>> checked_name("a\nb", "name")
    Traceback (most recent call last):
    redveil.errors.InputError: name: give a text of 1 to 200 printable characters
    """
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_NAME or not text.isprintable():
        raise InputError(f"{what}: give a text of 1 to {LONGEST_NAME} printable characters")
    return text


def checked_loss(loss: Loss, what: str) -> Loss:
    """Return an amount that a server counts: a decimal number, so that sums stay short.

    >>> checked_loss(Loss(Fraction(1, 3)), "price")
    Traceback (most recent call last):
    redveil.errors.InputError: price: give a decimal number with at most 30 places, as in 0.25
    """
    for amount in (loss.epsilon, loss.delta):
        if amount < 0 or 10**PLACES % amount.denominator:
            raise InputError(
                f"{what}: give a decimal number with at most {PLACES} places, as in 0.25"
            )
    return loss


def as_loss(epsilon: str, delta: str) -> Loss:
    """Return an amount that was stored.

    >>> as_loss("1/2", "0").epsilon
    Fraction(1, 2)
    """
    return Loss(Fraction(epsilon), Fraction(delta))
