"""What runs would detect: as text, as plain values, as a picture."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import redveil
from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError
from redveil.report.detection import Detectable


@pytest.fixture(scope="module")
def found() -> Detectable:
    return redveil.detectable(1, entities=5_000, schema=clinic_schema())


def test_the_table_has_a_row_for_each_epsilon_and_a_part_for_each_of_the_study(
    found: Detectable,
) -> None:
    assert repr(found) == "<Detectable: 5,000 entities, 6 values of ε>"
    text = str(found)
    assert "What a run with 5,000 entities would detect" in text
    for epsilon in ("0.01", "0.03", "0.1", "0.3", "1", "3"):
        assert any(line.split()[:1] == [epsilon] for line in text.splitlines())
    for part in ("explore", "refine", "confirm"):
        assert part in text
    assert "–" in text
    assert "<table" in found._repr_html_()


def test_plain_values_are_those_of_the_limits(found: Detectable) -> None:
    plain = json.loads(json.dumps(found.plain()))
    assert plain["entities"] == 5_000
    epsilons = [one["epsilon"] for one in plain["detect"]]
    assert epsilons == ["1/100", "3/100", "1/10", "3/10", "1", "3"]
    first, last = plain["detect"][0], plain["detect"][-1]
    assert first["rare"] == {"share": 0.05, "found": None, "confirmed": None}
    match = found.detections[-1].limits["common"].confirmed
    assert match is not None
    assert last["common"]["confirmed"] == {
        "jaccard": match.jaccard,
        "corrected": round(match.corrected, 3),
        "overlap": round(match.both(5_000)),
    }
    assert sum(Fraction(one["epsilon"]) for one in plain["study"]) == 1


def test_more_epsilon_than_a_run_can_have_is_left_out() -> None:
    assert len(redveil.detectable(100, entities=1_000).detections) == 5


@pytest.mark.parametrize("entities", [0, -3])
def test_no_entities_are_refused(entities: int) -> None:
    with pytest.raises(InputError, match="entities must be at least 1"):
        redveil.detectable(1, entities=entities)


def test_a_delta_is_kept() -> None:
    with_delta = redveil.detectable(1, entities=5_000, delta="1e-6")
    assert {one.loss.delta for one in with_delta.detections} == {Fraction(1, 10**6)}
