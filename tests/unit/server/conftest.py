from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.served import Served, served


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on SQLite, shared by all tests that do not mind each other."""
    folder: Path = tmp_path_factory.mktemp("served")
    with served(folder) as made:
        yield made
