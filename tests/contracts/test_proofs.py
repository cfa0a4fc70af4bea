"""Every score and every mechanism points at a proof that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from redveil.privacy.score import Score
from redveil.trees import scores
from support.source import PACKAGE, REPOSITORY

SCORES = {name: value for name, value in vars(scores).items() if isinstance(value, Score)}
MENTION = re.compile(r"proofs/[\w-]+\.md")


def mentioned() -> dict[str, set[str]]:
    """Return the proofs that each module speaks of."""
    found = {
        path.relative_to(PACKAGE).as_posix(): set(MENTION.findall(path.read_text("utf-8")))
        for path in PACKAGE.rglob("*.py")
    }
    return {module: proofs for module, proofs in sorted(found.items()) if proofs}


@pytest.mark.parametrize("name", SCORES)
def test_a_score_names_its_proof(name: str) -> None:
    proof = PACKAGE / SCORES[name].proof
    assert proof.is_file()
    assert proof.read_text(encoding="utf-8").startswith("# ")


def test_there_are_scores_and_mechanisms_to_speak_of() -> None:
    assert SCORES
    assert {"proofs/choose.md", "proofs/parallel.md", "proofs/count.md"} <= mentioned()[
        "privacy/mechanisms.py"
    ]


@pytest.mark.parametrize("module", mentioned())
def test_a_proof_that_is_spoken_of_is_there(module: str) -> None:
    missing = {name for name in mentioned()[module] if not (PACKAGE / "privacy" / name).is_file()}
    assert missing == set()


PROOFS = sorted((PACKAGE / "privacy" / "proofs").glob("*.md"))
CODE = re.compile(r"`([\w/]+\.py)`(?: \(((?:`[\w.]+`(?:, )?)+))?")
DOCUMENTS = ("docs/privacy-guarantee.md", "docs/known-limits.md", "README.md")


def code_of(proof: Path) -> list[tuple[Path, list[str]]]:
    """Return the files that a page names, each with the names that it says are in there."""
    text = proof.read_text(encoding="utf-8")
    return [
        (
            (REPOSITORY if path.startswith("tests/") else PACKAGE) / path,
            re.findall(r"[\w.]+", names.replace("`", " ")),
        )
        for path, names in CODE.findall(text)
    ]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.stem)
def test_a_proof_names_code_and_tests_that_exist(proof: Path) -> None:
    named = code_of(proof)
    assert any(path.is_relative_to(PACKAGE) for path, _ in named), "no code is named"
    assert any(path.is_relative_to(REPOSITORY / "tests") for path, _ in named), "no test is named"
    for path, names in named:
        assert path.is_file(), f"{path.name} is gone"
        text = path.read_text(encoding="utf-8")
        for name in names:
            last = name.rsplit(".", maxsplit=1)[-1]
            found = re.search(rf"^\s*(?:def|class) {last}\b|^{last}\b", text, re.MULTILINE)
            assert found, f"{path.name} has no {name}"


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.stem)
def test_a_reader_of_the_guarantee_reaches_every_proof(proof: Path) -> None:
    """From the theorem, by links and by pages that the linked pages name."""
    reached = set(
        re.findall(r"proofs/([\w-]+)\.md", (REPOSITORY / DOCUMENTS[0]).read_text("utf-8"))
    )
    for _ in PROOFS:
        for stem in tuple(reached):
            page = PACKAGE / "privacy" / "proofs" / f"{stem}.md"
            reached |= {
                other
                for other in re.findall(r"\b([\w-]+)\.md", page.read_text("utf-8"))
                if (page.parent / f"{other}.md").is_file()
            }
    assert proof.stem in reached


def test_what_a_page_says_is_missing_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Code: `trees/scores.py` (`LEVERAGE`, `NOTHING`).", encoding="utf-8")
    assert code_of(page) == [(PACKAGE / "trees/scores.py", ["LEVERAGE", "NOTHING"])]
