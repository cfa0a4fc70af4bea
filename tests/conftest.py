"""Shared by all tests: repeatable property tests, and nothing that writes outside tmp_path."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# derandomize: the same examples on every machine, so that a red run can be repeated.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")
