"""Numba on plain arrays: counting and routing, with no idea of privacy.

Every kernel has a slow, obviously right twin in `tests/oracle`. Integers only; no fastmath.
"""
