"""Functions are short enough to read in one sitting. Files are as long as their noun."""

from __future__ import annotations

import ast

import pytest

from support.source import PACKAGE, Function, modules

LONGEST_FUNCTION = 60
LONGEST_SEALED = 149

# Public functions whose docstrings describe many parameters, one a line: these are read on their
# own. Everywhere else a docstring counts.
REFERENCE_PAGES = {
    ("api.py", "mine"),
    ("api.py", "plan"),
    ("conversation.py", "confirm"),
    ("conversation.py", "describe"),
    ("conversation.py", "refine"),
    ("diagnosis.py", "diagnose"),
    ("schema/model.py", "with_attribute"),
}


def lines(node: ast.stmt | None) -> int:
    return 0 if node is None else (node.end_lineno or node.lineno) - node.lineno + 1


def length(module: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    is_reference = (module, function.name) in REFERENCE_PAGES and ast.get_docstring(function)
    return lines(function) - lines(function.body[0] if is_reference else None)


@pytest.mark.parametrize("module", modules())
def test_functions_are_short(module: str) -> None:
    long = {
        node.name: length(module, node)
        for node in ast.walk(modules()[module])
        if isinstance(node, Function) and length(module, node) > LONGEST_FUNCTION
    }
    assert long == {}


def test_sealed_fits_on_a_few_screens() -> None:
    # Whoever reviews the privacy of the package reads this file first.
    lines = (PACKAGE / "sealed.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LONGEST_SEALED
