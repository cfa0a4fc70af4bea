from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import redveil
from redveil.data.synthetic import wide_dataset
from redveil.errors import ResultError
from redveil.owner import truth
from redveil.report.document import ResultDocument
from redveil.report.result import Result
from support.clinic import NOTHING, clinic, mined_clinic
from support.results import TRUE, document, redescription

PRIVATE = Result(document(redescription()))
Json = dict[str, Any]


def refusal(path: Path) -> str:
    with pytest.raises(ResultError) as caught:
        Result.read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message


@pytest.mark.parametrize(
    "make",
    [
        lambda: Result(document()),
        lambda: PRIVATE,
        lambda: Result(document(redescription(true=TRUE), redescription("ε ∧ \u2028"))),
        mined_clinic,
        lambda: mined_clinic(NOTHING),
        lambda: truth(mined_clinic(), clinic()),
    ],
    ids=["empty", "one", "partly evaluated", "mined", "nothing found", "evaluated"],
)
def test_a_saved_result_reads_back_the_same(make: Callable[[], Result], tmp_path: Path) -> None:
    result = make()
    path = tmp_path / "result.json"
    result.save(path)
    assert Result.read(path) == result
    assert Result.read(str(path)).to_json() == result.to_json()
    assert path.read_text(encoding="utf-8") == result.to_json()
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_a_private_file_does_not_even_mention_true_values() -> None:
    (one,) = json.loads(PRIVATE.to_json())["redescriptions"]
    assert "true" not in one
    (evaluated,) = json.loads(Result(document(redescription(true=TRUE))).to_json())[
        "redescriptions"
    ]
    assert evaluated["true"]["support"] == {"left": 60, "right": 70, "both": 50, "either": 80}


def test_a_result_is_a_sequence_with_a_short_description() -> None:
    result = Result(document(redescription(), redescription("gout")))
    assert len(result) == 2
    assert [one.left.text for one in result] == ["[asthma]", "[gout]"]
    assert repr(result) == "<Result: 2 redescriptions, ε = 1, exact, alt-expm>"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"12",
        b"\xff\xfe\x00",
        b"\x80not utf-8",
        b'{"name": "clinic", "resources": []}',
        b'{"line\\nend": 1, "format": "other"}',
        b"[" * 5000,
        b'{"version": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda content: content[:12],
)
def test_a_file_that_is_no_result_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(content)
    refusal(path)


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "result.json")
    assert "this is a folder, not a result" in refusal(tmp_path)


def _another_version(plain: Json) -> None:
    plain["version"] = 2


def _an_unknown_field(plain: Json) -> None:
    plain["certificate"]["more\nlines"] = 1


def _a_missing_field(plain: Json) -> None:
    del plain["redescriptions"][0]["jaccard"]


def _a_price_that_is_no_number(plain: Json) -> None:
    plain["certificate"]["steps"][0]["epsilon"] = "much"


def _a_price_of_nothing(plain: Json) -> None:
    plain["certificate"]["epsilon"] = "1/0"


def _a_negative_price(plain: Json) -> None:
    plain["certificate"]["epsilon"] = "-1"


def _another_delta(plain: Json) -> None:
    plain["certificate"]["delta"] = "0.1"


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (_another_version, "version"),
        (_an_unknown_field, "certificate.more lines"),
        (_a_missing_field, "redescriptions.0.jaccard"),
        (_a_price_that_is_no_number, "certificate.steps.0.epsilon"),
        (_a_price_of_nothing, "certificate.epsilon"),
        (_a_negative_price, "certificate.epsilon"),
        (_another_delta, "certificate.delta"),
    ],
)
def test_damage_is_named_by_its_place(
    damage: Callable[[Json], None], place: str, tmp_path: Path
) -> None:
    plain = json.loads(PRIVATE.to_json())
    damage(plain)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert f" at {place} (" in refusal(path)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("people.csv", b"id,age\n1,41\n", "a CSV file"),
        ("people.csv", b"id;age\n", "a CSV file"),
        ("people.tsv", "id\tGröße\n1\t41\n".encode("latin-1"), "a CSV file"),
        ("people.csv.gz", b"\x1f\x8b\x08\x00", "a gzip file"),
        ("people.parquet", b"PAR1\x00\x00", "a Parquet file"),
        ("people.xlsx", b"PK\x03\x04\x14\x00", "an Excel file"),
        ("datapackage.json", b'{"name": "clinic", "resources": []}', "a schema (data package)"),
        ("other.json", b'{"format": "other-result"}', "a JSON file"),
        ("other.json", b"[1]", "a JSON file"),
        ("my.queries", b"rid\tquery_LHS\tquery_RHS\n", "a .queries file"),
        ("data.ledger.sqlite", b"SQLite format 3\x00\x10", "a ledger (SQLite database)"),
        ("scatter.png", b"\x89PNG\r\n", "a PNG picture"),
        ("empty", b"", "an empty file"),
        ("blank", b" \n", "an empty file"),
        ("notes.txt", b"remember the milk", "a text file"),
        ("program", b"\x7fELF\x00", "a binary file"),
    ],
)
def test_a_file_that_is_no_result_is_called_what_it_is(
    name: str, content: bytes, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    remedy = "name a file that `redveil mine` wrote"
    assert refusal(path) == f"{path}: this is {kind}, not a result; {remedy}"


@pytest.mark.parametrize("share", [0.2, 0.5, 0.99])
def test_a_result_that_is_cut_short_is_called_that(share: float, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    text = PRIVATE.to_json()
    path.write_text(text[: int(share * len(text))], encoding="utf-8")
    assert refusal(path).startswith(
        f"{path}: a result, but cut short or damaged; ask for a fresh copy"
    )


@given(st.integers(min_value=0, max_value=len(PRIVATE.to_json()) - 3))
def test_a_file_cut_off_anywhere_is_refused(end: int) -> None:
    # Parsed directly: hundreds of files on disk would test the disk.
    with pytest.raises(ValidationError):
        ResultDocument.model_validate_json(PRIVATE.to_json()[:end])


def test_a_certificate_whose_steps_do_not_add_up_is_refused(tmp_path: Path) -> None:
    raw = json.loads(redveil.mine(wide_dataset(100, 2, 2), 1).to_json())
    raw["certificate"]["epsilon"] = "1/2"
    path = tmp_path / "result.json"
    path.write_text(json.dumps(raw))
    with pytest.raises(ResultError, match="do not add up"):
        Result.read(path)


def test_a_text_that_is_not_the_querys_own_is_refused(tmp_path: Path) -> None:
    planted = '=HYPERLINK("x")'
    plain = json.loads(mined_clinic().to_json())
    plain["redescriptions"][0]["left"]["text"] = planted
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    message = refusal(path)
    assert "not the same query" in message
    assert planted not in message


def test_a_file_of_an_earlier_version_with_latex_is_refused_in_one_line(tmp_path: Path) -> None:
    plain = json.loads(mined_clinic().to_json())
    plain["redescriptions"][0]["left"]["latex"] = "x"
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    message = refusal(path)
    assert "redescriptions.0.left.latex" in message
    assert "\n" not in message


def _source(**where: Any) -> Callable[[Json], None]:
    def damage(plain: Json) -> None:
        plain["redescriptions"][0]["source"] |= where

    return damage


def _table(**what: Any) -> Callable[[Json], None]:
    def damage(plain: Json) -> None:
        plain["tree_pairs"][0]["leaf_table"] |= what

    return damage


def _cells(count: float) -> Callable[[Json], None]:
    def damage(plain: Json) -> None:
        cells = plain["tree_pairs"][0]["leaf_table"]["cells"]
        _table(cells=[[count] * len(row) for row in cells])(plain)

    return damage


def _no_trees(plain: Json) -> None:
    plain["tree_pairs"] = []


def _no_splits(plain: Json) -> None:
    for side in ("left", "right"):
        plain["tree_pairs"][0][side] |= {"splits": [None], "stuck_at": [], "ends": [None]}
    _table(cells=[[100]], fitted=[[100.0]])(plain)


def _fewer_ends(plain: Json) -> None:
    plain["tree_pairs"][0]["left"]["ends"].pop()


NO_SOURCE = "redescriptions.0: its source is not in tree_pairs"


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (_source(tree_pair=99), NO_SOURCE),
        (_source(tree_pair=-1), NO_SOURCE),
        (_source(left_ends=[77]), NO_SOURCE),
        (_source(right_ends=[10**30]), NO_SOURCE),
        (_no_trees, NO_SOURCE),
        (_no_splits, "tree_pairs.0: a tree has no split"),
        (_fewer_ends, "tree_pairs.0: the ends are not those of the tree"),
        (_cells(1e308), "tree_pairs.0: a count is out of range"),
        (_cells(10**400), "tree_pairs.0: a count is out of range"),
        (_table(fitted=[[1.0]]), "tree_pairs.0: the table does not fit its trees"),
        (_table(cells_price="1" + "0" * 3999), "tree_pairs.0: a price is out of range"),
        (_table(cells_price="1/1" + "0" * 300), "tree_pairs.0: a price is out of range"),
        (_table(cells_price="1/1" + "0" * 3999), "tree_pairs.0: a price is out of range"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused_when_the_file_is_read(
    damage: Callable[[Json], None], problem: str, tmp_path: Path
) -> None:
    plain = json.loads(mined_clinic().to_json())
    damage(plain)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert refusal(path).startswith(f"{path}: {problem}; the file is damaged; ask for a fresh copy")
