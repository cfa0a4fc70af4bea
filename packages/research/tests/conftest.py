"""Shared by all tests: see `support.session`."""

from __future__ import annotations

from support.session import (  # noqa: F401
    nothing_simulated_is_kept,
    pytest_collection_modifyitems,
)
