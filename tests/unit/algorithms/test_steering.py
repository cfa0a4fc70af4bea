"""Steering: names are read, contradictions refused, and what is left out is left out everywhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.run import run
from redveil.algorithms.steering import NO_STEERING, Steering
from redveil.algorithms.tuning import fresh_roots, strength
from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.schema.unmatched import Group
from redveil.trees.splits import Splits
from support.clinic import clinic
from support.seeded import SeededRandomness

CLINIC = clinic_schema()
FLAG = View("flags", "id", (Attribute("flag", Kind.BOOLEAN), Attribute("other", Kind.BOOLEAN)))
TWO = Schema("two", FLAG, FLAG)


def test_names_are_read_with_their_sides() -> None:
    steering = Steering.of(
        CLINIC,
        ignore=["age", "left:sex"],
        only="eGFR",
        require=("gout",),
        unmatched=[["gout", "CRP"]],
    )
    assert steering.public() == {
        "ignore": ("left:age", "left:sex"),
        "only": ("right:eGFR",),
        "require": ("left:gout",),
        "unmatched": (("left:gout", "right:CRP"),),
    }


def test_nothing_said_is_nothing_listed() -> None:
    assert Steering.of(CLINIC) == Steering.of(None) == NO_STEERING
    assert NO_STEERING.public() == {}
    assert NO_STEERING.applied(CLINIC) is CLINIC


def test_the_schema_without_what_is_left_out() -> None:
    steering = Steering.of(CLINIC, ignore="age", only=["CRP", "eGFR"])
    left = steering.applied(CLINIC)
    assert left.left.names == tuple(name for name in CLINIC.left.names if name != "age")
    assert set(left.right.names) == {"CRP", "eGFR"}
    # Declared in the order of the schema, and otherwise as they were.
    assert left.right.attributes == tuple(
        a for a in CLINIC.right.attributes if a.name in ("CRP", "eGFR")
    )


def test_the_schemas_groups_apply_and_the_runs_are_added() -> None:
    schema = CLINIC.replace(unmatched=[["gout", "uric acid"]])
    steering = Steering.of(schema, unmatched=[["asthma", "CRP"], ["uric acid", "gout"]])
    both = (Group(("gout",), ("uric acid",)), Group(("asthma",), ("CRP",)))
    assert steering.unmatched == steering.applied(schema).unmatched == both
    # Whoever forgets to ask for them does not get rid of them.
    assert Steering(ignore=((Side.LEFT, "age"),)).applied(schema).unmatched == both[:1]


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"ignore": "flga"}, "ignore: no attribute flga; did you mean"),
        ({"ignore": "flag"}, "ignore: flag is in both views; write left:flag or right:flag"),
        ({"only": ["left:flag", "left:nothing"]}, "only: no attribute left:nothing; "),
        ({"require": [3]}, "require: a name is not text; "),
        ({"unmatched": [["left:flag"]]}, "unmatched: left:flag is on one side only; "),
        ({"unmatched": ["left:flag", "right:flag"]}, "unmatched: not a list of groups; "),
        ({"only": "left:flag", "ignore": "left:flag"}, "only: left:flag is ignored too; "),
        ({"require": "left:flag", "ignore": "left:flag"}, "require: left:flag is left out; "),
        ({"require": "left:flag", "only": "left:other"}, "require: left:flag is left out; "),
        ({"ignore": ["left:flag", "left:other"]}, "flags: no attribute that may be used can be"),
        (
            {"unmatched": [["left:flag", "left:other", "right:flag", "right:other"]]},
            "unmatched: no attributes are left that may be matched; ",
        ),
        (
            {"require": ["left:flag", "right:flag"], "unmatched": [["left:flag", "right:flag"]]},
            "unmatched: no attributes are left that may be matched; ",
        ),
    ],
)
def test_what_cannot_be_is_refused(wish: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Steering.of(TWO, **wish)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("wish", ["ignore", "only", "require", "unmatched"])
def test_names_without_a_schema_are_refused(wish: str) -> None:
    with pytest.raises(InputError, match=f"^{wish} names attributes; give the schema"):
        Steering.of(None, **{wish: ["age"]})


def test_the_rule_sees_only_what_is_left() -> None:
    left = Steering.of(CLINIC, only=["age", "CRP"]).applied(CLINIC)
    assert fresh_roots(left) == 1 < fresh_roots(CLINIC)
    assert strength(left, 1000) > strength(CLINIC, 1000)


def test_a_required_side_may_repeat_its_roots() -> None:
    gout = {Side.LEFT: ("gout",)}
    assert fresh_roots(CLINIC, gout) == len(CLINIC.right.attributes)
    assert fresh_roots(CLINIC, gout | {Side.RIGHT: ("CRP", "eGFR")}) == 2
    assert fresh_roots(None, gout) == fresh_roots(None)


RUNS: dict[str, dict[str, Any]] = {
    "twin": {"depth": 3, "trials": 3},
    "alt-expm": {"algorithm": "alt-expm", "depth": 2, "alternations": 2},
    "start alone": {"algorithm": "alt-expm", "alternations": 0},
    "random start": {"algorithm": "alt-expm", "depth": 2, "alternations": 1, "start": "random"},
    "exact": {"algorithm": "alt-mcmc", "depth": 2, "alternations": 2},
    "walk": {"algorithm": "alt-mcmc", "depth": 3, "alternations": 1, "walk_steps": 200},
    "tree-pair": {"algorithm": "tree-pair", "depth": 2, "walk_steps": 200},
    "purity": {"algorithm": "tree-pair", "depth": 2, "walk_steps": 200, "pair_score": "purity"},
    "published": {"algorithm": "alt-expm", "profile": "published", "depth": 2, "alternations": 2},
}


@pytest.mark.parametrize("parameters", RUNS.values(), ids=RUNS)
def test_what_is_left_out_enters_no_tree(parameters: dict[str, Any]) -> None:
    kept = {Side.LEFT: {"gout", "asthma"}, Side.RIGHT: {"CRP", "uric acid", "eGFR"}}
    steering = Steering.of(CLINIC, only=[*kept[Side.LEFT], "CRP", "uric acid", "eGFR"])
    wanted = replace(make_algorithm(**parameters), steering=steering)
    ran = run(clinic(400), wanted, Fraction(1), SeededRandomness, workers=1)
    assert ran.declared == CLINIC
    assert set(ran.schema.left.names) == kept[Side.LEFT]
    for table in ran.tables:
        for tree in (table.left, table.right):
            splits = Splits.of(ran.schema.view(tree.side))
            asked = {splits.view.names[splits.attribute[tree.splits[n] or 0]] for n in tree.inner}
            assert asked <= kept[tree.side]


def test_a_steered_run_is_a_run_on_the_smaller_table() -> None:
    smaller = CLINIC.without("age", "HbA1c")
    steering = Steering.of(CLINIC, ignore=["age", "HbA1c"])
    wanted = make_algorithm(depth=2, trials=1)
    steered = run(clinic(400), replace(wanted, steering=steering), Fraction(1), SeededRandomness)
    plain = run(clinic(400).under(smaller), wanted, Fraction(1), SeededRandomness)
    assert steered.schema == plain.schema
    assert [(t.left, t.right, t.cells.tolist()) for t in steered.tables] == [
        (t.left, t.right, t.cells.tolist()) for t in plain.tables
    ]


def test_every_pair_of_twins_begins_with_what_is_required() -> None:
    steering = Steering.of(CLINIC, require=["gout", "asthma", "eGFR"])
    wanted = replace(make_algorithm(depth=1, trials=4), steering=steering)
    ran = run(clinic(400), wanted, Fraction(1, 100), SeededRandomness, workers=1)
    roots = [
        [Splits.of(CLINIC.view(tree.side)).attribute[tree.splits[0] or 0] for tree in trees]
        for trees in ((table.left, table.right) for table in ran.tables)
    ]
    assert {CLINIC.left.names[left] for left, _ in roots} == {"gout", "asthma"}
    assert {CLINIC.right.names[right] for _, right in roots} == {"eGFR"}
