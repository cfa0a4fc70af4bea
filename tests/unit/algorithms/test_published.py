from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import redveil
from redveil.algorithms import alternation
from redveil.algorithms.alternation import AltExpM, AltMCMC
from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.published import (
    PUBLISHED,
    ObservedTargets,
    Published,
    PublishedRandomness,
    freedman_diaconis_bins,
    observed_dataset,
    published_rules,
)
from redveil.counting.prepared import PreparedData
from redveil.data.binning import bin_table
from redveil.data.synthetic import clinic_frames, clinic_schema, wide_dataset
from redveil.errors import InputError
from redveil.findings.reporting import Constraints, Reporting
from redveil.growing.rules import HARDENED_RULES, Rules
from redveil.growing.walks import _ending, random_splits, run_tree
from redveil.kernels.chain import WORDS_PER_STEP
from redveil.losses.loss import Loss, total
from redveil.query.coverage import reachable
from redveil.query.formula import Literal, literals
from redveil.query.json_form import from_json
from redveil.report.released import released_tables
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Sealed, open_for_owner, within
from redveil.trees.scores import GRID_BITS
from support.mixed import mixed_dataset
from support.seeded import SeededRandomness
from support.tiny import Tiny, table_of, tiny_view


def test_cut_points_are_the_values_that_occur() -> None:
    dataset = wide_dataset(50, booleans=2, numerics=2)
    observed = observed_dataset(dataset)
    column = open_for_owner(dataset.table).right["n1"]
    values = np.unique(column.values)  # type: ignore[union-attr]
    assert observed.schema.right.attributes[1].cuts == tuple(values[:-1].tolist())
    before, after = open_for_owner(dataset.table), open_for_owner(observed.table)
    assert after.right["n1"].values is before.right["n1"].values  # type: ignore[union-attr]


def test_values_outside_the_bounds_are_moved_to_them_and_make_no_cut_points() -> None:
    schema = clinic_schema().with_attribute("age", side="left", minimum=20, maximum=60, cuts=[40])
    ages = [-np.inf, np.inf, -9.0, 20.0, 35.0, 60.0, 1e308]
    left, right = clinic_frames(len(ages))
    frame = pl.DataFrame(left).with_columns(age=pl.Series(ages))
    dataset = redveil.load(frame, right, schema)
    observed = observed_dataset(dataset)
    age = next(one for one in observed.schema.left.attributes if one.name == "age")
    assert age.cuts == (20.0, 35.0)
    column = open_for_owner(observed.table).left["age"]
    np.testing.assert_array_equal(
        column.values,  # type: ignore[union-attr]
        [20, 60, 20, 20, 35, 60, 60],
    )


def test_categories_are_those_that_occur_and_constants_are_left_out() -> None:
    def attribute(name: str, *categories: str) -> Attribute:
        return Attribute(name, Kind.CATEGORICAL, categories=categories)

    view = View("answers", "id", (attribute("hand", "left", "both", "right"),
                                  attribute("town", "here", "there"),
                                  Attribute("alive", Kind.BOOLEAN)))  # fmt: skip
    right = View("numbers", "id", (Attribute("x", Kind.NUMERIC, maximum=9, cuts=(4.0,)),))
    answers = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "hand": ["right", None, "left"],
            "town": ["there", "there", None],
            "alive": [True, True, True],
        }
    )
    numbers = pl.DataFrame({"id": ["a", "b", "c"], "x": [1.0, 5.0, 7.0]})
    dataset = redveil.load(answers, numbers, Schema("some", view, right))
    observed = observed_dataset(dataset)
    # A constant Boolean attribute stays: the paper's data sets have some.
    assert [one.name for one in observed.schema.left.attributes] == ["hand", "alive"]
    assert observed.schema.left.attributes[0].categories == ("left", "right")
    codes = open_for_owner(observed.table).left["hand"].codes  # type: ignore[union-attr]
    assert codes.tolist() == [1, 255, 0]
    result = redveil.mine(dataset, 50, profile="published", alternations=1, depth=1)
    assert len(result.document.tree_pairs) == 1


def test_a_walk_over_trees_ends_by_a_share_of_the_range_of_its_scores() -> None:
    # The scores of N entities range over N, and those of pairs over 1.
    window = replace(published_rules(0.005), window=10)
    for rows in (20, 2000):
        assert _ending(window, np.zeros(1, np.uint8), span=rows).threshold == 0.005 * rows
    assert _ending(HARDENED_RULES, np.zeros(1, np.uint8), span=2000).threshold < 0


@pytest.mark.parametrize("algorithm", ["alt-expm", "alt-mcmc"])
def test_the_first_tree_grows_on_the_attribute_s_own_view(
    algorithm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides: list[Side] = []
    whole = type(make_algorithm(algorithm)).grow_tree  # type: ignore[attr-defined]

    def noting(self: Any, trial: Any, side: Side, target: Any, number: int) -> Any:
        sides.append(side)
        return whole(self, trial, side, target, number)

    monkeypatch.setattr(type(make_algorithm(algorithm)), "grow_tree", noting)
    monkeypatch.setattr(alternation, "random_attribute", lambda *_: (Side.LEFT, 0))
    steps = {"walk_steps": 10} if algorithm == "alt-mcmc" else {}
    given: dict[str, Any] = {"algorithm": algorithm, "depth": 1, "alternations": 2, **steps}
    dataset = wide_dataset(60, 3, 3)
    redveil.mine(dataset, 1, profile="published", **given)
    assert sides == [Side.LEFT, Side.RIGHT, Side.LEFT]
    sides.clear()
    redveil.mine(dataset, 1, start="random", **given)
    assert sides == [Side.RIGHT, Side.LEFT, Side.RIGHT]


def test_a_released_threshold_is_somebodys_value() -> None:
    """The leak for which the profile is refused elsewhere."""
    dataset = wide_dataset(400, booleans=10, numerics=5)
    result = redveil.mine(dataset, 50, profile="published", alternations=1, depth=2)
    table = open_for_owner(dataset.table)
    thresholds = {
        (literal.attribute, literal.value)
        for pair in result.document.tree_pairs
        for end in pair.right.ends
        if end is not None
        for literal in literals(from_json(end.tree))
        if isinstance(literal, Literal)
    }
    assert thresholds
    for name, value in thresholds:
        assert value in table.right[name].values  # type: ignore[union-attr]


@pytest.mark.parametrize("algorithm", ["alt-expm", "alt-mcmc", "tree-pair"])
def test_no_split_follows_from_its_path(algorithm: Any) -> None:
    # At this ε trees are nearly random, and most candidates are values of one attribute.
    rng = np.random.default_rng(7)
    times = pl.DataFrame({"id": range(90), "seconds": rng.permutation(90), "old": rng.random(90)})
    answers = times.select("id", q=rng.integers(1, 5, 90), r=rng.integers(0, 2, 90) == 1)
    draft = redveil.draft(answers, times)
    steps = {} if algorithm == "alt-expm" else {"walk_steps": 600}
    given: dict[str, Any] = {"algorithm": algorithm, "depth": 4, "trials": 2, **steps}
    dataset = redveil.load(answers, times, draft.schema.accept())
    result = redveil.mine(dataset, "0.001", profile="published", prune=0, **given)
    for table in released_tables(result.document):
        for side in Side:
            # Somebody may be at every end, whatever the rows are.
            assert reachable(table.tree(side)).all()


@pytest.mark.parametrize("algorithm", ["alt-expm", "alt-mcmc", "tree-pair"])
def test_certificates_say_what_the_profile_is(algorithm: Any) -> None:
    walk_steps = None if algorithm == "alt-expm" else 600
    result = redveil.mine(
        wide_dataset(300, 5, 5),
        1,
        profile="published",
        algorithm=algorithm,
        walk_steps=walk_steps,
        depth=2,
    )
    promise = result.certificate
    assert promise.profile == "published"
    assert promise.guarantee == "as published; see known limits"
    assert any(condition.startswith("NOT MET") for condition in promise.conditions)
    assert total(step.price for step in promise.steps) == 1


def test_the_budget_is_divided_as_the_paper_says() -> None:
    pair = redveil.plan(1, algorithm="tree-pair", profile="published", trials=4)
    assert [str(step.price) for step in pair.steps[:3]] == ["1/40", "9/80", "9/80"]
    alternation = redveil.plan(1, profile="published", trials=1, alternations=4, depth=4)
    assert alternation.steps[0].price == Fraction(1, 9) / 4
    tables = [step for step in alternation.steps if step.mechanism == "count"]
    assert {step.price for step in tables} == {Fraction(1, 18)}
    assert len(tables) == 8


def test_the_papers_exponents() -> None:
    rules = published_rules(0.005)
    unit = 2**GRID_BITS
    assert rules.split.rate(Fraction(1)) * unit == Fraction(1, 4)
    assert rules.tree.rate(Fraction(1)) * unit == Fraction(1, 4)
    assert rules.pair.rate(Fraction(1)) * unit == Fraction(1, 2)
    assert rules.window == 500


def walked_scores(rules: Rules, walk_steps: int) -> list[float]:
    """Return the scores of a walk over trees that all score the same; 0 where it has ended."""
    alike = Tiny(tiny_view(1, 2), [[1] * 20, [2] * 20])
    schema = Schema("alike", alike.view, alike.view)
    data = PreparedData.of(schema, Sealed(table_of(alike, alike)))
    source, entities = SeededRandomness(1), open_for_owner(data.here.entities)
    start = random_splits(alike.splits, 1, source)
    words = source.words(walk_steps * WORDS_PER_STEP).reshape(walk_steps, WORDS_PER_STEP)
    sets, classes = open_for_owner(data.sets(Side.LEFT)), np.zeros(20, np.int32)
    walked = run_tree(start, 1, words, 1.0, rules, data.stop, sets, entities, classes)
    return list(walked.trace)


def test_only_published_walks_end_when_the_data_says_so() -> None:
    assert 0 not in walked_scores(HARDENED_RULES, 600)
    # By the published rule, with scores as ours.
    early = walked_scores(replace(published_rules(0.005), placed_cost=0), 600)
    # 500 steps, and the score at their end.
    assert early.index(0) == 501


def test_noise_is_floating_point_laplace() -> None:
    noise = PublishedRandomness().laplace(Fraction(1, 4), 4000)
    assert noise.dtype == np.float64
    assert not np.array_equal(noise, np.rint(noise))
    # Mean absolute deviation of Laplace noise is its scale; one in a million runs fails this.
    assert np.abs(noise).mean() == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize(
    ("values", "bins"),
    [
        (np.arange(1000.0), 10),
        (np.zeros(10), 2),
        (np.array([np.nan, np.nan]), 2),
        (np.array([0.0, 1.0, np.nan, 2.0, 3.0]), 2),
    ],
)
def test_freedman_diaconis(values: np.ndarray, bins: int) -> None:
    assert freedman_diaconis_bins(values) == bins


def test_numeric_targets_have_equal_width_bins_and_no_class_for_missing() -> None:
    dataset = redveil.load(*clinic_frames(300), clinic_schema())
    binned = within(lambda table: bin_table(table, dataset.schema), dataset.table)
    data = PreparedData.of(dataset.schema, binned)
    target = ObservedTargets(dataset.table)(data, Side.RIGHT, 0)
    classes = open_for_owner(data.classes(target.labels))
    values = open_for_owner(dataset.table).right["HbA1c"].values  # type: ignore[union-attr]
    known = ~np.isnan(values)
    width = (values[known].max() - values[known].min()) / target.number
    expected = np.minimum((values[known] - values[known].min()) // width, target.number - 1)
    assert (classes[~known] == -1).all()
    assert np.mean(classes[known] == expected) > 0.99
    assert dataset.schema.left.attributes[1].kind is Kind.CATEGORICAL
    sex = ObservedTargets(dataset.table)(data, Side.LEFT, 1)
    assert sex.number == 2


def test_each_value_of_an_ordered_attribute_is_a_class() -> None:
    # Hardened targets merge neighbours into at most six.
    days = ("mo", "tu", "we", "th", "fr", "sa", "su")
    day = Attribute("day", Kind.ORDINAL, categories=days)
    size = Attribute("size", Kind.NUMERIC, minimum=0, maximum=9, cuts=(5.0,))
    schema = Schema("some", View("left", "id", (day,)), View("right", "id", (size,)))
    left = pl.DataFrame({"id": list("abcdefg"), "day": days})
    right = pl.DataFrame({"id": list("abcdefg"), "size": np.arange(7.0)})
    dataset = redveil.load(left, right, schema)
    binned = within(lambda table: bin_table(table, dataset.schema), dataset.table)
    data = PreparedData.of(dataset.schema, binned)
    target = ObservedTargets(dataset.table)(data, Side.LEFT, 0)
    assert target.number == 7
    assert sorted(open_for_owner(data.classes(target.labels)).tolist()) == list(range(7))


def test_a_view_without_two_values_is_refused_with_a_reason() -> None:
    frame = pl.DataFrame({"patient": ["a", "b"], "HbA1c": [5.0, 5.0]})
    schema = clinic_schema()
    lonely = replace(schema.right, attributes=schema.right.attributes[:1])
    left = clinic_frames(2)[0].set_column(0, "patient", [["a", "b"]])
    dataset = redveil.load(left, frame, replace(schema, right=lonely))
    with pytest.raises(InputError, match="nothing to split"):
        redveil.mine(dataset, 1, profile="published")


# The profile


def test_published_rules_have_the_profile_s_threshold() -> None:
    assert PUBLISHED.rules == published_rules(0.005)
    assert Published(0.02).rules == published_rules(0.02)
    assert (Published(0.02).name, Published(0.02).public()) == (
        "published",
        {"variance_threshold": 0.02},
    )


def test_nothing_is_tuned_and_the_owner_is_warned() -> None:
    assert not PUBLISHED.tunes
    assert PUBLISHED.warning is not None
    assert "NOT private" in PUBLISHED.warning


def test_the_data_makes_splits_targets_and_noise() -> None:
    dataset = wide_dataset(50, booleans=2, numerics=2)
    assert PUBLISHED.observed(dataset).schema == observed_dataset(dataset).schema
    assert isinstance(PUBLISHED.targets(dataset), ObservedTargets)
    assert isinstance(PUBLISHED.randomness(), PublishedRandomness)


def test_candidates_are_judged_by_their_estimates_and_pruned() -> None:
    # A simple query, extended up to three times.
    default = Constraints(0.01, 0.1, 10, 0.8, 4)
    assert PUBLISHED.reporting(None, None) == Reporting(default, "auto", noise_aware=False)
    strict = Constraints(min_jaccard=0.5)
    assert PUBLISHED.reporting(strict, 20.0) == Reporting(strict, 20.0, noise_aware=False)


def test_the_guarantee_is_the_paper_s_and_its_condition_is_not_met() -> None:
    for walks in (True, False):
        assert PUBLISHED.guarantee(walks=walks) == "as published; see known limits"
    (condition,) = PUBLISHED.conditions(make_algorithm(profile="published"))
    assert condition.startswith("NOT MET: ")


def test_a_delta_is_refused() -> None:
    PUBLISHED.check_loss(Loss(Fraction(1)))
    with pytest.raises(InputError, match="does not support δ; leave out delta or"):
        PUBLISHED.check_loss(Loss(Fraction(1), Fraction(1, 10**6)))


def test_what_the_paper_does_not_have_is_refused() -> None:
    assert AltExpM(profile=PUBLISHED).profile is PUBLISHED
    with pytest.raises(
        InputError, match="published alt-mcmc always uses Markov chains; leave out sampler"
    ):
        AltMCMC(profile=PUBLISHED)


def test_without_scipy_nothing_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(InputError, match="need SciPy; run pip install scipy"):
        redveil.mine(mixed_dataset(50, 1), 1, profile="published", ledger=ledger)
    assert not ledger.exists()
