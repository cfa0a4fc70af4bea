"""The console script on real data sets, from two files to redescriptions with their true values."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from oracle.printed_query import Supports, read_rows, supports
from support.console import redveil
from support.source import PACKAGE, REPOSITORY

DATA = REPOSITORY.parent / "shared" / "data"
SCHEMA = PACKAGE / "report" / "result.schema.json"
SETS = {
    "mammals": ("mammals/left.csv", "mammals/right.csv"),
    "npas": ("npas/feb2016_left.csv", "npas/feb2016_right.csv"),
    "cms": ("cms_desynpuf/sample02_left.csv", "cms_desynpuf/sample02_right.csv"),
    "diabetes130": ("diabetes130/left.csv.gz", "diabetes130/right.csv.gz"),
    "rwas": ("rwas/left.csv", "rwas/right.csv"),
    "mimic3_demo": ("mimic3_demo/left.csv", "mimic3_demo/right.csv"),
    "dblp": ("dblp/left.csv", "dblp/right.csv.gz"),
}
#: Plain CSV that is quickly read twice, and large enough that something is always found.
CHECKED_AGAIN = ("mammals", "npas", "rwas")
#: Satisfied by nearly everything, so that there is something to compare.
LENIENT = ("--max-p-value=1", "--min-jaccard=0", "--min-support=0", "--max-support=1")


def files(name: str) -> tuple[Path, Path]:
    left, right = (DATA / path for path in SETS[name])
    if not (left.is_file() and right.is_file()):
        pytest.skip(f"the {name} data are not beside this repository")
    return left, right


def must_work(*arguments: object) -> str:
    done = redveil(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def valid(path: Path) -> Any:
    """Read a result and hold it against the published schema."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(
        plain, json.loads(SCHEMA.read_text(encoding="utf-8")), jsonschema.Draft202012Validator
    )
    return plain


def mined_and_compared(name: str, folder: Path) -> tuple[Any, Any]:
    """Draft, mine and compare with the truth; returns the private result and the owner's."""
    left, right = files(name)
    schema, result, compared = (folder / f"{file}.json" for file in ("schema", "result", "true"))
    must_work("schema", "draft", left, right, "--output", schema)
    printed = must_work(
        *("mine", left, right, "--schema", schema, "--epsilon", "1", "--output", result),
        *LENIENT,
    )
    assert "warning: the schema is a draft" in printed
    printed = must_work("truth", result, left, right, "--schema", schema, "--output", compared)
    assert "NOT PRIVATE" in printed
    return valid(result), valid(compared)


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("mammals", "npas") else pytest.param(name, marks=pytest.mark.slow)
        for name in SETS
    ],
)
def test_a_data_set_goes_all_the_way(name: str, tmp_path: Path) -> None:
    result, compared = mined_and_compared(name, tmp_path)
    promise = result["certificate"]
    assert promise["epsilon"] == "1"
    assert sum(Fraction(step["epsilon"]) for step in promise["steps"]) == 1
    assert promise["conditions"][0].startswith("NOT MET")
    assert result["warning"] is None
    assert compared["warning"].startswith("NOT PRIVATE")
    if name in CHECKED_AGAIN:
        true_values_must_agree(name, compared)
    assert all("true" not in one for one in result["redescriptions"])
    assert all(one.pop("true") for one in compared["redescriptions"])
    assert compared["redescriptions"] == result["redescriptions"]
    assert compared["certificate"] == promise


def true_values_must_agree(name: str, compared: Any) -> None:
    """Evaluate the printed queries again, without the package."""
    lefts, rights = (read_rows(path, "id") for path in files(name))
    assert compared["redescriptions"]
    for one in compared["redescriptions"]:
        found = supports(one["left"]["text"], one["right"]["text"], lefts, rights)
        assert Supports(**one["true"]["support"]) == found
        assert one["true"]["jaccard"] == pytest.approx(found.both / max(found.either, 1))
