"""Tests of kernels that are too long for the interpreter."""

from __future__ import annotations

import os

import pytest

compiled_only = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too long when interpreted; runs compiled"
)
