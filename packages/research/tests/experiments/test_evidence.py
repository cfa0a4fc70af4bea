"""Experiments and benchmarks use the public API: a user could have written them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import redveil
from support.source import PACKAGE, REPOSITORY

NAMES = {*redveil.__all__, "__version__"}
# The last one generates data.
MODULES = ("redveil_research.experiments", "redveil.data.synthetic")
# What a file may use besides, because nothing public does it: a kernel is timed by itself, bytes
# that a cluster moves are counted, and the paper's runs have no intervals.
BESIDES = {
    "joint_counts.py": "redveil.kernels.",
    "workers.py": "redveil.counting.cluster",
    "runs.py": "redveil.findings.paper_extraction",
}
FILES = sorted(
    [*(PACKAGE / "experiments").rglob("*.py"), *(REPOSITORY / "benchmarks").glob("*.py")]
)


def is_public(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in MODULES)


def internals(tree: ast.Module) -> Iterator[str]:
    """Yield the names of redveil that are not public."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                used = [alias.name for alias in names if alias.name.startswith("redveil.")]
                yield from (name for name in used if not is_public(name))
            case ast.ImportFrom(module="redveil", names=names):
                used = [alias.name for alias in names]
                yield from (x for x in used if x not in NAMES and not is_public(f"redveil.{x}"))
            case ast.ImportFrom(module=str(module)) if module.startswith("redveil."):
                if not is_public(module):
                    yield module
            case ast.Attribute(value=ast.Name(id="redveil"), attr=name):
                if name not in NAMES:
                    yield f"redveil.{name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_the_public_api_is_used(path: Path) -> None:
    found = internals(ast.parse(path.read_text(encoding="utf-8")))
    besides = BESIDES.get(path.name, "no module")
    assert [one for one in found if not one.startswith(besides)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_folder_is_built_in(path: Path) -> None:
    # Data folders are arguments. Pages that are written may have links.
    text = path.read_text(encoding="utf-8").replace("](../", "](")
    assert [x for x in ("__file__", "shared/", '"shared"', "../") if x in text] == []


@pytest.mark.parametrize(
    "line",
    [
        "import redveil.sealed",
        "from redveil import owner",
        "from redveil.algorithms.catalogue import make_algorithm",
        "from redveil.data.dataset import Dataset",
        "from redveil.data import synthetic, dataset",
        "redveil.sealed.open_for_owner(x)",
    ],
)
def test_every_internal_is_seen(line: str) -> None:
    assert list(internals(ast.parse(line)))
