"""Functions are short enough to read in one sitting. Files are as long as their noun."""

from __future__ import annotations

import ast

import pytest

from support.source import PACKAGE, Function, modules

LONGEST_FUNCTION = 60
LONGEST_SEALED = 149

# Public functions with many parameters, one a line, in the signature and in the docstring: these
# are read on their own. Everywhere else both count.
REFERENCE_PAGES = {
    ("api.py", "mine"),
    ("api.py", "plan"),
    ("commands/mine.py", "mine"),
    ("commands/plan.py", "plan"),
    ("cli/remote_questions.py", "mine"),
    ("commands/serve.py", "serve"),
    ("cli/show.py", "show"),
    ("client/server.py", "mine"),
    ("client/server.py", "plan"),
    ("conversation.py", "confirm"),
    ("conversation.py", "describe"),
    ("conversation.py", "refine"),
    ("loading.py", "load"),
    ("schema/model.py", "with_attribute"),
}


def lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def length(module: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if (module, function.name) in REFERENCE_PAGES and ast.get_docstring(function):
        _, first, *_ = function.body
        return (function.end_lineno or first.lineno) - first.lineno + 1
    return lines(function)


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
