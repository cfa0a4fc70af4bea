"""redveil-research and benchmarks use public names: of redveil, and of its seam."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import redveil
import redveil_research
from support.source import REPOSITORY, public_definitions

NAMES = {*redveil.__all__, "__version__"}
# The second one generates data.
MODULES = ("redveil.seam", "redveil.data.synthetic")
# What a benchmark may use besides, because nothing public does it: a kernel is timed by itself,
# bytes that a cluster moves are counted.
BESIDES = {
    "joint_counts.py": "redveil.kernels.",
    "workers.py": "redveil.counting.cluster",
}
RESEARCH = REPOSITORY / "packages" / "research" / "src"
FILES = sorted([*RESEARCH.rglob("*.py"), *(REPOSITORY / "benchmarks").glob("*.py")])


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


def test_the_public_names_are_these_and_no_others() -> None:
    assert dir(redveil_research) == redveil_research.__all__ == sorted(redveil_research.__all__)
    assert redveil_research.__all__ == [
        "Baseline",
        "Diagnosis",
        "baseline",
        "diagnose",
        "latex_table",
        "plot",
        "plot_detectable",
        "write_clired",
    ]


@pytest.mark.parametrize("name", redveil_research.__all__)
def test_every_public_name_comes_with_an_example(name: str) -> None:
    thing = getattr(redveil_research, name)
    assert ">>>" in (inspect.getdoc(thing) or "")


def test_other_names_are_refused_as_usual() -> None:
    with pytest.raises(AttributeError, match="module 'redveil_research' has no attribute 'x'"):
        _ = redveil_research.x
    with pytest.raises(AttributeError, match="diagnose is in redveil_research; install"):
        _ = redveil.diagnose


@pytest.mark.parametrize("path", [path for path in FILES if RESEARCH in path.parents], ids=str)
def test_everything_public_has_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert [name for name, node in public_definitions(tree) if not ast.get_docstring(node)] == []
