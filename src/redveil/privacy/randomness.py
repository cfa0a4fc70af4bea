"""The source of randomness: operating-system entropy, expanded by AES-256 in counter mode.

There is no seed. Code that draws takes a `Randomness` as an argument. Tests pass their own, which
is defined in the tests and cannot be reached from the public API.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from redveil.errors import InputError
from redveil.losses.loss import round_down

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]


class Randomness(Protocol):
    """A source of independent uniform words and integer noise."""

    def words(self, count: int) -> Words:
        """Return independent, uniform 64-bit words, uint64[count]."""
        ...

    def laplace(self, epsilon: Fraction, count: int) -> Integers:
        """Return independent integers with P(k) ∝ exp(−ε·|k|) or a wider law, int64[count]."""
        ...

    def gaussian(self, rho: Fraction, count: int) -> Integers:
        """Return independent integers with P(k) ∝ exp(−ρ·k²) or a wider law, int64[count]."""
        ...


class SystemRandomness:
    """Cryptographic randomness, keyed from the operating system.

    Every thread and every forked process has its own key, so no two of them share a stream. Noise
    comes from OpenDP, which has its own source of operating-system entropy and samples the law
    exactly.

    >>> SystemRandomness().words(3).shape
    (3,)
    """

    # The number of forks between the first process and this one.
    _forks: ClassVar[int] = 0

    def __init__(self) -> None:
        # Not one stream behind a lock: a process that is forked while another thread holds the lock
        # would wait for ever.
        self._own = threading.local()

    def __repr__(self) -> str:
        return "SystemRandomness()"

    def __reduce__(self) -> tuple[type[SystemRandomness], tuple[()]]:
        # A copy is a fresh source: a pickled stream would repeat the original.
        return SystemRandomness, ()

    def words(self, count: int) -> Words:
        """Return independent, uniform 64-bit words, uint64[count]."""
        # Process numbers alone are not enough: they are reused, and start at 1 in every container.
        process = os.getpid(), SystemRandomness._forks
        if getattr(self._own, "process", None) != process:
            self._own.stream = _new_stream()
            self._own.process = process
        stream: CipherContext = self._own.stream
        return np.frombuffer(stream.update(bytes(8 * count)), dtype="<u8").astype(np.uint64)

    def laplace(self, epsilon: Fraction, count: int) -> Integers:
        """Return integer Laplace noise whose loss at sensitivity 1 is at most ε, int64[count]."""
        # Not from OpenDP's prelude: it would import every data frame library that is installed.
        from opendp.measurements import make_laplace
        from opendp.metrics import l1_distance

        metric = l1_distance(T="i64")
        return _integer_noise(make_laplace, metric, 1.0 / round_down(epsilon), epsilon, count)

    def gaussian(self, rho: Fraction, count: int) -> Integers:
        """Return integer Gaussian noise whose loss at sensitivity 1 is at most ρ, int64[count].

        >>> SystemRandomness().gaussian(Fraction(1, 50), 3).shape
        (3,)
        """
        from opendp.measurements import make_gaussian
        from opendp.metrics import l2_distance

        scale = 1.0 / math.sqrt(2 * round_down(rho))
        return _integer_noise(make_gaussian, l2_distance(T="i64"), scale, rho, count)

    @classmethod
    def _after_fork(cls) -> None:
        SystemRandomness._forks += 1


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=SystemRandomness._after_fork)


def must_be_drawable() -> None:
    """Refuse to go on if nothing can be drawn, before anything is charged.

    A library that was not installed completely fails when it is first used, which is after that.

    >>> must_be_drawable()
    """
    source = SystemRandomness()
    for library, draw in (
        ("OpenDP", lambda: source.laplace(Fraction(1), 1)),
        ("cryptography", lambda: source.words(1)),
    ):
        try:
            draw()
        except Exception as error:
            raise InputError(
                f"{library} cannot draw random numbers ({type(error).__name__}); install it again, "
                "and check the environment variables whose names begin with its name"
            ) from None


def below(randomness: Randomness, bound: int) -> int:
    """Return a uniform integer in [0, bound), without modulo bias.

    >>> below(SystemRandomness(), 1)
    0
    """
    limit = 2**64 - 2**64 % bound
    while True:
        word = int(randomness.words(1)[0])
        if word < limit:
            return word % bound


def _integer_noise(
    make: Callable[..., Any], metric: object, scale: float, price: Fraction, count: int
) -> Integers:
    """Return noise of approximately the given scale, int64[count]."""
    noise = paid_noise(make, metric, scale, price)
    return np.asarray(noise([0] * count), dtype=np.int64)


def paid_noise(make: Callable[..., Any], metric: object, scale: float, price: Fraction) -> Any:
    """Return OpenDP's noise, with the scale increased until its stated loss is within the price.

    >>> import opendp.prelude as dp
    >>> noise = paid_noise(dp.m.make_laplace, dp.l1_distance(T="i64"), 10.0, Fraction(1, 10))
    >>> Fraction(noise.map(1)) <= Fraction(1, 10) < Fraction(1 / 10)
    True
    """
    from opendp.domains import atom_domain, vector_domain
    from opendp.mod import enable_features

    enable_features("contrib")
    domain = vector_domain(atom_domain(T="i64"))
    noise = make(domain, metric, scale=scale)
    # The loss that the library states is rounded up.
    while Fraction(float(noise.map(1))) > price:
        scale = math.nextafter(scale, math.inf)
        noise = make(domain, metric, scale=scale)
    return noise


def _new_stream() -> CipherContext:
    """Return an AES-256-CTR key stream under a fresh key and a fresh starting counter."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16)))
    return cipher.encryptor()
