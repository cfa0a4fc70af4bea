from __future__ import annotations

from pathlib import Path

import pytest

import redveil
from redveil.errors import InputError
from redveil.experiments.datasets import find
from redveil.experiments.generators import build
from redveil.experiments.lists import listed, main, page, section


def test_every_redescription_has_a_row_that_says_what_the_result_says() -> None:
    result = redveil.mine(build("gradients", 3000), 5)
    lines = listed(result).splitlines()
    assert len(lines) == 4 + len(result.redescriptions) > 6
    for number, (line, one) in enumerate(zip(lines[2:-2], result.redescriptions, strict=True), 1):
        assert line.startswith(f"| {number} | `" if one.confirmed else f"| ({number}) | `")
        assert one.left.text.replace("|", "\\|") in line
        assert f"{one.jaccard.estimate:.2f} [{one.jaccard.low:.2f}, {one.jaccard.high:.2f}]" in line
    confirmed = sum(bool(one.confirmed) for one in result.redescriptions)
    total = len(result.redescriptions)
    assert lines[-1].startswith(f"{confirmed} of {total} are confirmed")
    assert lines[-1].endswith("in brackets.") is (confirmed < total)


def test_a_section_names_the_data_and_its_unit() -> None:
    text = section(find("RWAS"), redveil.mine(build("survey", 700), 1))
    assert text.startswith("## RWAS\n\nAbout ")
    assert " entities (noisy), each one respondent. Background on the left" in text
    assert text in page([text], "1")


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"MAMMAL: .* has no mammals/left.csv"):
        main(tmp_path, ["MAMMAL"])
