"""Privacy losses and prices as exact fractions; floats are rounded once, towards more privacy.

The loss of a run is (ε, δ), a `Loss`. It is spent in prices: in ε if δ = 0, otherwise in ρ of
zero-concentrated privacy (losses/concentrated.md). Prices of either kind add up exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from redveil.errors import InputError, PlanError
from redveil.losses.concentrated import rho_within

# For a larger ε the guarantee is empty; for a smaller one the results would be noise only.
LARGEST_EPSILON: Final = Fraction(100)
SMALLEST_EPSILON: Final = Fraction(1, 10**6)
# δ may be the probability that the guarantee fails completely, so it has to be tiny.
LARGEST_DELTA: Final = Fraction(1, 10**4)
SMALLEST_DELTA: Final = Fraction(1, 10**30)
# The longest text of a number that is read. What is computed from several such numbers, and written
# in digits, stays far below the 4300 digits that Python can read and write.
LONGEST_NUMBER: Final = 64
# Sums of many charges can have thousands of digits, which tell a reader nothing.
_LEGIBLE: Final = 80
# Binary digits of a square root that is rounded down.
ROOT_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Rho:
    """A price in ρ, as an exact fraction. A plain `Fraction` is a price in ε.

    >>> Rho(Fraction(1, 50)) / 2 + Rho(Fraction(1, 100))
    Rho(amount=Fraction(1, 50))
    """

    amount: Fraction

    def __mul__(self, share: int | Fraction) -> Rho:
        return Rho(self.amount * share)

    def __truediv__(self, parts: int | Fraction) -> Rho:
        return Rho(self.amount / parts)

    def __add__(self, other: Rho) -> Rho:
        return Rho(self.amount + other.amount)

    def __str__(self) -> str:
        return str(self.amount)


Price = Fraction | Rho


@dataclass(frozen=True, slots=True)
class Loss:
    """The privacy loss (ε, δ) of a run. Pure differential privacy if δ is 0.

    >>> Loss(Fraction(1)).price
    Fraction(1, 1)
    >>> round(float(Loss(Fraction(1), Fraction(1, 10**6)).price.amount), 4)
    0.0244
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def price(self) -> Price:
        """The price that a run may spend: ε itself, or the largest ρ that keeps (ε, δ)."""
        if self.delta == 0:
            return self.epsilon
        return Rho(rho_within(self.epsilon, self.delta))

    def __str__(self) -> str:
        return f"ε = {self.epsilon}" + (f", δ = {float(self.delta):g}" if self.delta else "")


def parse_loss(epsilon: str | float | Fraction, delta: str | float | Fraction | None) -> Loss:
    """Return the loss for ε and δ as users write them; without δ, or with 0, it is pure.

    >>> parse_loss(1, "1e-6")
    Loss(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    >>> parse_loss(1, 0.5)
    Traceback (most recent call last):
    redveil.errors.InputError: delta must be 0 or lie between 1e-30 and 0.0001, as in 1e-6
    """
    chance = Fraction(0) if delta is None else read_fraction(delta)
    if chance is None or (chance and not SMALLEST_DELTA <= chance <= LARGEST_DELTA):
        raise InputError(
            f"delta must be 0 or lie between {float(SMALLEST_DELTA):g} and "
            f"{float(LARGEST_DELTA):g}, as in 1e-6{how_long(delta)}"
        )
    return Loss(parse_epsilon(epsilon), chance)


def parse_epsilon(value: str | float | Fraction) -> Fraction:
    """Return ε from `1`, `0.1` or `"1/3"`. A float means the decimal that it prints as.

    >>> parse_epsilon(0.1)
    Fraction(1, 10)
    >>> parse_epsilon("1/3")
    Fraction(1, 3)
    >>> parse_epsilon("-1")
    Traceback (most recent call last):
    redveil.errors.InputError: epsilon must be a number between 1e-06 and 100, as in 1, 0.25 or 1/3
    """
    epsilon = read_fraction(value)
    if epsilon is None or not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InputError(
            f"epsilon must be a number between {float(SMALLEST_EPSILON):g} and "
            f"{float(LARGEST_EPSILON):g}, as in 1, 0.25 or 1/3{how_long(value)}"
        )
    return epsilon


def read_fraction(value: object) -> Fraction | None:
    """Return a value as an exact number, or None if it is not a number, or too long a one.

    Numbers of NumPy's and of `decimal` mean the decimals that they print as, like floats.

    >>> read_fraction("1/2"), read_fraction(0.1), read_fraction("many")
    (Fraction(1, 2), Fraction(1, 10), None)
    """
    # NumPy's truth values print as these names, which are no numbers either.
    if isinstance(value, bool):
        return None
    try:
        text = str(value)
        if len(text) > LONGEST_NUMBER:
            return None
        # Through a float if there is an exponent: a huge one would be expanded into digits.
        number = Fraction(repr(float(text)) if "e" in text.lower() else text)
        # Numbers that no float can hold are of no use.
        float(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return number


def how_long(value: object) -> str:
    """Return what to add to the refusal of a number: how long it may be, if it is too long.

    >>> how_long("1/3"), how_long("0." + 100 * "3")
    ('', ', in at most 64 characters')
    """
    try:
        is_long = len(str(value)) > LONGEST_NUMBER
    except ValueError:
        # An integer with more digits than Python writes.
        is_long = True
    return f", in at most {LONGEST_NUMBER} characters" if is_long else ""


def exact(number: Fraction) -> str:
    """Return a number in digits, however many they are; `str` refuses more than 4300.

    >>> exact(Fraction(1, 3)), exact(Fraction(2)), len(exact(Fraction(10**5000)))
    ('1/3', '2', 5001)
    """
    parts = [number.numerator, number.denominator][: 1 if number.denominator == 1 else 2]
    return "/".join(f"{Decimal(part):f}" for part in parts)


def legible(number: Fraction) -> str:
    """Return a number in digits, or about how much it is if these would fill the screen.

    >>> legible(Fraction(1, 3)), legible(Fraction(10**100 + 1, 3 * 10**100))
    ('1/3', 'about 0.3333333333')
    """
    digits = exact(number)
    return digits if len(digits) <= _LEGIBLE else f"about {float(number):.10g}"


def read_count(value: object) -> int | None:
    """Return a value as a whole number, or None if it is not one.

    >>> read_count("12"), read_count(2.0), read_count(2.5), read_count(True)
    (12, 2, None, None)
    """
    number = read_fraction(value)
    return int(number) if number is not None and number.denominator == 1 else None


def divide(price: Price, shares: Sequence[int | Fraction]) -> tuple[Price, ...]:
    """Divide a price in proportion to shares; the parts add up to it exactly.

    >>> divide(Fraction(1), [1, 2])
    (Fraction(1, 3), Fraction(2, 3))
    """
    whole = sum(Fraction(share) for share in shares)
    return tuple(price * Fraction(share) / whole for share in shares)


def total(prices: Iterable[Price]) -> Price:
    """Return the sum of prices that are all in ε or all in ρ.

    >>> total([Fraction(1, 3), Fraction(2, 3)])
    Fraction(1, 1)
    >>> total([Fraction(1, 3), Rho(Fraction(2, 3))])
    Traceback (most recent call last):
    redveil.errors.PlanError: prices in ε and in ρ cannot be added
    """
    listed = list(prices)
    pure = [one for one in listed if isinstance(one, Fraction)]
    concentrated = [one.amount for one in listed if isinstance(one, Rho)]
    if pure and concentrated:
        raise PlanError("prices in ε and in ρ cannot be added")
    return Rho(sum(concentrated, Fraction(0))) if concentrated else sum(pure, Fraction(0))


def amount(price: Price) -> Fraction:
    """Return a price as a number, whether it is in ε or in ρ.

    >>> amount(Rho(Fraction(1, 7)))
    Fraction(1, 7)
    """
    return price.amount if isinstance(price, Rho) else price


def choice_epsilon(price: Price) -> Fraction:
    """Return the ε at which a choice is made for a price.

    A choice whose log-probabilities change within an interval of width ε costs ρ = ε² / 8, so ρ
    pays for ε = √(8ρ), rounded down (losses/concentrated.md).

    >>> choice_epsilon(Fraction(1, 2)), choice_epsilon(Rho(Fraction(1, 2)))
    (Fraction(1, 2), Fraction(2, 1))
    """
    if isinstance(price, Fraction):
        return price
    square = 8 * price.amount * 4**ROOT_BITS
    return Fraction(math.isqrt(square.numerator // square.denominator), 2**ROOT_BITS)


def round_down(number: Fraction) -> float:
    """Return a number as a float, rounded down.

    >>> Fraction(round_down(Fraction(1, 10))) <= Fraction(1, 10) <= Fraction(0.1)
    True
    """
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def count_variance(price: Price) -> float:
    """Return an upper bound on the variance of the noise of a count.

    For a price in ε, the variance of integer Laplace noise. For ρ, the parameter σ² = 1 / (2ρ) of
    integer Gaussian noise, which its variance never exceeds.

    >>> round(count_variance(Fraction(1)), 3), count_variance(Rho(Fraction(1, 50)))
    (1.841, 25.0)
    """
    if isinstance(price, Rho):
        return float(1 / (2 * price.amount))
    return laplace_variance(price)


def laplace_variance(epsilon: Fraction) -> float:
    """Return the variance of integer Laplace noise, P(k) ∝ exp(−ε·|k|).

    >>> round(laplace_variance(Fraction(1)), 3)
    1.841
    """
    rate = float(epsilon)
    # expm1: 1 − exp(−ε) would lose the digits of a small ε.
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2
