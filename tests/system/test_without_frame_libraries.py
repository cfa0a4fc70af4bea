"""pandas and Polars are optional: everything but a frame of their own works without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
IN_PYTHON = """
import redveil
from redveil.data.synthetic import clinic_frames, clinic_schema, write_clinic
from pathlib import Path

left, right, schema = write_clinic(Path("."), 400)
print(redveil.draft(left, right).schema.left.key)
print(redveil.draft(*clinic_frames(50)).schema.right.key)
dataset = redveil.load(left, right, schema)
print(repr(dataset))
print(len(redveil.plan(1, 400, dataset.schema).steps) > 1)
result = redveil.mine(dataset, 5)
result.save("result.json")
print(redveil.truth(redveil.Result.read("result.json"), dataset).to_arrow().num_columns > 0)
for frame in (result.to_pandas, result.to_polars):
    try:
        frame()
    except redveil.InputError as error:
        print(error)
"""
COMMANDS = """
from redveil.cli import main

sys.argv = ["redveil", *{arguments!r}]
main()
"""


def run(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        # pytest-xdist sets the width of a terminal.
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_needs_no_frame_library(tmp_path: Path) -> None:
    assert run(IN_PYTHON, tmp_path).splitlines() == [
        "patient",
        "patient",
        "<Dataset clinic: 18 left and 14 right attributes>",
        "True",
        "True",
        "pandas is not installed; run pip install 'redveil[pandas]', or use to_arrow",
        "polars is not installed; run pip install 'redveil[polars]', or use to_arrow",
    ]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a demo that ran without a frame library."""
    folder = tmp_path_factory.mktemp("demo")
    run(COMMANDS.format(arguments=("demo", "clinic", "--patients", "400")), folder)
    return folder


TABLES = ("clinic/diagnoses.csv", "clinic/laboratory.csv")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("show", "clinic/result.json"), "Privacy certificate"),
        (("show", "clinic/result.json", "--format", "csv"), "left,right,jaccard"),
        (("show", "clinic/result.json", "--format", "html"), "<table"),
        (("plan", "--epsilon", "1"), "strongly related"),
        (("ask", "clinic/result.json"), "leaves on the left"),
        (("mine", *TABLES, "--epsilon", "1"), "Privacy certificate"),
        (("truth", "clinic/result.json", *TABLES), "Privacy certificate"),
        (("schema", "draft", *TABLES), "entity key"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_command_line_needs_no_frame_library(
    demo: Path, arguments: tuple[str, ...], shown: str
) -> None:
    assert shown in run(COMMANDS.format(arguments=arguments), demo)


def test_the_libraries_are_really_absent(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="No module named 'polars'"):
        run("import polars", tmp_path)
