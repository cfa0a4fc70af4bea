from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import redveil
from redveil.data.synthetic import clinic_schema
from redveil.errors import QueryError, ResultError
from redveil.findings.estimate import estimate
from redveil.findings.questions import answer
from redveil.findings.statistics import SignificanceTest
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Literal
from redveil.query.text import parse_text
from redveil.report.document import ResultDocument
from redveil.report.released import released_tables, significance_test
from redveil.report.result import Result
from support.clinic import mined_clinic
from support.results import document

Json = dict[str, Any]


def alternated(**parameters: Any) -> Result:
    return mined_clinic(algorithm="alt-expm", **parameters)


RESULTS: dict[str, Callable[[], Result]] = {
    "alternation": alternated,
    "another": lambda: alternated(seed=2),
    "least squares": lambda: alternated(counts="least-squares"),
    "two passes": lambda: alternated(counts="two-pass"),
    "walked": lambda: mined_clinic(algorithm="tree-pair", walk_steps=50),
    "deeper": lambda: alternated(depth=3, trials=1),
    "published": lambda: alternated(profile="published", depth=2),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_file_alone_holds_everything_that_questions_need(name: str, tmp_path: Path) -> None:
    made = RESULTS[name]()
    made.save(tmp_path / "result.json")
    read = Result.read(tmp_path / "result.json")
    for table, pair in zip(released_tables(read.document), read.document.tree_pairs, strict=True):
        np.testing.assert_allclose(estimate(table.counts).cells, pair.leaf_table.fitted)
        for released, tree in ((table.left, pair.left), (table.right, pair.right)):
            assert len(released.tree.ends) == len(tree.ends)
            for place, end in enumerate(tree.ends):
                if end is not None:
                    found = coverage(parse_text(end.text), released)
                    assert found.is_released
                    assert np.flatnonzero(found.covered).tolist() in ([place], [])


def reachable(tree: ReleasedTree) -> np.ndarray:
    """Return where an entity can end: not where a value is missing that was seen above."""
    inner = {n: s.attribute for n, s in enumerate(tree.splits) if isinstance(s, Literal)}
    return np.array(
        [
            end not in tree.tree.stuck
            or inner[end] not in [inner[node] for node, _ in tree.tree.ancestors(end)]
            for end in tree.tree.ends
        ]
    )


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "published"])
def test_what_was_reported_can_be_asked_and_is_answered_alike(name: str) -> None:
    result = RESULTS[name]()
    tables = released_tables(result.document)
    compared = 0
    assert result.redescriptions
    for one in result:
        table = tables[one.source.tree_pair]
        whole = True
        for side, covered in (
            ("left", one.source.left_ends),
            ("right", one.source.right_ends),
        ):
            tree: ReleasedTree = getattr(table, side)
            found = coverage(parse_text(getattr(one, side).text), tree)
            reported = np.isin(np.arange(len(found.covered)), covered)
            can_be = reachable(tree)
            assert found.is_released
            np.testing.assert_array_equal(found.covered[can_be], reported[can_be])
            whole &= bool((found.covered == reported).all())
        found_again = result.ask(one.left.text, one.right.text)
        assert found_again.left == one.left.text
        if whole and found_again.table == one.source.tree_pair:
            compared += 1
            known = found_again.statistics
            assert known.p_value_estimate == pytest.approx(one.p_value_estimate)
            assert known.expected_jaccard == pytest.approx(one.expected_jaccard)
            # Leverages are claimed for everything that can be asked, also in a report.
            assert known.p_value == pytest.approx(one.p_value)
            assert known.p_value_confirming == pytest.approx(one.p_value_confirming)
            intervals = [(known.jaccard, one.jaccard), (known.corrected, one.corrected)]
            intervals += [
                (getattr(known, f"support_{side}"), getattr(one.support, side))
                for side in ("left", "right", "both")
            ]
            for asked, reported_interval in intervals:
                assert asked.estimate == pytest.approx(reported_interval.estimate)
                # What holds for everything that can be asked is never narrower.
                assert asked.low <= reported_interval.low + 1e-9
                assert asked.high >= reported_interval.high - 1e-9
    assert compared > len(result) / 2


def test_a_result_is_asked_with_the_test_of_its_profile() -> None:
    assert significance_test(alternated().document) is SignificanceTest.FISHER
    published = RESULTS["published"]()
    assert significance_test(published.document) is SignificanceTest.BINOMIAL
    ends = published.document.tree_pairs[0].left.ends, published.document.tree_pairs[0].right.ends
    texts = [next(end.text for end in each if end is not None) for each in ends]
    known = published.ask(*texts).statistics
    table = released_tables(published.document)
    queries = parse_text(texts[0]), parse_text(texts[1])
    assert known == answer(*queries, table, SignificanceTest.BINOMIAL).statistics


def test_the_declared_attributes_are_kept_as_they_are() -> None:
    declared = alternated().document.attributes
    schema = clinic_schema()
    for parts, view in ((declared.left, schema.left), (declared.right, schema.right)):
        for part, attribute in zip(parts, view.attributes, strict=True):
            assert (part.name, part.kind) == (attribute.name, attribute.kind.value)
            assert (part.required, part.categories) == (attribute.required, attribute.categories)
            assert part.splits == attribute.splits
            if part.kind == "numeric":
                assert (part.minimum, part.maximum) == (attribute.minimum, attribute.maximum)
            else:
                assert (part.minimum, part.maximum) == (None, None)


def test_what_is_not_declared_is_not_written() -> None:
    written = json.loads(alternated().to_json())["attributes"]["left"]
    by_name = {one["name"]: one for one in written}
    assert by_name["gout"].keys() <= {"name", "kind", "required"}
    # 0 is a bound, not nothing.
    assert by_name["age"]["minimum"] == 0


def test_a_file_without_attributes_is_refused(tmp_path: Path) -> None:
    plain = json.loads(alternated().to_json())
    del plain["attributes"]
    path = tmp_path / "result.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ResultError, match=r"not a result of this version at attributes \("):
        Result.read(path)


def test_a_result_without_tables_says_so() -> None:
    with pytest.raises(QueryError, match="nothing to ask"):
        Result(document()).ask("[a]", "[b]")


def test_a_query_that_cannot_be_read_is_named() -> None:
    with pytest.raises(redveil.InputError, match=r"^left query, position 6: "):
        alternated().ask("[gout", "[uric acid > 7.5]")
    with pytest.raises(redveil.InputError, match=r"^right query, position 1: "):
        alternated().ask("[gout]", "uric acid")


def _more_cells(pair: Json) -> None:
    pair["leaf_table"]["cells"].append([0])


def _endless_counts(pair: Json) -> None:
    pair["leaf_table"]["left_margin"][0] = float("inf")


def _short_margin(pair: Json) -> None:
    pair["leaf_table"]["right_margin"].pop()


def _foreign_split(pair: Json) -> None:
    pair["left"]["splits"][0]["attribute"] = "shoe size"


def _foreign_part_of_a_split(pair: Json) -> None:
    foreign = {"attribute": "shoe size", "op": "<=", "value": 40}
    pair["left"]["splits"][0] = {"and": [pair["left"]["splits"][0], foreign]}


def _no_query(pair: Json) -> None:
    pair["left"]["splits"][0] = {"what": 1}


def _headless(pair: Json) -> None:
    pair["left"]["splits"][0] = None


def _stuck_at_a_leaf(pair: Json) -> None:
    pair["right"]["stuck_at"] = [3]


def _stuck_twice(pair: Json) -> None:
    pair["right"]["stuck_at"] = [0, 0]


def _too_deep(pair: Json) -> None:
    pair["right"]["splits"] += [None] * 70_000


@pytest.mark.parametrize(
    "damage",
    [
        _more_cells,
        _endless_counts,
        _short_margin,
        _foreign_split,
        _foreign_part_of_a_split,
        _no_query,
        _headless,
        _stuck_at_a_leaf,
        _stuck_twice,
        _too_deep,
    ],
)
def test_a_damaged_table_is_named(damage: Callable[[Json], None]) -> None:
    plain = json.loads(alternated(counts="least-squares").to_json())
    damage(plain["tree_pairs"][1])
    broken = Result(ResultDocument.model_validate(plain))
    with pytest.raises(ResultError, match=r"^tree_pairs\.1: .*; the file is damaged$"):
        broken.ask("[gout]", "[uric acid > 7.5]")


def test_a_number_without_bounds_is_named() -> None:
    plain = json.loads(alternated().to_json())
    del plain["attributes"]["left"][0]["maximum"]
    broken = Result(ResultDocument.model_validate(plain))
    with pytest.raises(ResultError, match="age has no bounds"):
        broken.ask("[gout]", "[uric acid > 7.5]")


@pytest.mark.parametrize("maximum", [-1.0, math.nan])
def test_a_number_whose_bounds_leave_no_value_is_named(maximum: float) -> None:
    plain = json.loads(alternated().to_json())
    plain["attributes"]["left"][0]["maximum"] = maximum
    broken = Result(ResultDocument.model_validate(plain))
    with pytest.raises(ResultError, match="age has no values"):
        broken.ask("[age > 50]", "[uric acid > 7.5]")
