from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import redveil
from redveil.errors import InputError
from redveil.experiments.datasets import find
from redveil.experiments.generators import build
from redveil.experiments.lists import legend, listed, main, page, section


def test_every_redescription_has_a_row_that_says_what_the_result_says() -> None:
    result = redveil.mine(build("gradients", 3000), 5)
    lines = listed(result).splitlines()
    rows = [line for line in lines if "`" in line]
    assert len(rows) == len(result.redescriptions) > 2
    numbered = list(enumerate(result.redescriptions, 1))
    # Stories first, then what adds to them.
    ordered = sorted(numbered, key=lambda entry: entry[1].detail)
    assert ("add detail" in listed(result)) is any(one.detail for _, one in numbered)
    for line, (number, one) in zip(rows, ordered, strict=True):
        assert line.startswith(f"| {number} | `" if one.confirmed else f"| ({number}) | `")
        assert one.left.text.replace("|", "\\|") in line
        assert f"{one.jaccard.estimate:.2f} [{one.jaccard.low:.2f}, {one.jaccard.high:.2f}]" in line
    confirmed = sum(bool(one.confirmed) for one in result.redescriptions)
    total = len(result.redescriptions)
    assert lines[-1].startswith(f"{confirmed} of {total} are confirmed")
    assert lines[-1].endswith("in brackets.") is (confirmed < total)


def test_names_that_are_listed_are_explained() -> None:
    schema = find("RWAS").schema_of(["age", "gender"], ["Q6", "VCL7"])
    generator = np.random.default_rng(1)
    old = generator.random(3000) < 0.4
    left = pa.table({"id": range(3000), "age": np.where(old, 60, 20), "gender": ["other"] * 3000})
    right = pa.table({"id": range(3000), "Q6": [5] * 3000, "VCL7": old})
    text = legend(redveil.mine(redveil.load(left, right, schema), 5))
    assert text.splitlines()[2:] == [
        "- `age`: age (years)",
        "- `VCL7`: claims to know the word “paucity”",
    ]


def test_a_section_names_the_data_and_its_unit() -> None:
    text = section(find("RWAS"), redveil.mine(build("survey", 700), 1))
    assert text.startswith("## RWAS\n\nAbout ")
    assert " entities (noisy), each one respondent. Background on the left" in text
    assert text in page([text], "1")


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MAMMAL: .* has no mammals/left.csv"):
        main(tmp_path, ["MAMMAL"])
