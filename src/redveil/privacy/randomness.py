"""Where randomness comes from: the operating system, stretched by AES-256 in counter mode.

There is no seed. Code that draws takes a `Randomness` as an argument; tests hand in their own,
which lives in the tests and cannot be reached from the public API.
"""

from __future__ import annotations

import math
import os
import threading
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from redveil.privacy.loss import round_down

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
        """Return independent integers with P(k) ∝ exp(−ε·|k|), or wider, int64[count]."""
        ...


class SystemRandomness:
    """Cryptographic randomness, keyed from the operating system.

    A forked child draws a new key, so parent and child never share a stream. Noise comes from
    OpenDP, which has its own source of operating-system entropy and samples the law exactly.

    >>> SystemRandomness().words(3).shape
    (3,)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: int | None = None
        self._stream: CipherContext | None = None

    def __repr__(self) -> str:
        return "SystemRandomness()"

    def __reduce__(self) -> tuple[type[SystemRandomness], tuple[()]]:
        # A copy is a fresh source: a pickled stream would be a repeated stream.
        return SystemRandomness, ()

    def words(self, count: int) -> Words:
        """Return independent, uniform 64-bit words, uint64[count]."""
        with self._lock:
            if self._stream is None or self._process != os.getpid():
                self._stream = _new_stream()
                self._process = os.getpid()
            block = self._stream.update(bytes(8 * count))
        return np.frombuffer(block, dtype="<u8").astype(np.uint64)

    def laplace(self, epsilon: Fraction, count: int) -> Integers:
        """Return integer Laplace noise whose exact loss at sensitivity 1 is at most ε."""
        import opendp.prelude as dp

        dp.enable_features("contrib")
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        metric = dp.l1_distance(T="i64")
        scale = 1.0 / round_down(epsilon)
        noise = dp.m.make_laplace(domain, metric, scale=scale)
        while Fraction(float(noise.map(1))) > epsilon:
            # The library's own accounting, rounded up, must not exceed the price.
            scale = math.nextafter(scale, math.inf)
            noise = dp.m.make_laplace(domain, metric, scale=scale)
        return np.asarray(noise([0] * count), dtype=np.int64)


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


def _new_stream() -> CipherContext:
    """Return an AES-256-CTR key stream under a fresh key and a fresh starting counter."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16)))
    return cipher.encryptor()
