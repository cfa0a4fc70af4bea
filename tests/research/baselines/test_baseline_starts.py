from __future__ import annotations

import pytest

from oracle.baseline_starts import best_matches
from redveil.schema import Side
from redveil_research.baselines.branches import features_of
from redveil_research.baselines.methods import best_starts
from support.mixed import mixed_table


@pytest.mark.parametrize("limits", [(1, 1.0), (3, 0.6)])
@pytest.mark.parametrize("seed", range(4))
def test_starts_are_the_best_matches_of_their_attributes(
    seed: int, limits: tuple[int, float]
) -> None:
    # Few entities, so that no attribute has more values than are tried.
    table = mixed_table(18, seed)
    views = {side: features_of(table.view(side), 18) for side in Side}
    starts = best_starts(views, 100, *limits)
    found = {(one.side, one.attribute): one.jaccard for one in starts}
    assert found == pytest.approx(best_matches(table, *limits))
    assert len(found) > 8
    order = [one.jaccard for one in starts]
    assert order == sorted(order, reverse=True)
    assert [one.jaccard for one in best_starts(views, 3, *limits)] == order[:3]
    for one in starts:
        assert limits[0] <= one.holds.sum() <= limits[1] * 18


def test_blocks_of_entities_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    table = mixed_table(500, seed=2)
    views = {side: features_of(table.view(side), 500) for side in Side}
    whole = [(one.attribute, one.jaccard) for one in best_starts(views, 20, 5, 0.8)]
    monkeypatch.setattr("redveil_research.baselines.methods._BLOCK", 37)
    assert [(one.attribute, one.jaccard) for one in best_starts(views, 20, 5, 0.8)] == whole


def test_without_any_match_there_is_no_start() -> None:
    table = mixed_table(10, seed=1)
    views = {side: features_of(table.view(side), 10) for side in Side}
    assert best_starts(views, 5, 11, 0.8) == []
    empty = mixed_table(0, seed=1)
    nobody = {side: features_of(empty.view(side), 0) for side in Side}
    assert best_starts(nobody, 5, 0, 0.8) == []
