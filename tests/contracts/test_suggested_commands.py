"""Commands that messages suggest can be pasted into a shell, whatever the paths in them hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from support.source import modules

# A text that ends within a command, or within one of its options.
COMMAND = re.compile(r"(^|[`\s(])redveil [a-z][a-z-]*( [^`]*)?$|(pass|with) --[a-z-]+ $")
# What needs no quotes: it is ours, and has neither spaces nor other signs of a shell.
PLAIN = {
    "name": "the name of a command, a word for a file, or a path that was quoted",
    "last": "a number",
    "command": "a command whose values were quoted",
}


def interpolated(tree: ast.Module) -> Iterator[str]:
    """Yield what is put into suggested commands, as it is written."""
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        before = ""
        for part in text.values:
            if isinstance(part, ast.Constant):
                before += str(part.value)
            elif isinstance(part, ast.FormattedValue):
                if COMMAND.search(before):
                    yield ast.unparse(part.value)
                before += "…"


@pytest.mark.parametrize("module", modules())
def test_paths_in_suggested_commands_are_quoted(module: str) -> None:
    found = interpolated(modules()[module])
    assert [one for one in found if not one.startswith("typed(") and one not in PLAIN] == []


def test_there_are_commands_to_look_at() -> None:
    found = [one for tree in modules().values() for one in interpolated(tree)]
    assert sum(one.startswith("typed(") for one in found) >= 8
    assert set(PLAIN) <= set(found)
