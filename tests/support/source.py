"""The package's source, as contracts read it: text and syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "redveil"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module, by its path within the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def called_name(call: ast.Call) -> str:
    """Return the last part of what is called: `f` in `f()` and in `a.b.f()`."""
    match call.func:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=ast.Name(name)):
            return name
    return ""


def calls(tree: ast.AST) -> Iterator[str]:
    """Yield the names of everything that is called."""
    return (called_name(node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def mentions(tree: ast.AST, name: str) -> bool:
    """Whether a name is used or imported in any way, under its own name."""
    return any(
        (isinstance(node, ast.Name) and node.id == name)
        or (isinstance(node, ast.Attribute) and node.attr == name)
        or (isinstance(node, ast.alias) and node.name.rpartition(".")[2] == name)
        for node in ast.walk(tree)
    )


def public_definitions(tree: ast.Module) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yield public functions and classes, and the public methods of public classes."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, Function) and not inner.name.startswith("_"):
                        yield f"{node.name}.{inner.name}", inner
