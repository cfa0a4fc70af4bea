"""Who may open a seal, and who may make what proves a payment."""

from __future__ import annotations

import ast

import pytest

from support.source import calls, mentions, modules

# name → the modules that may call it
DOORS = {
    "open_paid": {"privacy/mechanisms.py"},
    # The published profile is for data that is not sensitive; its certificates say so.
    "open_for_owner": {
        "owner.py",
        # For redveil-research, which is for who owns the data.
        "seam/truth.py",
        "seam/walks.py",
        "algorithms/published.py",
    },
    "Released": {"privacy/mechanisms.py", "sealed.py"},
    "Receipt": {"privacy/purse.py"},
    "_contents": {"sealed.py"},
    # A purse issues receipts: a run has one.
    "Purse": {"algorithms/run.py"},
    # Only the size and a scout are paid for before there is a plan.
    "plan_ahead": {"algorithms/run.py"},
}
# What proves a payment or holds a secret.
GUARDED = ("Receipt", "Released", "Sealed", "Purse")
# Where receipts and purses keep their state, and where that may be touched.
STATE = ("_unused", "_open", "_ahead")
KEEPERS = ("sealed.py", "privacy/purse.py")


def may_use(name: str, module: str) -> bool:
    return module in DOORS[name]


@pytest.mark.parametrize("name", DOORS)
def test_a_door_is_used_by_its_keepers_only(name: str) -> None:
    users = {module for module, tree in modules().items() if name in calls(tree)}
    assert {module for module in users if not may_use(name, module)} == set()
    # A contract about a name that nobody uses any more would never fail.
    assert users


@pytest.mark.parametrize("name", ["open_paid", "open_for_owner", "_contents", "plan_ahead"])
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


def test_a_run_opens_one_purse() -> None:
    for module in DOORS["Purse"]:
        assert list(calls(modules()[module])).count("Purse") == 1


def copies(tree: ast.Module, *, of_self: bool) -> list[str]:
    """Return the ways in which a module could copy a receipt with another price.

    of_self: whether `replace(self, …)` is allowed, in classes that are not receipts
    """
    fine: set[ast.expr] = set()
    if of_self:
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="replace") as called, args=[ast.Name(id="self")]):
                    fine.add(called)
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="dataclasses" | "copy" as module, names=names):
                taken = [alias for alias in names if alias.name == "replace"]
                if any(alias.asname or module == "copy" or not of_self for alias in taken):
                    found.append(f"from {module} import replace")
            case ast.Attribute(value=ast.Name(id="dataclasses" | "copy"), attr="replace"):
                found.append("dataclasses.replace")
            case ast.Name(id="replace") if node not in fine:
                found.append("replace")
    return found


def test_receipts_are_not_changed_in_copies() -> None:
    # dataclasses.replace(receipt, price=...) would be a way around the purse.
    words = ("Receipt", "receipt", "receipts", "Purse", "purse")
    holders = {
        module: tree
        for module, tree in modules().items()
        if any(mentions(tree, word) for word in words)
    }
    assert {"privacy/mechanisms.py", "algorithms/twin.py"} <= set(holders)
    # Algorithms copy themselves when they are tuned; where receipts are made, nothing is copied.
    inside = ("sealed.py", "privacy/")
    found = {
        module: faults
        for module, tree in holders.items()
        if (faults := copies(tree, of_self=not module.startswith(inside)))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "replace(receipt, price=1)",
        "replace(self.receipt, price=1)",
        "change = replace",
        "partial(replace, receipt)",
        "from dataclasses import replace as change",
        "dataclasses.replace(self, price=1)",
        "from copy import replace",
        "copy.replace(receipt, price=1)",
    ],
)
def test_every_way_to_copy_a_receipt_is_seen(line: str) -> None:
    assert copies(ast.parse(line), of_self=True)
    assert copies(ast.parse(line), of_self=False)
    assert not copies(ast.parse("replace(self, depth=1)"), of_self=True)
    assert copies(ast.parse("replace(self, price=1)"), of_self=False)


def detours(tree: ast.Module, *, keeper: bool = False) -> list[str]:
    """Return ways around the doors: other names, subclasses, borrowed state, names as text.

    keeper: whether the module is one that keeps the state of receipts and purses
    """
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.alias(name=name, asname=str(other)) if name.rpartition(".")[2] in GUARDED:
                found.append(f"{name} as {other}")
            case ast.ClassDef(bases=bases):
                names = {getattr(base, "id", getattr(base, "attr", "")) for base in bases}
                found += [f"a subclass of {name}" for name in names & set(GUARDED)]
            case ast.Attribute(attr=name) if name in STATE and not keeper:
                found.append(name)
            case ast.Name(id="deepcopy") | ast.Attribute(attr="deepcopy"):
                found.append("deepcopy")
            case ast.Call(func=ast.Call(func=ast.Name(id="type"))):
                found.append("a class taken from an instance")
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                if name in DOORS or name in STATE:
                    found.append(f"getattr(…, {name!r})")
    return found


@pytest.mark.parametrize("module", modules())
def test_nobody_takes_a_detour_around_a_door(module: str) -> None:
    assert detours(modules()[module], keeper=module in KEEPERS) == []


@pytest.mark.parametrize(
    "line",
    [
        "from redveil.sealed import Receipt as R",
        "from redveil.losses.plan import Purse as Wallet",
        "class Free(Receipt): ...",
        "class Free(sealed.Released): ...",
        "receipt._unused.append(True)",
        "purse._open[key] = step",
        "purse._ahead.clear()",
        "copy.deepcopy(receipt)",
        "deepcopy(receipt)",
        "type(receipt)(key, 'count', 1)",
        "getattr(purse, 'plan_ahead')(step)",
        "getattr(receipt, '_unused')",
    ],
)
def test_every_detour_is_seen(line: str) -> None:
    assert detours(ast.parse(line))
