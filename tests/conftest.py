"""Shared by all tests: repeatable property tests, and nothing that writes outside tmp_path."""

from __future__ import annotations

import os

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

# Coverage watches the processes that pytest works in. It would also watch the commands that tests
# start in processes of their own, which run in these too, and would take twice as long.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in [name for name in os.environ if name.startswith("COVERAGE_PROCESS_")]:
        del os.environ[name]
