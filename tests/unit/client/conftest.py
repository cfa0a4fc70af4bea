from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.connecting import Connect, working
from support.served import Served, served


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a worker, shared by all tests that do not mind each other."""
    folder: Path = tmp_path_factory.mktemp("served")
    with served(folder) as made, working(made):
        yield made


@pytest.fixture
def connect(place: Served) -> Iterator[Connect]:
    with ExitStack() as stack:
        yield Connect(place, stack)
