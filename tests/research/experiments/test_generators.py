from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pytest

from redveil.data.dataset import Dataset
from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.errors import InputError
from redveil.schema import Kind, Schema
from redveil.sealed import open_for_owner
from redveil_research.experiments.generators import (
    GENERATORS,
    Generated,
    claims,
    generate,
    gradients,
    noise,
    survey,
    wide,
)


def table(dataset: Dataset) -> Table:
    return open_for_owner(dataset.table)


def values(column: Column) -> np.ndarray:
    held = column.values if isinstance(column, NumericColumn) else column.codes
    return np.asarray(held, dtype=np.float64)


def matrix(columns: Mapping[str, Column]) -> np.ndarray:
    """Return ordered columns as ranks, standardised; missing values count as 0."""
    kept = [values(c) for c in columns.values() if c.attribute.kind is not Kind.CATEGORICAL]
    ranks = np.array([np.unique(np.nan_to_num(v), return_inverse=True)[1] for v in kept], float)
    ranks -= ranks.mean(axis=1, keepdims=True)
    return np.asarray(ranks / np.maximum(ranks.std(axis=1, keepdims=True), 1e-9))


def strongest(data: Generated) -> float:
    """Return the largest correlation between a left and a right column."""
    both = table(data.load())
    left, right = matrix(both.left), matrix(both.right)
    return float(np.abs(left @ right.T).max() / both.rows)


@pytest.mark.parametrize("name", GENERATORS)
def test_columns_fit_the_schema(name: str) -> None:
    dataset = generate(name, 400).load()
    both = table(dataset)
    assert both.rows == 400
    for view, columns in ((dataset.schema.left, both.left), (dataset.schema.right, both.right)):
        assert tuple(columns) == view.names
        for column in columns.values():
            attribute, held = column.attribute, values(column)
            assert held.shape == (400,)
            if isinstance(column, CodedColumn):
                assert held.max() < attribute.bins
            else:
                known = held[~np.isnan(held)]
                assert ((known >= attribute.minimum) & (known <= attribute.maximum)).all()
                assert known.size == 400 or not attribute.required


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_determines_the_data(name: str) -> None:
    first, again, other = (table(generate(name, 200, seed).load()) for seed in (5, 5, 6))
    assert all(
        np.array_equal(values(first.right[c]), values(again.right[c]), equal_nan=True)
        for c in first.right
    )
    assert any(not np.array_equal(values(first.left[c]), values(other.left[c])) for c in first.left)


@pytest.mark.parametrize("name", GENERATORS)
def test_the_schema_depends_on_neither_rows_nor_their_number(name: str) -> None:
    # The seed determines the categories too.
    def public(rows: int) -> Schema:
        return generate(name, rows).load().schema

    assert [a.required for a in public(30).right.attributes] == [
        a.required for a in public(300).right.attributes
    ]
    assert public(30).right == public(300).right


@pytest.mark.parametrize(
    ("generator", "least"),
    [
        (gradients, 0.6),
        (survey, 0.2),
        (claims, 0.25),
        (partial(wide, lefts=20, rights=60), 0.15),
    ],
)
def test_strength_is_the_strength_of_the_association(
    generator: Callable[..., Generated], least: float
) -> None:
    assert strongest(generator(6000)) > least
    # The largest of thousands of correlations between independent columns is below this.
    assert strongest(generator(6000, strength=0.0)) < 0.1
    assert strongest(generator(6000, strength=0.4)) < strongest(generator(6000, strength=1.0))


def test_noise_has_structure_within_and_none_between() -> None:
    data = noise(3000)
    assert strongest(data) < 0.12
    right = matrix(table(data.load()).right)
    assert (np.abs(right @ right.T) / 3000 - np.eye(len(right))).max() > 0.3


def test_gradients_run_from_sparse_to_dense_and_seasons_are_collinear() -> None:
    both = table(gradients(2000).load())
    shares = [values(c).mean() for c in both.left.values()]
    assert min(shares) < 0.02
    assert max(shares) > 0.6
    january, february = (values(both.right[f"mean {month}"]) for month in (1, 2))
    assert np.corrcoef(january, february)[0, 1] > 0.95


def test_claims_are_mostly_zero_with_long_tails_and_gaps() -> None:
    both = table(claims(3000).load())
    amounts = np.array([values(c) for c in both.right.values()])
    assert np.median((amounts == 0).mean(axis=1)) > 0.5
    assert np.nanmax(amounts) > 100 * np.nanmedian(amounts[amounts > 0])
    assert 0 < np.isnan(amounts).mean() < 0.1
    shares = sorted(values(c).mean() for c in both.left.values() if isinstance(c, CodedColumn))
    assert shares[0] < 0.005
    assert shares[-1] > 0.2


def test_survey_backgrounds_are_of_all_kinds() -> None:
    kinds = {a.kind for a in survey(50).schema.left.attributes}
    assert kinds == set(Kind)


def test_the_number_of_columns_can_be_chosen() -> None:
    assert len(wide(20, lefts=4, rights=9).schema.right.attributes) == 9


def test_strength_is_a_share() -> None:
    with pytest.raises(InputError, match="strength must lie between 0 and 1"):
        survey(20, strength=1.5)
