"""Whole baselines: what they find is true, and says that it is not private."""

from __future__ import annotations

import inspect
import json
import re
import statistics
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import redveil
from oracle.fisher import fisher_tail
from oracle.printed_query import read_rows, supports
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.synthetic import write_clinic
from redveil.data.table import CodedColumn, Table
from redveil.errors import InputError
from redveil.query.formula import Literal, evaluate
from redveil.report.document import QueryPart, TruePart, TrueSupportPart
from redveil.report.result import Result
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Sealed, open_for_owner
from redveil_research import baseline
from redveil_research.baselines import BaselineName
from redveil_research.baselines.baseline import Baseline, BaselineDocument, MatchPart
from redveil_research.baselines.branches import Features, features_of, holds
from redveil_research.baselines.methods import METHODS, Growth, Start, layered_trees, split_trees
from redveil_research.cli.baseline import baseline as command
from support.clinic import ORDERS, clinic
from support.mixed import mixed_dataset
from support.named import HOSTILE_NAMES
from support.page import Page, must_be_ours

NAMES: tuple[BaselineName, ...] = get_args(BaselineName)
MAMMALS = Path(__file__).parents[4] / "shared" / "data" / "mammals"


def exclusive_or(rows: int = 400) -> Dataset:
    """Return data in which a left attribute is the exclusive or of two right ones."""
    rng = np.random.default_rng(5)
    first, second = (rng.random((2, rows)) < [[0.5], [0.4]]).astype(np.uint8)
    columns = {"a": first ^ second, "b": first, "c": second}
    attributes = {name: Attribute(name, Kind.BOOLEAN, required=True) for name in columns}
    coded = {name: CodedColumn(attributes[name], codes) for name, codes in columns.items()}
    left = View("left", "id", (attributes["a"],))
    right = View("right", "id", (attributes["b"], attributes["c"]))
    table = Table(rows, {"a": coded["a"]}, {"b": coded["b"], "c": coded["c"]})
    return Dataset(Schema("xor", left, right), Sealed(table), Sealed(LoadReport(rows)))


def mixed_start() -> tuple[dict[Side, Features], Start]:
    """Return the features of mixed data, and the sick as a start."""
    table = open_for_owner(mixed_dataset(300, seed=8).table)
    views = {side: features_of(table.view(side), 300) for side in Side}
    sick = evaluate(Literal("left sick", "=", value=True), table.left).true
    return views, Start(Side.LEFT, "left sick", sick, 0.5)


@pytest.mark.parametrize("method", NAMES)
def test_true_values_agree_with_the_printed_queries_on_the_clinics_csv(
    method: BaselineName, tmp_path: Path
) -> None:
    left, right, _ = write_clinic(tmp_path, 2000)
    found = baseline(clinic(), method, depth=3, starts=12)
    lefts, rights = read_rows(left, "patient"), read_rows(right, "patient")
    assert len(found) > 3
    for one in found.redescriptions[:25]:
        counted = supports(one.left.text, one.right.text, lefts, rights, ORDERS)
        assert one.true.support.model_dump() == {
            "left": counted.left,
            "right": counted.right,
            "both": counted.both,
            "either": counted.either,
        }
        assert one.true.jaccard == pytest.approx(counted.both / counted.either)
        exact = float(fisher_tail(counted.both, counted.left, counted.right, 2000))
        assert one.true.p_value == pytest.approx(exact, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("method", NAMES)
def test_mixed_data_with_gaps_is_mined_within_the_limits(method: BaselineName) -> None:
    dataset = mixed_dataset(400, seed=4)
    limits: dict[str, Any] = {
        "min_jaccard": 0.5,
        "min_support": 40,
        "max_support": 0.6,
        "max_p_value": 1e-6,
    }
    found = baseline(dataset, method, depth=3, starts=12, **limits)
    assert len(found) > 3
    indices = [one.true.jaccard for one in found]
    assert indices == sorted(indices, reverse=True)
    assert found.document.entities == 400
    assert found.document.parameters["min_leaf"] == 8
    for one in found:
        support = one.true.support
        assert one.true.jaccard >= 0.5
        assert one.true.p_value <= 1e-6
        assert support.both >= 40
        assert max(support.left, support.right) <= 240
    texts = [(one.left.text, one.right.text) for one in found]
    assert len(set(texts)) == len(texts)
    again = baseline(dataset, method, depth=3, starts=12, **limits)
    assert [(one.left.text, one.right.text) for one in again] == texts


def test_what_takes_two_splits_is_found_with_two() -> None:
    dataset = exclusive_or()
    for method in ("split-trees", "layered-trees"):
        found = baseline(dataset, method, depth=2, starts=5)
        assert found.redescriptions[0].true.jaccard == 1
        assert {one.left.text for one in found} <= {"[a]", "![a]"}
        assert "[b]" in found.redescriptions[0].right.text
        shallow = baseline(dataset, method, depth=1, starts=5)
        assert all(one.true.jaccard < 1 for one in shallow)


def test_methods_differ_in_what_they_keep() -> None:
    """A layer keeps the splits above it; split trees choose all of them anew."""
    views, start = mixed_start()
    for method, keeps in ((layered_trees, True), (split_trees, False)):
        roots = []
        for depth in (1, 3):
            (match,) = method(views, start, Growth(depth, 5))
            roots.append({one.path[0][0] for one in match[Side.RIGHT]})
        assert (roots[0] == roots[1]) or not keeps
        assert len(roots[1]) == 1


def test_cartwheels_pairs_a_leaf_with_those_that_predict_it() -> None:
    views, start = mixed_start()
    matches = list(METHODS["cartwheels"](views, start, Growth(2, 5)))
    assert len(matches) > 2
    for match in matches:
        assert 1 in {len(match[side]) for side in Side}
        left, right = (holds(match[side], 300) for side in Side)
        # Every predicting leaf shares most of some class, so the overlap is never empty.
        assert (left & right).any()


def test_files_are_marked(tmp_path: Path) -> None:
    found = baseline(clinic(), "layered-trees", depth=2, starts=4)
    path = tmp_path / "baseline.json"
    found.save(path)
    assert '"warning": "NOT PRIVATE' in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["entities"] == 2000
    assert str(found).startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in repr(found)
    assert "NOT PRIVATE" in found._repr_html_()
    assert found.to_arrow().num_rows == len(found)
    with pytest.raises(InputError, match=r"this is a baseline \(NOT PRIVATE\), not a result"):
        Result.read(path)


def test_nothing_found_is_an_empty_list() -> None:
    found = baseline(clinic(), min_support=100_000)
    assert len(found) == 0
    assert "found" in str(found)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "trees"}, "method must be one of split-trees"),
        ({"depth": 0}, "depth must be a whole number from 1 to 10"),
        ({"depth": 2.5}, "depth must be a whole number"),
        ({"starts": 0}, "starts must be a whole number"),
        ({"min_leaf": 0}, "min_leaf must be a whole number"),
        ({"min_jaccard": 2}, "min_jaccard must lie between 0 and 1"),
    ],
)
def test_bad_parameters_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        baseline(clinic(), **given)  # type: ignore[arg-type]


def test_frames_are_refused() -> None:
    with pytest.raises(InputError, match=r"baseline takes what redveil\.load returns"):
        baseline("left.csv")  # type: ignore[arg-type]


def test_progress_reaches_the_end() -> None:
    shares: list[float] = []
    baseline(clinic(), depth=1, starts=3, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_parameters_are_the_same_on_the_command_line_and_documented() -> None:
    python = inspect.signature(baseline).parameters
    shell = inspect.signature(command).parameters
    documented = inspect.getdoc(baseline) or ""
    for name, one in python.items():
        assert re.search(rf"^{name}: ", documented, re.MULTILINE), name
        if name not in ("dataset", "method", "progress"):
            assert shell[name].default == one.default


def baseline_with(name: str) -> Baseline:
    query = QueryPart.of(Literal(name, "=", value=True))
    true = TruePart(
        jaccard=0.5, support=TrueSupportPart(left=3, right=3, both=2, either=4), p_value=1e-9
    )
    return Baseline(
        BaselineDocument(
            warning="NOT PRIVATE",
            method="split-trees",
            parameters={"depth": 4},
            unit=name,
            schema_name=name,
            schema_digest="sha256:1",
            entities=10,
            redescriptions=(MatchPart(left=query, right=query, true=true),),
            software="redveil",
        )
    )


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_do_nothing_where_a_baseline_is_shown(name: str) -> None:
    found = baseline_with(name)
    must_be_ours(Page(found._repr_html_()))
    assert "NOT PRIVATE" in str(found)


@pytest.mark.slow
@pytest.mark.skipif(not MAMMALS.exists(), reason="needs the MAMMAL data")
@pytest.mark.parametrize("method", ["split-trees", "layered-trees"])
def test_mammals_are_matched_as_well_as_by_clired(method: BaselineName) -> None:
    files = MAMMALS / "left.csv", MAMMALS / "right.csv"
    dataset = redveil.load(*files, redveil.draft(*files).schema)
    # 5 % of 2575 cells.
    found = baseline(dataset, method, depth=4, starts=100, min_support=129)
    assert len(found) >= 30
    assert statistics.median(one.true.jaccard for one in found) == pytest.approx(0.86, abs=0.03)
