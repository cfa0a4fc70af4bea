"""A schema file as it was read, and as it is now."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError
from redveil.schema.on_disk import SchemaOnDisk, must_be_unchanged


def test_what_is_in_a_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    clinic_schema().save(path)
    read = SchemaOnDisk.read(path)
    assert read.schema == clinic_schema()
    assert read.raw == clinic_schema().to_dict()
    assert read.content == path.read_bytes()


def test_a_pipe_is_not_read_again(tmp_path: Path) -> None:
    clinic_schema().save(tmp_path / "datapackage.json")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = (tmp_path / "datapackage.json").read_bytes()
    writer = threading.Thread(target=lambda: pipe.write_bytes(content))
    writer.start()
    read = SchemaOnDisk.read(pipe)
    writer.join(timeout=60)
    assert read.schema == clinic_schema()
    must_be_unchanged(pipe, clinic_schema())


def test_a_schema_that_changed_is_refused_and_another_spelling_is_not(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    clinic_schema().save(path)
    path.write_bytes(path.read_bytes() + b"\n")
    must_be_unchanged(path, clinic_schema())
    with pytest.raises(InputError, match="changed since it was read"):
        must_be_unchanged(path, clinic_schema().replace(budget=3))
