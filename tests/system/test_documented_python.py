"""The notebook tutorial runs, and the Python on other pages uses what there is."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redveil
from redveil.base.display import Displayed
from support.page import Page, must_be_ours
from support.source import REPOSITORY

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOK = REPOSITORY / "docs" / "tutorials" / "notebook.md"
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
WITH_PYTHON = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run_cell(cell: str, names: dict[str, Any]) -> object:
    """Run a block as a notebook does, and return the value of its last line, if it has one."""
    tree = ast.parse(cell)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_the_notebook_tutorial_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = []
    for cell in blocks(NOTEBOOK):
        value = run_cell(cell, names)
        shown.append(type(value).__name__)
        if isinstance(value, Displayed | redveil.Result):
            must_be_ours(Page(value._repr_html_()))
    assert shown == [
        *("DataFrame", "Draft", "Schema", "NoneType", "Dataset", "LoadReport"),
        *("NoneType", "Result", "DataFrame", "Answer", "Result", "Result"),
    ]
    assert "trial 1, leaf table 1, cells" in capsys.readouterr().out
    assert names["schema"].status == "declared"
    assert names["result"].certificate.unmet == ()
    assert len(names["result"]) > 0
    assert redveil.Schema.read("datapackage.json") == names["schema"]
    # Nothing in the schema is left as the draft took it from the data.
    drafted, declared = names["draft"].schema, names["schema"]
    for view, other in ((drafted.left, declared.left), (drafted.right, declared.right)):
        numeric = [one for one in view.attributes if one.kind == "numeric"]
        assert [one for one in numeric if one in other.attributes] == []


def test_the_notebook_tutorial_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved = []
    for _ in range(2):
        names: dict[str, Any] = {}
        for cell in blocks(NOTEBOOK):
            if cell.startswith("dataset ="):
                break
            run_cell(cell, names)
        saved.append(redveil.Schema.read("datapackage.json"))
    assert saved[0] == saved[1] == names["schema"]


def uses(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield every attribute that is looked up on a name: `mine` of `redveil` in `redveil.mine`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_python_on_every_page_uses_what_there_is(page: Path) -> None:
    known = {"redveil": redveil, "result": redveil.Result, "compared": redveil.Result}
    for block in blocks(page):
        tree = ast.parse(block)
        for name, attribute in uses(tree):
            if name in known:
                assert hasattr(known[name], attribute), f"{name}.{attribute}"
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            match call.func:
                case ast.Attribute(value=ast.Name("redveil"), attr=name):
                    taken = inspect.signature(getattr(redveil, name)).parameters
                    assert {one.arg for one in call.keywords} <= set(taken)


def test_there_is_python_to_look_at() -> None:
    assert {"README.md", "notebook.md", "analyst.md"} <= {page.name for page in WITH_PYTHON}
