"""Tables with few keys in common stop the owner before anything is paid; nobody else ever."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import redveil
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.errors import LoadError
from redveil.workers.asking import answer
from redveil.workers.packed import pack, unpack

LEFT, RIGHT = clinic_frames(100)
FEW = "under half of the keys are in both tables"


def renumbered(table: pa.Table, kept: int) -> pa.Table:
    """Return a table of which only the first entities keep their keys."""
    known = enumerate(table["patient"].to_pylist())
    keys = [str(key) if row < kept else f"x{row}" for row, key in known]
    place = table.column_names.index("patient")
    return table.set_column(place, "patient", pa.array(keys))


@pytest.mark.parametrize(("kept", "problem"), [(0, "no common entity"), (1, FEW), (49, FEW)])
def test_under_half_of_the_keys_in_common_stops_the_owner(kept: int, problem: str) -> None:
    right = renumbered(RIGHT, kept)
    with pytest.raises(LoadError) as caught:
        redveil.load(LEFT, right, clinic_schema())
    message = str(caught.value)
    assert message.startswith(f"{problem}; check that columns patient and patient contain the same")
    assert "few_in_common=True" in message
    # How many there are is for the load report.
    assert not re.search(r"\d", message)
    report = redveil.load_report(redveil.load(LEFT, right, clinic_schema(), few_in_common=True))
    assert report.joined == redveil.examine(LEFT, right, clinic_schema()).joined == kept
    assert report.warnings()[0].startswith(problem if kept else "no entity was loaded")


@pytest.mark.parametrize("kept", [50, 99])
def test_half_of_the_keys_are_enough(kept: int) -> None:
    dataset = redveil.load(LEFT, renumbered(RIGHT, kept), clinic_schema())
    assert redveil.load_report(dataset).joined == kept


def test_a_table_about_some_of_the_entities_is_no_mismatch() -> None:
    dataset = redveil.load(LEFT, RIGHT.slice(0, 5), clinic_schema())
    assert redveil.load_report(dataset).joined == 5


def test_entities_of_which_none_is_left_stop_the_owner_too() -> None:
    schema = clinic_schema().with_attribute("age", required=True)
    place = LEFT.column_names.index("age")
    ageless = LEFT.set_column(place, "age", pa.nulls(len(LEFT), pa.int64()))
    with pytest.raises(LoadError, match="no common entity has every required value; check that"):
        redveil.load(ageless, RIGHT, schema)


def test_a_server_answers_whatever_the_rows_are(tmp_path: Path) -> None:
    """The tables are looked at when they are registered, and never for an analyst."""
    schema = clinic_schema()
    few = redveil.load(LEFT, renumbered(RIGHT, 1), schema, few_in_common=True)
    digest = pack(few, tmp_path / "packed", None)
    rows = unpack(schema, tmp_path / "packed", None, digest)
    assert answer({"kind": "mine", "epsilon": "1"}, rows).certificate.epsilon == "1"
