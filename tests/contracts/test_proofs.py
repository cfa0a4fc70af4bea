"""Every score and every mechanism has a proof; proofs stand beside the code and name it.

A proof is a Markdown file in the package. Python files name it by its path in the package, as in
`privacy/choose.md`; pages and proofs link to each other with relative links.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from redveil.losses.score import Score
from redveil.trees import scores
from support.source import PACKAGE, REPOSITORY, modules

PROOFS = sorted(PACKAGE.rglob("*.md"))
SECTIONS = ("Claim", "Code", "Tests", "Proof")
SCORES = {
    score.name: score
    for score in (*vars(scores).values(), scores.agreement(1))
    if isinstance(score, Score)
}
NOT_SCORES = {"__init__", "grid"}
MECHANISMS = {
    node.name: ast.get_docstring(node) or ""
    for node in modules()["privacy/mechanisms.py"].body
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
}

# A path in the package, with at least one folder; pages under docs/ are not proofs.
MENTION = re.compile(r"(?<![\w/.-])(?!docs/)((?:[a-z_]+/)+[\w-]+\.md)")
# `path.py`, and the names in brackets that it should define.
CODE = re.compile(r"`([\w/]+\.py)`(?:\s+\(((?:`[\w.]+`(?:,\s+)?)+))?")
LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)")


def mentioned() -> dict[str, set[str]]:
    """Return the proofs that each module names."""
    found = {
        path.relative_to(PACKAGE).as_posix(): set(MENTION.findall(path.read_text("utf-8")))
        for path in PACKAGE.rglob("*.py")
    }
    return {module: proofs for module, proofs in sorted(found.items()) if proofs}


def code_of(proof: Path) -> list[tuple[Path, list[str]]]:
    """Return the files that a proof names, each with the names that it should define."""
    return [
        (
            (REPOSITORY if path.startswith("tests/") else PACKAGE) / path,
            re.findall(r"[\w.]+", names.replace("`", " ")),
        )
        for path, names in CODE.findall(proof.read_text(encoding="utf-8"))
    ]


def links_of(page: Path) -> set[Path]:
    """Return the Markdown files that a page links to."""
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


def reachable(page: Path) -> set[Path]:
    """Return the proofs that can be reached from a page by links alone."""
    found: set[Path] = set()
    waiting = [page]
    while waiting:
        new = (links_of(waiting.pop()) & {proof.resolve() for proof in PROOFS}) - found
        found |= new
        waiting.extend(new)
    return found


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


every_proof = pytest.mark.parametrize("proof", PROOFS, ids=relative)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_names_its_proof(name: str) -> None:
    proof = PACKAGE / SCORES[name].proof
    assert proof.is_file()
    assert proof.with_suffix(".py").is_file(), "a score's proof stands beside the score"
    assert any(path == proof.with_suffix(".py") for path, _ in code_of(proof))


def test_every_score_module_defines_a_score_that_is_checked_here() -> None:
    folder = PACKAGE / "trees" / "scores"
    defined = {path.stem for path in folder.glob("*.py")} - NOT_SCORES
    assert defined == {Path(score.proof).stem for score in SCORES.values()}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_names_its_proof(name: str) -> None:
    named = MENTION.findall(MECHANISMS[name])
    assert f"privacy/{name}.md" in named


def test_the_mechanisms_are_found() -> None:
    assert set(MECHANISMS) == {"choose", "choose_tree", "count", "walk"}
    assert "privacy/parallel.md" in mentioned()["privacy/mechanisms.py"]


@pytest.mark.parametrize("module", mentioned())
def test_a_proof_that_a_module_names_exists(module: str) -> None:
    missing = {name for name in mentioned()[module] if not (PACKAGE / name).is_file()}
    assert missing == set()


@every_proof
def test_a_proof_has_the_usual_sections_in_order(proof: Path) -> None:
    text = proof.read_text(encoding="utf-8")
    assert text.startswith("# ")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert tuple(headings[: len(SECTIONS)]) == SECTIONS
    assert "∎" in text, "the proof has no end"


@every_proof
def test_a_proof_names_code_beside_it_and_tests_that_exist(proof: Path) -> None:
    named = code_of(proof)
    assert any(path.parent == proof.parent for path, _ in named), "no code beside it is named"
    assert any(path.is_relative_to(REPOSITORY / "tests") for path, _ in named), "no test is named"
    for path, names in named:
        assert path.is_file(), f"{path.name} does not exist"
        text = path.read_text(encoding="utf-8")
        for name in names:
            last = name.rsplit(".", maxsplit=1)[-1]
            found = re.search(rf"^\s*(?:def|class) {last}\b|^{last}\b", text, re.MULTILINE)
            assert found, f"{path.name} has no {name}"


@every_proof
def test_the_links_of_a_proof_lead_somewhere(proof: Path) -> None:
    assert {link for link in links_of(proof) if not link.is_file()} == set()


def test_a_reader_of_the_guarantee_reaches_every_proof_by_links() -> None:
    (guarantee,) = (REPOSITORY / "docs").rglob("privacy-guarantee.md")
    assert PROOFS
    assert {relative(proof) for proof in PROOFS if proof.resolve() not in reachable(guarantee)} == (
        set()
    )


def test_a_name_that_a_proof_gets_wrong_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("- `trees/tree.py` (`Tree`,\n  `NOTHING`)", encoding="utf-8")
    assert code_of(page) == [(PACKAGE / "trees/tree.py", ["Tree", "NOTHING"])]
