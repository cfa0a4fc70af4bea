"""The list of defences fits the program: what it takes out is there, and so are its tests."""

from __future__ import annotations

import ast
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any

import pytest

from support.source import PACKAGE, REPOSITORY


def loaded_script() -> Any:
    """Return scripts/defences as a module; it has no suffix, so `import` does not find it."""
    name = "defences_script"
    spec = spec_from_loader(name, SourceFileLoader(name, str(REPOSITORY / "scripts" / "defences")))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = loaded_script()
DEFENCES = SCRIPT.read_list()
every_defence = pytest.mark.parametrize("defence", DEFENCES, ids=lambda one: one.name)


@every_defence
def test_what_is_taken_out_is_there_and_the_rest_is_a_program(defence: Any) -> None:
    text = (PACKAGE / defence.file).read_text(encoding="utf-8")
    assert text.count(defence.before) == 1
    without = ast.parse(defence.removed_from(text))
    assert ast.dump(without) != ast.dump(ast.parse(text))


@every_defence
def test_the_tests_that_must_fail_are_there(defence: Any) -> None:
    assert defence.tests
    for test in defence.tests:
        file, _, name = test.partition("::")
        assert file.startswith("tests/")
        tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name.partition("[")[0] in functions


def test_every_defence_has_a_name_of_its_own_and_a_place_in_the_list() -> None:
    names = [one.name for one in DEFENCES]
    assert len(set(names)) == len(names)
    parts = [one.part for one in DEFENCES]
    assert parts == sorted(parts, key=parts.index), "what belongs to one part stands together"


@pytest.mark.parametrize("times", [0, 2])
def test_a_text_that_is_not_there_once_is_a_mistake(times: int) -> None:
    with pytest.raises(SCRIPT.MistakeError, match=f"occurs {times} times"):
        DEFENCES[0].removed_from(DEFENCES[0].before * times)


ONE, TWO = "tests/a.py::test_one", "tests/a.py::test_two[x]"


@pytest.mark.parametrize(
    ("code", "failed", "word"),
    [
        (1, {f"{ONE}[y]": "assert 1 == 2", TWO: "Failed: DID NOT RAISE"}, "caught"),
        (1, {ONE: "assert 1 == 2", TWO: "NameError: name 'x' is not defined"}, "BROKEN"),
        (1, {ONE: "assert 1 == 2"}, "SURVIVED"),
        (1, {ONE: "assert 1 == 2", "tests/a.py::test_two[xy]": "assert 0"}, "SURVIVED"),
        (1, {f"{ONE}_more": "assert 1 == 2", TWO: "assert 0"}, "SURVIVED"),
        (0, {}, "SURVIVED"),
        (2, {}, "BROKEN"),
        (4, {ONE: "assert 1 == 2", TWO: "assert 0"}, "BROKEN"),
        (98, {}, "BROKEN"),
    ],
)
def test_only_failures_of_every_named_test_count(
    code: int, failed: dict[str, str], word: str
) -> None:
    defence = SCRIPT.Defence("part", "name", "api.py", "before", "after", (ONE, TWO))
    assert SCRIPT.judge(defence, SCRIPT.Report(code, failed, "output"))[0] == word
