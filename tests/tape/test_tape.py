"""Runs ask what they asked when they were recorded, and make the same results of the answers.

After a change that is meant to change runs, `python tests/tape/record.py` records them again, and
the commit says what changed. Words of reports and layouts of files are part of what is recorded.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import redveil
from support.mixed import mixed_dataset
from support.tape import replaying
from tape.cases import CASES, RECORDED
from tape.files import printed, read_tape


@pytest.mark.parametrize("name", CASES)
def test_a_run_is_the_recorded_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest-xdist sets it, and output is as wide as it says.
    monkeypatch.delenv("COLUMNS", raising=False)
    with replaying(read_tape(name)):
        result = CASES[name]()
        text = printed(result)
    recorded = json.loads((RECORDED / f"{name}.result.json").read_text(encoding="utf-8"))
    _must_be_alike(json.loads(result.to_json()), recorded, "result")
    assert text == (RECORDED / f"{name}.txt").read_text(encoding="utf-8")


def test_one_entity_more_is_noticed() -> None:
    dataset = mixed_dataset(301, seed=7)
    with (
        pytest.raises(AssertionError, match="size differs from the tape"),
        replaying(read_tape("twin-small")),
    ):
        redveil.mine(dataset, epsilon=1, ledger=None)


def test_every_recording_has_its_case() -> None:
    kinds = (".requests.json", ".result.json", ".txt")
    wanted = {f"{name}{kind}" for name in CASES for kind in kinds}
    assert {path.name for path in RECORDED.iterdir()} == wanted


def _must_be_alike(one: Any, other: Any, place: str) -> None:
    """Require equal documents, but for the last digits of floats, which differ between machines."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), place
        for key in one:
            _must_be_alike(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), place
        for number, pair in enumerate(zip(one, other, strict=True)):
            _must_be_alike(*pair, f"{place}[{number}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9), place
    else:
        assert one == other, place
