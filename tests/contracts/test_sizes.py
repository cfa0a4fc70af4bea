"""Functions are short enough to read in one sitting. Files are as long as their noun."""

from __future__ import annotations

import ast

import pytest

from support.source import PACKAGE, Function, modules

LONGEST_FUNCTION = 60
LONGEST_SEALED = 149


def lines(node: ast.stmt | None) -> int:
    return 0 if node is None else (node.end_lineno or node.lineno) - node.lineno + 1


def documentation(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt | None:
    """Return the docstring, which is read on its own: a public one describes every parameter."""
    return function.body[0] if ast.get_docstring(function) else None


@pytest.mark.parametrize("module", modules())
def test_functions_are_short(module: str) -> None:
    long = {
        node.name: length
        for node in ast.walk(modules()[module])
        if isinstance(node, Function)
        and (length := lines(node) - lines(documentation(node))) > LONGEST_FUNCTION
    }
    assert long == {}


def test_sealed_fits_on_a_few_screens() -> None:
    # Whoever reviews the privacy of the package reads this file first.
    lines = (PACKAGE / "sealed.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST_SEALED
