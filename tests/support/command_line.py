"""The command line called in this process, and a small clinic on disk for it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from redveil.cli import main
from redveil.data.synthetic import write_clinic


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., Outcome]


@dataclass(frozen=True)
class Clinic:
    """The files of a small clinic."""

    folder: Path
    left: Path
    right: Path
    schema: Path

    @classmethod
    def write(cls, folder: Path, patients: int = 300) -> Clinic:
        """Write the files."""
        return cls(folder, *write_clinic(folder, patients))

    @property
    def result(self) -> Path:
        """The result file of `mine`."""
        return self.folder / "result.json"

    @property
    def mine(self) -> list[object]:
        """The shortest command that mines the clinic."""
        return ["mine", self.left, self.right, "--epsilon", "1", "--output", self.result]

    def change_schema(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Edit the schema as its owner would."""
        raw = json.loads(self.schema.read_text(encoding="utf-8"))
        change(raw)
        self.schema.write_text(json.dumps(raw), encoding="utf-8")

    def set_budget(self, budget: Fraction) -> Path:
        """Declare a budget; return the default path of the ledger."""
        self.change_schema(lambda raw: raw["redveil"].update(budget=str(budget)))
        return self.folder / "datapackage.ledger.sqlite"

    def names(self) -> list[str]:
        """Return the names of the files in the folder."""
        return sorted(path.name for path in self.folder.iterdir())


class Typist(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


def caller(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `main` and returns its outcome."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["redveil", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        seen = capsys.readouterr()
        code = caught.value.code
        assert isinstance(code, int)
        return Outcome(code, seen.out, seen.err)

    return run


@pytest.fixture
def clinic_files(tmp_path: Path) -> Clinic:
    """Return the files of a small clinic."""
    return Clinic.write(tmp_path / "clinic")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs a command."""
    # pytest-xdist sets it, and output is as wide as it says.
    monkeypatch.delenv("COLUMNS", raising=False)
    return caller(monkeypatch, capsys)
