from __future__ import annotations

from fractions import Fraction
from importlib.metadata import version
from typing import Any

import pytest
from pydantic import ValidationError

from redveil.data.synthetic import clinic_schema
from redveil.losses.loss import total
from redveil.losses.plan import StepKind
from redveil.query.json_form import from_json
from redveil.query.text import parse_text
from redveil.report.document import CertificatePart, LeafTablePart, ResultDocument, StepPart
from support.clinic import NOTHING, mined_clinic


def every_document() -> list[ResultDocument]:
    return [mined_clinic(seed=seed).document for seed in (1, 2, 3)]


def test_the_steps_add_up_exactly_to_epsilon() -> None:
    promise = mined_clinic().certificate
    assert promise.epsilon == "3"
    assert total(step.price for step in promise.steps) == Fraction(3)
    # 2 trials of a start, 3 trees of 2 levels, and 2 tables
    assert len(promise.steps) == 2 * (1 + 3 * 2 + 2)
    assert len({step.name for step in promise.steps}) == len(promise.steps)


def test_the_certificate_says_what_is_promised_and_how() -> None:
    promise = mined_clinic().certificate
    schema = clinic_schema()
    assert promise.unit == "patient"
    assert promise.protects == "one patient: its row in both views"
    assert promise.neighbouring == "adding or removing one patient"
    assert (promise.guarantee, promise.profile, promise.delta) == ("exact", "hardened", "0")
    assert promise.algorithm == "alt-expm"
    assert (promise.schema_name, promise.schema_digest) == ("clinic", schema.digest)
    assert promise.schema_status == "declared"
    assert promise.software == f"redveil {version('redveil')}"
    chosen = {
        "depth": 2,
        "trials": 2,
        "alternations": 2,
        "max_p_value": 1,
        "min_jaccard": 0,
        "min_support": 0,
        "max_support": 1,
        "max_disjuncts": 3,
    }
    assert chosen.items() <= promise.parameters.items()


@pytest.mark.parametrize("algorithm", ["alt-mcmc", "tree-pair"])
def test_walks_promise_something_asymptotic_on_one_more_condition(algorithm: str) -> None:
    promise = mined_clinic(algorithm=algorithm, walk_steps=50).certificate
    assert (promise.algorithm, promise.guarantee) == (algorithm, "asymptotic")
    assert "converged after 50 steps" in promise.conditions[-1]
    assert total(step.price for step in promise.steps) == Fraction(3)
    assert {step.mechanism for step in promise.steps} == (
        {"walk", "count"} if algorithm == "tree-pair" else {"choose", "walk", "count"}
    )


@pytest.mark.parametrize("algorithm", ["alt-expm", "tree-pair"])
def test_the_published_profile_is_a_condition_that_is_not_met(algorithm: str) -> None:
    walk = {"walk_steps": 50} if algorithm == "tree-pair" else {}
    found = mined_clinic(algorithm=algorithm, profile="published", depth=2, **walk).certificate
    assert (found.profile, found.guarantee) == ("published", "as published; see known limits")
    assert found.conditions[0].startswith("NOT MET: the published profile")
    assert found.schema_digest == clinic_schema().digest
    assert total(step.price for step in found.steps) == Fraction(3)


def test_what_was_pruned_is_listed_without_its_queries() -> None:
    found = mined_clinic(prune=500).document
    assert found.pruned
    assert all(point.support < 500 for point in found.pruned)
    assert all(one.support.both.estimate >= 500 for one in found.redescriptions)
    assert mined_clinic().document.pruned == ()


def test_a_declared_schema_leaves_no_condition_unmet() -> None:
    conditions = mined_clinic().certificate.conditions
    assert len(conditions) == 5
    assert conditions[0].startswith("each patient has one row in each view")
    assert not any("NOT MET" in condition for condition in conditions)


def test_a_draft_is_a_condition_that_is_not_met() -> None:
    promise = mined_clinic(draft=True).certificate
    assert promise.schema_status == "draft"
    assert promise.conditions[0].startswith("NOT MET: the schema is a draft")
    assert "redveil schema accept" in promise.conditions[0]


def test_an_empty_result_says_why_and_what_would_help() -> None:
    empty = mined_clinic(NOTHING).document
    assert empty.redescriptions == ()
    assert empty.message is not None
    assert empty.message.startswith(
        "The noise is too large to show that any redescription meets the constraints."
    )
    assert "ε = 3" in empty.message
    assert " patients, " in empty.message
    assert "entities" not in empty.message
    assert mined_clinic().document.message is None


def test_the_noisy_size_lies_within_its_interval() -> None:
    for document in every_document():
        size = document.entities
        assert size is not None
        assert 0 <= size.low < size.estimate < size.high


def test_a_query_is_the_same_in_all_its_notations() -> None:
    for document in every_document():
        for one in document.redescriptions:
            for query in (one.left, one.right):
                assert parse_text(query.text) == from_json(query.tree)


def test_trees_and_leaf_tables_fit_together() -> None:
    for document in every_document():
        prices = {step.name: step.epsilon for step in document.certificate.steps}
        assert len(document.tree_pairs) == 4
        for number, pair in enumerate(document.tree_pairs):
            table, height, width = (
                pair.leaf_table,
                len(pair.left.ends),
                len(pair.right.ends),
            )
            for rows in (table.cells, table.fitted):
                assert [len(row) for row in rows] == [width] * height
            assert (table.left_margin, table.right_margin) == (None, None)
            for tree in (pair.left, pair.right):
                stuck = len(tree.stuck_at)
                leaves = len(tree.ends) - stuck
                assert [end is None for end in tree.ends] == [False] * leaves + [True] * stuck
            place = f"trial {number // 2 + 1}, leaf table {number % 2 + 1}"
            assert table.cells_price == prices[f"{place}, cells"]
            assert (table.left_margin_price, table.right_margin_price) == (None, None)
            assert (pair.left.view, pair.right.view) == ("diagnoses", "laboratory")


def test_margins_are_kept_with_their_prices_if_they_were_measured() -> None:
    document = mined_clinic(counts="least-squares").document
    prices = {step.name: step.epsilon for step in document.certificate.steps}
    table = document.tree_pairs[0].leaf_table
    assert table.left_margin is not None
    assert table.right_margin is not None
    assert (len(table.left_margin), len(table.right_margin)) == (
        len(table.cells),
        len(table.cells[0]),
    )
    place = "trial 1, leaf table 1"
    assert table.left_margin_price == prices[f"{place}, left margin"]
    assert table.right_margin_price == prices[f"{place}, right margin"]


def fitted(table: LeafTablePart, left: tuple[int, ...], right: tuple[int, ...]) -> float:
    return sum(table.fitted[i][j] for i in left for j in right)


def test_an_analyst_can_recompute_every_estimate_from_the_released_tables() -> None:
    for document in every_document():
        assert document.redescriptions
        for one in document.redescriptions:
            pair = document.tree_pairs[one.source.tree_pair]
            table = pair.leaf_table
            all_left, all_right = range(len(pair.left.ends)), range(len(pair.right.ends))
            lefts = fitted(table, one.source.left_ends, tuple(all_right))
            rights = fitted(table, tuple(all_left), one.source.right_ends)
            both = fitted(table, one.source.left_ends, one.source.right_ends)
            assert one.support.both.estimate == pytest.approx(max(both, 0), abs=1e-6)
            assert one.support.left.estimate == pytest.approx(max(lefts, 0), abs=1e-6)
            assert one.support.right.estimate == pytest.approx(max(rights, 0), abs=1e-6)
            jaccard = min(max(both / (lefts + rights - both), 0), 1)
            assert one.jaccard.estimate == pytest.approx(jaccard, abs=1e-9)
            assert one.jaccard.low <= one.jaccard.estimate <= one.jaccard.high
            assert one.p_value >= one.p_value_estimate
            entities = fitted(table, tuple(all_left), tuple(all_right))
            expected = lefts * rights / entities
            chance = expected / (lefts + rights - expected)
            assert one.expected_jaccard == pytest.approx(chance)
            corrected = (both / (lefts + rights - both) - chance) / (1 - chance)
            assert one.corrected.estimate == pytest.approx(corrected, abs=1e-6)
            assert one.corrected.low <= one.corrected.estimate <= one.corrected.high
            assert one.p_value <= one.p_value_confirming


def test_confirmation_is_counted_and_known_entry_by_entry() -> None:
    for document in every_document():
        known = document.false_discoveries
        assert known is not None
        confirmed = [one.confirmed for one in document.redescriptions]
        assert known.confirmed == confirmed.count(True)
        assert confirmed.count(True) + confirmed.count(False) == len(confirmed)
    published = mined_clinic(profile="published", depth=2).document
    assert published.false_discoveries is None
    assert {one.confirmed for one in published.redescriptions} == {None}


def contradictions() -> dict[str, tuple[str, Any]]:
    """Return what a certificate cannot say of itself, by the complaint that is made."""
    paid_in_rho = [{"kind": "size", "mechanism": "count", "rho": "1/50"}]
    return {
        "not exact": ("steps", [{"kind": "size", "mechanism": "walk", "epsilon": "3"}]),
        "one unit": ("steps", paid_in_rho),
        "add up": ("steps", [{"kind": "size", "mechanism": "count", "epsilon": "2"}]),
        "epsilon, or rho": ("steps", [{"kind": "size", "mechanism": "count"}]),
        "without": ("delta", "1/1000000"),
    }


@pytest.mark.parametrize("complaint", contradictions())
def test_a_certificate_that_contradicts_itself_is_refused(complaint: str) -> None:
    name, value = contradictions()[complaint]
    part = mined_clinic().certificate.model_dump(mode="json")
    assert CertificatePart.model_validate(part)
    with pytest.raises(ValidationError, match=complaint):
        CertificatePart.model_validate(part | {name: value})
    with pytest.raises(ValidationError, match="not exact"):
        CertificatePart.model_validate(part | {"profile": "published"})


@pytest.mark.parametrize("rho", ["1/10", "1" + "0" * 400])
def test_a_rho_that_does_not_keep_its_promise_is_refused(rho: str) -> None:
    part = mined_clinic().certificate.model_dump(mode="json")
    part |= {"epsilon": "1", "delta": "1/1000000", "rho": rho}
    part["steps"] = [{"kind": "size", "mechanism": "count", "rho": rho}]
    with pytest.raises(ValidationError, match="rho does not keep epsilon and delta"):
        CertificatePart.model_validate(part)
    fine = part | {"rho": "1/50", "steps": [{"kind": "size", "mechanism": "count", "rho": "1/50"}]}
    assert CertificatePart.model_validate(fine).promise == "ε = 1, δ = 1e-06"


def test_a_step_is_kept_in_parts_and_named_for_display() -> None:
    steps = mined_clinic().certificate.steps
    assert [step.name for step in steps[:3]] == [
        "trial 1, start",
        "trial 1, tree 1, level 1",
        "trial 1, tree 1, level 2",
    ]
    plain = [step.model_dump(mode="json") for step in steps]
    prices = [step.epsilon for step in steps]
    assert plain[0] == {"kind": "start", "trial": 1, "mechanism": "choose", "epsilon": prices[0]}
    assert plain[1] == {
        "kind": "tree",
        "trial": 1,
        "number": 1,
        "level": 1,
        "mechanism": "choose",
        "epsilon": prices[1],
    }
    assert [StepPart.model_validate(one) for one in plain] == list(steps)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"kind": StepKind.SIZE}, "size"),
        ({"kind": StepKind.TREE, "trial": 1, "number": 3, "level": 2}, "trial 1, tree 3, level 2"),
        ({"kind": StepKind.TREE_PAIR, "trial": 4}, "trial 4, tree pair"),
        ({"kind": StepKind.TWIN_TREES, "trial": 1, "level": 1}, "trial 1, twin trees, level 1"),
        (
            {"kind": StepKind.LEAF_TABLE, "trial": 2, "number": 1, "part": "left margin"},
            "trial 2, leaf table 1, left margin",
        ),
    ],
)
def test_the_name_of_a_step_says_what_it_released(parts: dict[str, Any], name: str) -> None:
    step = StepPart(**parts, mechanism="count", epsilon="1/3")
    assert step.name == name
    assert step.price == Fraction(1, 3)
    # The name is made, not kept: nothing can contradict the parts.
    assert "name" not in step.model_dump()


@pytest.mark.parametrize(
    "wrong", [{"kind": "lunch"}, {"name": "size"}, {"trial": "first"}, {"mechanism": "guess"}]
)
def test_a_step_of_no_known_kind_is_refused(wrong: dict[str, str]) -> None:
    part = {"kind": "size", "mechanism": "count", "epsilon": "1"}
    assert StepPart.model_validate(part).name == "size"
    with pytest.raises(ValidationError):
        StepPart.model_validate(part | wrong)
