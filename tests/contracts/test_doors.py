"""Who may open a seal, and who may make what proves a payment."""

from __future__ import annotations

import ast

import pytest

from support.source import calls, mentions, modules

# name → the modules that may call it
DOORS = {
    "open_paid": {"privacy/mechanisms.py"},
    # The published profile is for data that is not sensitive; its certificates say so.
    "open_for_owner": {"owner.py", "diagnosis.py", "algorithms/published.py"},
    "Released": {"privacy/mechanisms.py", "sealed.py"},
    "Receipt": {"privacy/plan.py"},
    "_contents": {"sealed.py"},
    # A purse issues receipts: a run has one, its size and bought cut points have their own.
    "Purse": {"privacy/plan.py", "algorithms/run.py"},
    "purse": {"algorithms/size.py", "algorithms/cut_points.py"},
}
# Rooms that are for the owner as a whole, and that no analyst's code imports.
OWNERS_ROOMS = ("audit/", "baselines/")


def may_use(name: str, module: str) -> bool:
    return module in DOORS[name] or (name == "open_for_owner" and module.startswith(OWNERS_ROOMS))


@pytest.mark.parametrize("name", DOORS)
def test_a_door_is_used_by_its_keepers_only(name: str) -> None:
    users = {module for module, tree in modules().items() if name in calls(tree)}
    assert {module for module in users if not may_use(name, module)} == set()
    # A contract about a name that nobody uses any more would never fail.
    assert users


@pytest.mark.parametrize("name", ["open_paid", "open_for_owner", "_contents"])
def test_nobody_else_takes_a_door_along_under_another_name(name: str) -> None:
    holders = {module for module, tree in modules().items() if mentions(tree, name)}
    assert {module for module in holders if not may_use(name, module)} <= {"sealed.py"}


def test_nobody_reaches_around_the_seal() -> None:
    def reaches(node: ast.AST) -> bool:
        match node:
            case ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                return "_Sealed__" in name
        return False

    found = {module for module, tree in modules().items() if any(map(reaches, ast.walk(tree)))}
    assert found == {"sealed.py"}


def test_receipts_are_not_changed_in_copies() -> None:
    # dataclasses.replace(receipt, epsilon=...) would be a way around the purse.
    def copies(node: ast.AST) -> bool:
        match node:
            case ast.ImportFrom(module="dataclasses" | "copy", names=names):
                return any(alias.name == "replace" for alias in names)
            case ast.Attribute(value=ast.Name(id="dataclasses" | "copy"), attr="replace"):
                return True
        return False

    words = ("Receipt", "receipt", "receipts", "Purse", "purse")
    holders = {
        module for module, tree in modules().items() if any(mentions(tree, word) for word in words)
    }
    assert "privacy/mechanisms.py" in holders
    found = {module for module in holders if any(map(copies, ast.walk(modules()[module])))}
    assert found == set()
