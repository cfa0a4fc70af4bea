from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.postgresql import drop_schema, new_schema
from support.stores import Place


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, of either kind."""
    if request.param == "sqlite":
        yield str(tmp_path / "server.sqlite")
        return
    name = f"test_{secrets.token_hex(8)}"
    yield new_schema(name)
    drop_schema(name)


@pytest.fixture
def make_place(address: str) -> Iterator[Callable[..., Place]]:
    made: list[Place] = []

    def make(**options: object) -> Place:
        made.append(Place.make(address, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for place in made:
        place.close()


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    return make_place()
