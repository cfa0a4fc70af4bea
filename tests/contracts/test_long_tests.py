"""The list of long tests names tests that there are, and leaves short ones beside them."""

from __future__ import annotations

import ast
from functools import cache

from support.source import REPOSITORY

LISTED = (REPOSITORY / "tests" / "long_tests.txt").read_text(encoding="utf-8").splitlines()


@cache
def functions(file: str) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
    return {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}


def test_every_line_names_a_test() -> None:
    for line in LISTED:
        file, _, name = line.partition("::")
        assert name.partition("[")[0] in functions(file), line


def test_the_list_is_sorted_and_has_no_line_twice() -> None:
    assert sorted(set(LISTED)) == LISTED


def test_no_file_is_left_out_of_the_short_run() -> None:
    whole = {line for line in LISTED if "[" not in line}
    for file in {line.partition("::")[0] for line in whole}:
        tests = {one for one in functions(file) if one.startswith("test_")}
        assert any(f"{file}::{one}" not in whole for one in tests), file
