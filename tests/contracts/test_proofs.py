"""Every score and every mechanism points at a proof that is there."""

from __future__ import annotations

import re

import pytest

from redveil.privacy.score import Score
from redveil.trees import scores
from support.source import PACKAGE

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
