"""Terminals and pipes that are not UTF-8, and the program called as a module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from redveil.cli.encoding import SPELLED, adapt, spelled, spelled_view
from redveil.report.result import Result
from support.command_line import Clinic
from support.console import REDVEIL, is_one_line
from support.results import document, redescription

ODD = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "cp437": {"PYTHONIOENCODING": "cp437"},
    "latin-1": {"PYTHONIOENCODING": "latin-1:strict"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def run(name: str, *arguments: object, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose streams have an encoding."""
    clean = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "PYTHONIOENCODING")}
    return subprocess.run(
        [str(REDVEIL), *map(str, arguments)],
        cwd=folder,
        env=clean | ODD[name],
        capture_output=True,
        check=False,
        timeout=120,
    )


def decoded(text: bytes, name: str) -> str:
    return text.decode("ascii" if name == "C" else name)


@pytest.mark.parametrize("name", ["ascii", "cp437", "C"])
def test_a_run_succeeds_on_every_terminal(name: str, clinic_files: Clinic) -> None:
    done = run(name, *clinic_files.mine, folder=clinic_files.folder)
    assert done.returncode == 0, done.stderr
    promise = spelled("ε = 1, δ = 0, exact", "ascii" if name == "C" else name)
    assert promise in decoded(done.stdout, name)
    assert decoded(done.stderr, name).endswith(f"written to {clinic_files.result}\n")
    # The file does not depend on the terminal.
    text = clinic_files.result.read_bytes().decode("utf-8")
    assert "ε" in text
    assert Result.read(clinic_files.result).to_json() == text


@pytest.mark.parametrize("name", ODD)
def test_an_error_succeeds_in_being_one_line(name: str, tmp_path: Path) -> None:
    failed = run(name, "show", "größer ≤ 字.json", folder=tmp_path)
    assert failed.returncode == 2
    assert is_one_line(decoded(failed.stderr, name))
    assert "no such file" in decoded(failed.stderr, name)


def test_a_name_that_is_no_text_at_all_is_one_line_too(tmp_path: Path) -> None:
    failed = subprocess.run(
        [os.fsencode(REDVEIL), b"show", b"\xff\xfe.json"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert failed.returncode == 2
    assert is_one_line(failed.stderr.decode("utf-8"))


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("form", ["csv", "html"])
def test_what_is_meant_for_a_file_stays_utf_8(form: str, name: str, tmp_path: Path) -> None:
    Result(document(redescription("größer ≤ 字"))).save(tmp_path / "result.json")
    shown = run(name, "show", "result.json", "--format", form, folder=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert "字" in shown.stdout.decode("utf-8")


@pytest.mark.parametrize("name", ODD)
def test_json_says_the_same_in_every_encoding(name: str, clinic_files: Clinic) -> None:
    clinic_files.change_schema(lambda raw: raw.update(name="größer ≤ 字"))
    told = run(name, "budget", clinic_files.schema, "--json", folder=clinic_files.folder)
    assert (told.returncode, told.stderr) == (0, b"")
    assert json.loads(told.stdout)["dataset"] == "größer ≤ 字"


def test_a_result_on_standard_output_is_the_file(clinic_files: Clinic) -> None:
    clinic_files.change_schema(lambda raw: raw.update(name="größer ≤ 字"))
    done = run("cp1252", *clinic_files.mine[:-1], "-", folder=clinic_files.folder)
    assert done.returncode == 0
    clinic_files.result.write_bytes(done.stdout)
    assert Result.read(clinic_files.result).certificate.schema_name == "größer ≤ 字"


def test_columns_stay_aligned_when_characters_are_spelled_out() -> None:
    table = Table("ε: size", "δ", box=None, show_footer=True)
    table.columns[0].footer = "±"
    table.add_row("1", Text("≤ x", "bold"))
    table.add_row("100/7", "y")
    console = Console(file=StringIO(), width=80, highlight=False)
    console.print(spelled_view(table, "ascii"))
    assert isinstance(console.file, StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == [
        " epsilon: size  delta",
        " 1              <= x",
        " 100/7          y",
        " +/-",
    ]


def test_styles_stay_where_they_were() -> None:
    text = Text.assemble("ε ", ("≤ 1", "bold"), " δ")
    new = spelled_view(text, "ascii")
    assert isinstance(new, Text)
    assert new.plain == "epsilon <= 1 delta"
    assert [new.plain[one.start : one.end] for one in new.spans] == ["<= 1"]


@pytest.mark.parametrize("character", SPELLED)
def test_everything_spelled_out_is_ascii_and_short(character: str) -> None:
    assert spelled(character, "ascii").isascii()
    assert len(SPELLED[character]) <= 8
    assert spelled(character, "utf-8") == character


def test_names_stay_distinct_where_they_have_no_letters() -> None:
    assert spelled("字", "ascii") != spelled("年", "ascii")
    assert spelled("Größe", "ascii") == "Gro\\xdfe"


def test_a_stream_that_is_missing_or_odd_is_left_alone() -> None:
    adapt(None)
    adapt(StringIO())
    stream = TextIOWrapper(BytesIO(), encoding="ascii")
    with pytest.raises(UnicodeEncodeError):
        stream.write("ε")
    adapt(stream)
    stream.write("ε")


# -- python -m redveil ----------------------------------------------------------------------------


def as_module(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "redveil", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def test_the_package_can_be_run_as_a_module(tmp_path: Path) -> None:
    assert as_module("--help", folder=tmp_path).stdout.startswith("Usage: python -m redveil")
    assert as_module("--version", folder=tmp_path).stdout.startswith("redveil ")
    refused = as_module("show", "gone.json", folder=tmp_path)
    assert refused.returncode == 2
    assert is_one_line(refused.stderr)
    assert "python -m redveil mine --help" in as_module("mine", folder=tmp_path).stderr


def test_the_demo_says_how_to_go_on(tmp_path: Path) -> None:
    done = as_module("demo", "--patients", "50", folder=tmp_path)
    assert done.returncode == 0
    last = "next: python -m redveil show demo-output/result.json --plan\n"
    assert done.stderr.endswith(last)
