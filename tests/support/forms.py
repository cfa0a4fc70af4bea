"""A schema that is being edited as a form, and the server of that form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any

from redveil.schema_form.form import Form
from redveil.schema_form.server import TOKEN_HEADER, FormServer

AGE: dict[str, Any] = {
    "name": "age",
    "type": "integer",
    "unit of measurement": "years",
    "constraints": {"minimum": 18, "maximum": 101},
    "redveil": {
        "cuts": {"method": "equal-width", "count": 20},
        "draft": {"remark": "…", "taken": {"minimum": 18, "maximum": 101, "type": "integer"}},
    },
}
SCHEMA: dict[str, Any] = {
    "name": "clinic",
    "id": "7e57",
    "licenses": [{"name": "CC-BY-4.0"}],
    "resources": [
        {
            "name": "diagnoses",
            "path": "diagnoses.csv",
            "bytes": 12,
            "schema": {
                "primaryKey": ["patient"],
                "missingValues": ["", "NA"],
                "fields": [
                    {"name": "patient", "type": "string"},
                    AGE,
                    {"name": "gout", "type": "boolean"},
                    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
                    {"name": "note", "type": "string", "redveil": {"use": False}},
                ],
            },
        },
        {
            "name": "laboratory",
            "schema": {
                "primaryKey": "patient",
                "fields": [
                    {"name": "patient", "type": "string"},
                    {
                        "name": "acid",
                        "type": "number",
                        "constraints": {"minimum": 0, "maximum": 12.5},
                    },
                    {
                        "name": "visit",
                        "type": "date",
                        "constraints": {"minimum": "2010-01-01", "maximum": "2019-12-31"},
                        "redveil": {"cuts": "years"},
                    },
                ],
            },
        },
    ],
    "redveil": {"version": 1, "status": "draft", "unit": "patient", "budget": "3"},
}


def written(folder: Path, schema: object = SCHEMA) -> Path:
    """Write a schema, and return where."""
    path = folder / "datapackage.json"
    path.write_text(json.dumps(schema), encoding="utf-8")
    return path


@contextmanager
def served(path: Path) -> Iterator[FormServer]:
    """Serve the form of a schema."""
    with FormServer(Form(path)) as server:
        thread = Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def asked(
    server: FormServer,
    path: str,
    content: object = None,
    *,
    without: tuple[str, ...] = (),
    headers: Mapping[str, str] = MappingProxyType({}),
) -> tuple[int, dict[str, str], Any]:
    """Send a request as the page would, but for some headers; return status, headers and JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    usual = {
        TOKEN_HEADER: server.token,
        "Origin": server.origin,
        "Content-Type": "application/json",
    }
    sent = {key: value for key, value in {**usual, **headers}.items() if key not in without}
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        if content is None:
            connection.request("GET", path, headers=sent)
        else:
            connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        text = answer.read()
        told = json.loads(text) if "json" in (answer.getheader("Content-Type") or "") else text
        return answer.status, dict(answer.getheaders()), told
    finally:
        connection.close()
