"""What the package promises to programs: names, docstrings, examples, and a light import."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

import redveil
from redveil.base.version import software
from support.source import modules, public_definitions

PUBLIC = {
    "Answer",
    "Comparison",
    "Dataset",
    "Detectable",
    "Draft",
    "InputError",
    "LoadReport",
    "OverBudgetError",
    "Plan",
    "RedveilError",
    "RemoteError",
    "Result",
    "Schema",
    "Server",
    "compare",
    "confirm",
    "connect",
    "describe",
    "detectable",
    "draft",
    "examine",
    "load",
    "load_report",
    "mine",
    "plan",
    "refine",
    "truth",
}
HEAVY = ("numpy", "numba", "polars", "pyarrow", "scipy", "pandas", "pydantic", "opendp", "sklearn")


def test_the_public_names_are_these_and_no_others() -> None:
    assert set(redveil.__all__) == PUBLIC
    assert len(redveil.__all__) == len(PUBLIC)
    assert dir(redveil) == sorted(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_comes_with_an_example(name: str) -> None:
    thing = getattr(redveil, name)
    documentation = inspect.getdoc(thing)
    assert documentation
    assert ">>>" in documentation
    assert getattr(importlib.import_module(thing.__module__), name) is thing


def test_other_names_are_refused_as_usual() -> None:
    with pytest.raises(AttributeError, match="module 'redveil' has no attribute 'nonsense'"):
        _ = redveil.nonsense


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = f"import redveil, sys; sys.exit([n for n in {HEAVY!r} if n in sys.modules] or 0)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("module", modules())
def test_everything_public_has_a_docstring(module: str) -> None:
    tree = modules()[module]
    assert ast.get_docstring(tree), f"{module}: say in one line what the module is"
    missing = [name for name, node in public_definitions(tree) if not ast.get_docstring(node)]
    assert missing == []


def test_the_version_is_where_people_look_for_it() -> None:
    assert software() == f"redveil {redveil.__version__}"
