"""Small files and small functions: what can be read in one sitting can be reviewed."""

from __future__ import annotations

import ast

import pytest

from support.source import PACKAGE, Function, modules

LONGEST_FILE = 399
LONGEST_FUNCTION = 60
LONGEST_WALL = 149


def lines(module: str) -> int:
    return len((PACKAGE / module).read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("module", modules())
def test_files_and_functions_are_short(module: str) -> None:
    assert lines(module) <= LONGEST_FILE
    long = {
        node.name: length
        for node in ast.walk(modules()[module])
        if isinstance(node, Function)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    }
    assert long == {}


def test_the_wall_fits_on_a_few_screens() -> None:
    assert lines("sealed.py") <= LONGEST_WALL
