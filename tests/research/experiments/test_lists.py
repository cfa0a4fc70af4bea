from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import redveil
from redveil.errors import InputError
from redveil_research.experiments.datasets import find
from redveil_research.experiments.generators import generate
from redveil_research.experiments.lists import legend, listed, main, page, section


def test_every_redescription_has_a_row_that_says_what_the_result_says() -> None:
    result = redveil.mine(generate("gradients", 3000).load(), 5)
    *entries, last = re.split(r"\n\n|\n(?=\d+\. )", listed(result))
    assert len(entries) == len(result.redescriptions) > 2
    told = zip(entries, result.redescriptions, result.sentences(), strict=True)
    for number, (entry, one, said) in enumerate(told, start=1):
        assert entry.startswith(f"{number}. ")
        assert (f"*Detail of {one.detail}.*" in entry) is (one.detail is not None)
        assert ("*Not confirmed.*" in entry) is not one.confirmed
        plain = re.sub(r"</?(?:br|sub)>", " ", entry)
        assert re.sub(r"\s+", " ", said) in re.sub(r"\s+", " ", plain)
        # Of what is said, one sentence is in large print.
        large = re.sub(r"\s+", " ", entry.split("<br>")[0])
        assert large.endswith(re.sub(r"\s+", " ", said.split(". ")[0]) + ".")
        assert f"`{one.left.text}` ⟷ `{one.right.text}`: Jaccard " in entry
        interval = one.jaccard
        assert f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]" in entry
    confirmed = sum(bool(one.confirmed) for one in result.redescriptions)
    assert last == f"{confirmed} of {len(entries)} are confirmed."


def test_names_that_are_listed_are_explained() -> None:
    schema = find("RWAS").schema_of(["age", "gender"], ["Q6", "VCL7"])
    generator = np.random.default_rng(1)
    old = generator.random(3000) < 0.4
    left = pa.table({"id": range(3000), "age": np.where(old, 60, 20), "gender": ["other"] * 3000})
    right = pa.table({"id": range(3000), "Q6": [5] * 3000, "VCL7": old})
    text = legend(redveil.mine(redveil.load(left, right, schema), 5))
    assert text.splitlines()[2:] == [
        "- `age`: age (years)",
        "- `VCL7`: claimed knowledge of the word “paucity”",
    ]


def test_a_section_names_the_data_and_its_unit() -> None:
    text = section(find("RWAS"), redveil.mine(generate("survey", 700).load(), 1))
    assert text.startswith("## RWAS\n\nAbout ")
    assert " entities (noisy), each one respondent. An online test" in text
    assert text in page([text], "1")


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MAMMAL: .* has no mammals/left.csv"):
        main(tmp_path, ["MAMMAL"])
