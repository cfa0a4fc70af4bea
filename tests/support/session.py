"""Shared by all tests: repeatable property tests, and which tests are run under coverage."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# Commands keep Arrow from importing pandas. Here, commands and data frames share processes.
import pandas as pd  # noqa: F401
import pytest
from hypothesis import HealthCheck, settings

from redveil.base.cache import Cache

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

TESTS = Path(__file__).parents[1]
RESEARCH = TESTS / "research"
#: Where coverage is measured, where by property tests too, and what runs there in its own step.
UNITS = (
    TESTS / "unit",
    TESTS.parent / "src",
    TESTS / "system" / "test_cluster.py",
    RESEARCH,
    TESTS.parent / "packages" / "research" / "src",
)
DRAWING = RESEARCH / "statistical"
WITH_PROPERTIES = TESTS / "unit" / "query"
KERNELS = (TESTS / "unit" / "kernels", TESTS.parent / "src" / "redveil" / "kernels")


#: Tests that only `./scripts/test --all` runs, besides those that are marked where they stand.
LONG = frozenset((TESTS / "long_tests.txt").read_text(encoding="utf-8").splitlines())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark long tests, and what runs under coverage, which doubles the time of a test.

    Property tests repeat the same lines a hundred times; what is marked `uncovered` does as much.
    Queries are tried by little else.
    """
    for item in items:
        if item.nodeid in LONG or item.nodeid.partition("[")[0] in LONG:
            item.add_marker("slow")
        is_unit = any(map(item.path.is_relative_to, UNITS))
        is_unit = is_unit and not item.path.is_relative_to(DRAWING)
        alone = any(map(item.path.is_relative_to, KERNELS))
        # Hypothesis marks its tests only after this.
        is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        repeats = is_property and not item.path.is_relative_to(WITH_PROPERTIES)
        repeats = repeats or item.get_closest_marker("uncovered") is not None
        if is_unit and not alone and not repeats:
            item.add_marker("covered")


@pytest.fixture(autouse=True, scope="session")
def witnesses_are_kept_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep witnesses of servers where nobody's are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True, scope="session")
def nothing_simulated_is_kept() -> Iterator[None]:
    """Simulate anew in every process: a test may have changed what is simulated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redveil.findings.kept_simulations.cache_of", lambda _: Cache(None))
        yield
