"""Numba kernels on plain arrays: counting and routing, without any notion of privacy.

Every kernel has a slow, obviously correct counterpart in `tests/oracle`. Scores are integers;
fastmath is off.
"""
