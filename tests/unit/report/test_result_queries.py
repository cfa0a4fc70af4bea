from __future__ import annotations

from pathlib import Path

import pytest

from redveil.errors import InputError
from redveil.query.clired import read_queries
from redveil.query.formula import And, Literal, Not, Or
from redveil.query.json_form import from_json
from redveil.report.queries_file import spelled_out, write_result_queries
from support.clinic import NOTHING, mined_clinic
from support.results import document, redescription


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_written_reads_back_as_the_same_queries(seed: int, tmp_path: Path) -> None:
    found = mined_clinic(seed=seed).document
    path = tmp_path / "result.queries"
    write_result_queries(found, path)
    orders = {"smoking": ("never", "former", "current")}
    assert read_queries(path) == [
        (spelled_out(from_json(one.left.tree), orders), from_json(one.right.tree))
        for one in found.redescriptions
    ]


def test_an_order_of_labels_becomes_a_choice_of_labels() -> None:
    orders = {"grade": ("low", "middle", "high")}
    low, middle, high = (Literal("grade", "=", label) for label in orders["grade"])
    young = Literal("age", "<=", 3)
    for query, meant in (
        (Literal("grade", "<=", "middle"), Or((low, middle))),
        (Literal("grade", ">", "middle"), high),
        (Not(Literal("grade", "<=", "low")), Not(low)),
        (And((young, Literal("grade", ">", "low"))), And((young, Or((middle, high))))),
        (young, young),
        (Literal("other", "<=", "middle"), Literal("other", "<=", "middle")),
    ):
        assert spelled_out(query, orders) == meant


def test_the_statistics_are_the_noisy_ones(tmp_path: Path) -> None:
    path = tmp_path / "result.queries"
    write_result_queries(document(redescription()), path)
    header, line = (text.split("\t") for text in path.read_text(encoding="utf-8").splitlines())
    row = dict(zip(header, line, strict=True))
    assert (float(row["acc"]), float(row["pval"])) == (0.5, 1e-30)


def test_an_empty_result_gives_a_file_without_queries(tmp_path: Path) -> None:
    path = tmp_path / "result.queries"
    write_result_queries(mined_clinic(NOTHING).document, path)
    assert read_queries(path) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "result.queries"
    with pytest.raises(InputError, match="nowhere"):
        write_result_queries(document(), path)
