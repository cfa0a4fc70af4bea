from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import redveil
from redveil.errors import InputError
from redveil.schema import Status
from redveil_research.experiments.generators import generate
from redveil_research.experiments.subjects import PublicSubject, World, public_subjects, worlds


def column(world: World, side: int, name: str) -> list[object]:
    return list(world.load().views[side].columns[name].to_pylist())


def test_a_world_is_what_its_generator_makes() -> None:
    made = generate("survey", 80, 3, 0.2).tables
    world = World("survey", 80, 3, 0.2)
    assert column(world, 1, "answer 1") == made.right["answer 1"].to_pylist()
    assert column(world, 0, "flag 4") == made.left["flag 4"].to_pylist()


def test_strength_changes_the_right_view_alone() -> None:
    usual, weak = World("survey", 80), World("survey", 80, strength=0.1)
    assert column(usual, 0, "flag 4") == column(weak, 0, "flag 4")
    assert column(usual, 1, "answer 1") != column(weak, 1, "answer 1")


def test_shuffling_keeps_every_column_and_breaks_the_relation() -> None:
    usual, shuffled = World("gradients", 400), World("gradients", 400, unrelated=True)
    for side, name in ((0, "species 1"), (1, "mean 1")):
        assert sorted(column(usual, side, name), key=str) == sorted(
            column(shuffled, side, name), key=str
        )
    assert column(usual, 0, "species 1") == column(shuffled, 0, "species 1")
    found = [
        len(redveil.mine(world.load().dataset, 100, depth=1, trials=1, min_jaccard=0.5))
        for world in (usual, shuffled)
    ]
    assert found == [1, 0]


def test_the_rows_that_are_judged_are_those_that_are_mined() -> None:
    # Were only one of the two shuffled, true and estimated indices would differ.
    loaded = World("gradients", 400, unrelated=True).load()
    result = redveil.mine(loaded.dataset, 100, depth=1, trials=1)
    (truth,) = redveil.truth(result, loaded.dataset)
    assert truth.true is not None
    declared = [
        {one.name: one for one in side}
        for side in (result.document.attributes.left, result.document.attributes.right)
    ]
    left = loaded.views[0].answers(truth.left.tree, declared[0]).yes
    right = loaded.views[1].answers(truth.right.tree, declared[1]).yes
    assert np.sum(left & right) == truth.true.support.both


@pytest.mark.parametrize(
    ("schema", "status"), [("draft", Status.DRAFT), ("declared", Status.DECLARED)]
)
def test_a_schema_is_drafted_or_declared(schema: str, status: Status, tmp_path: Path) -> None:
    (tmp_path / "mammals").mkdir()
    lines = [f"{i},{i % 2}" for i in range(40)]
    (tmp_path / "mammals" / "left.csv").write_text("\n".join(["id,Moose", *lines]))
    lines = [f"{i},{i / 2}" for i in range(40)]
    (tmp_path / "mammals" / "right.csv").write_text("\n".join(["id,t1~", *lines]))
    loaded = PublicSubject("MAMMAL", tmp_path, schema).load()  # type: ignore[arg-type]
    assert loaded.dataset.schema.status is status
    assert [view.count for view in loaded.views] == [40, 40]


def test_folders_and_names_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such data set"):
        public_subjects(tmp_path, ["nonsense"], "draft")
    with pytest.raises(InputError, match="no data; name the folder"):
        public_subjects(None, [], "draft")
    with pytest.raises(InputError, match="no such generator"):
        worlds(["nonsense"], [100])
    found, skipped = public_subjects(tmp_path, ["npas 2016"], "draft")
    assert (found, len(skipped)) == ([], 1)
