from __future__ import annotations

import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import redveil
from redveil.privacy.randomness import SystemRandomness, below
from support.seeded import ScriptedRandomness, SeededRandomness


def test_two_sources_never_agree() -> None:
    first, second = SystemRandomness().words(64), SystemRandomness().words(64)
    assert not np.intersect1d(first, second).size


def test_a_source_does_not_repeat_itself() -> None:
    source = SystemRandomness()
    words = np.concatenate([source.words(1000) for _ in range(5)])
    assert np.unique(words).size == words.size


def test_a_copy_is_a_fresh_source() -> None:
    source = SystemRandomness()
    source.words(1)
    copied = pickle.loads(pickle.dumps(source))
    assert not np.intersect1d(source.words(64), copied.words(64)).size


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_does_not_continue_its_parents_stream() -> None:
    source = SystemRandomness()
    source.words(1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, source.words(64).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(reading, 512), dtype=np.uint64)
    assert not np.intersect1d(theirs, source.words(64)).size


def test_threads_share_a_source_without_sharing_words() -> None:
    source, gate = SystemRandomness(), threading.Barrier(4)

    def take() -> list[int]:
        gate.wait()
        return [int(word) for _ in range(200) for word in source.words(2)]

    with ThreadPoolExecutor(4) as pool:
        taken = [word for done in [pool.submit(take) for _ in range(4)] for word in done.result()]
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3), Fraction(1, 7), Fraction(22, 7)])
def test_noise_has_the_requested_length_and_type(epsilon: Fraction) -> None:
    noise = SystemRandomness().laplace(epsilon, 7)
    assert noise.shape == (7,)
    assert noise.dtype == np.int64


def test_below_rejects_what_would_bias_it() -> None:
    # 2^64 - 1 lies in the incomplete last block of thirds and is thrown away.
    assert below(ScriptedRandomness(2**64 - 1, 5), 3) == 2


def test_below_reaches_every_number() -> None:
    source = SeededRandomness(1)
    assert {below(source, 5) for _ in range(200)} == set(range(5))


def test_the_public_api_takes_no_seed_and_no_source() -> None:
    names = {*redveil.mine.__annotations__, *redveil.load.__annotations__}
    assert not names & {"seed", "random_state", "randomness", "rng"}
