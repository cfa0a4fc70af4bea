"""The schema of a dataset is public and everything else is sealed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pyarrow as pa
import pytest

from redveil.data.dataset import Dataset
from redveil.data.loading import load
from redveil.data.report import LoadReport
from redveil.data.table import Table
from redveil.errors import SealedError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import Sealed, open_for_owner

SCHEMA = Schema(
    "clinic",
    View("a", "id", (Attribute("sick", Kind.BOOLEAN), Attribute("old", Kind.BOOLEAN))),
    View("b", "id", (Attribute("x", Kind.BOOLEAN),)),
)


@pytest.fixture
def dataset() -> Dataset:
    left = pa.table({"id": [1, 2, 3], "sick": [0, 1, 1], "old": [1, 0, None]})
    return load(left, pa.table({"id": [1, 2, 3], "x": [0, 1, 1]}), SCHEMA)


def test_only_the_schema_shows(dataset: Dataset) -> None:
    assert repr(dataset) == "<Dataset clinic: 2 left and 1 right attributes>"


@pytest.mark.parametrize("show", [repr, str, "{}".format, Dataset._repr_html_])
def test_what_shows_depends_on_the_schema_alone(
    dataset: Dataset, show: Callable[[Any], str]
) -> None:
    nobody = Dataset(SCHEMA, Sealed(Table(0, {}, {})), Sealed(LoadReport(0)))
    assert show(dataset) == show(nobody)
    assert "clinic" in show(dataset)


def test_the_rows_are_sealed(dataset: Dataset) -> None:
    assert isinstance(dataset.table, Sealed)
    assert isinstance(dataset.report, Sealed)
    assert dataset.schema is SCHEMA
    assert open_for_owner(dataset.table).rows == 3
    assert open_for_owner(dataset.report).joined == 3


def test_it_has_no_length(dataset: Dataset) -> None:
    assert not hasattr(dataset, "__len__")
    assert not hasattr(dataset, "__iter__")


def test_it_cannot_be_changed(dataset: Dataset) -> None:
    with pytest.raises(FrozenInstanceError):
        dataset.schema = SCHEMA  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        dataset.rows = 3  # type: ignore[attr-defined]


def test_it_cannot_be_written_down(dataset: Dataset) -> None:
    with pytest.raises(SealedError):
        pickle.dumps(dataset)
    with pytest.raises(SealedError):
        copy.deepcopy(dataset)


def test_datasets_are_the_same_only_if_they_are_one(dataset: Dataset) -> None:
    again = Dataset(dataset.schema, dataset.table, dataset.report)
    assert dataset != again
    assert len({dataset, again}) == 2
