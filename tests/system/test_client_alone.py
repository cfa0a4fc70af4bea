"""The client as a distribution of its own: nothing that mines is installed, and it still works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from support.connecting import working
from support.served import Served, served
from support.source import REPOSITORY

CLIENT = REPOSITORY / "packages" / "client"
PROJECT = tomllib.loads((CLIENT / "pyproject.toml").read_text(encoding="utf-8"))
WHOLE = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
ABSENT = ("numba", "opendp", "scipy", "pyarrow")

PROGRAM = """
import json, sys
import redveil

address, token, key = sys.argv[1:]
with redveil.connect(address, token, key=key) as server:
    result = server.dataset("clinic").mine(5, depth=1, trials=1)
ends = result.document.tree_pairs[0]
answer = result.ask(ends.left.ends[0].text, ends.right.ends[0].text)
try:
    redveil.mine
except AttributeError as error:
    said = str(error)
loaded = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([result.certificate.epsilon, answer.cost, said, sorted(loaded)]))
"""


def test_the_client_has_the_version_and_the_bounds_of_the_whole() -> None:
    assert PROJECT["project"]["version"] == WHOLE["project"]["version"]
    assert set(PROJECT["project"]["dependencies"]) < set(WHOLE["project"]["dependencies"])
    assert PROJECT["build-system"] == WHOLE["build-system"]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the client and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("client")
    venv.create(folder / "environment", with_pip=False, symlinks=True)
    (packages,) = (folder / "environment").rglob("site-packages")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=CLIENT, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for name in closure(PROJECT["project"]["dependencies"]):
        for top in tops(name):
            if not (packages / top.name).exists():
                (packages / top.name).symlink_to(top)
    return folder / "environment" / "bin" / "python"


def closure(requirements: list[str]) -> set[str]:
    """Return the distributions that some requirements lead to."""
    found: set[str] = set()
    open_ = [Requirement(text) for text in requirements]
    while open_:
        one = open_.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(name)
            open_ += [Requirement(text) for text in distribution(name).requires or ()]
    return found


def tops(name: str) -> Iterator[Path]:
    """Yield what a distribution has put into site-packages."""
    installed = distribution(name)
    for file in installed.files or ():
        if not file.parts[0].startswith("..") and file.parts[0] != "__pycache__":
            yield Path(str(installed.locate_file(file.parts[0])))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as made, working(made):
        yield made


def test_it_mines_and_asks_without_what_mines(python: Path, place: Served, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(place.store.signer.public.to_pem())
    for name in ABSENT:
        missing = subprocess.run([python, "-c", f"import {name}"], check=False, capture_output=True)
        assert missing.returncode, name
    arguments = [place.url, place.people.secrets["ana"], key]
    done = subprocess.run(
        [python, "-I", "-c", PROGRAM, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    epsilon, cost, said, loaded = json.loads(done.stdout)
    assert (epsilon, cost) == ("5", 0)
    assert said == "redveil-client has no mine; install redveil"
    assert not {*ABSENT} & {*loaded}


def test_its_commands_start(python: Path, place: Served, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(place.people.secrets["ana"])

    def run(*arguments: Any) -> str:
        program = "import sys; from redveil.cli import main; main()"
        return subprocess.run(
            [python, "-I", "-c", program, *map(str, arguments)],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
        ).stdout

    there = ("--server", place.url, "--token-file", token)
    assert "remote" in run("--help")
    assert "clinic" in run("remote", "datasets", *there)
    run("remote", "mine", "clinic", "-e", "5", "--depth", "1", "--trials", "1", "-q", *there)
    assert "1 left" in run("ask", "result.json")
    assert "certificate" in run("show", "result.json")
    run("report", "result.json")


def test_connecting_imports_nothing_that_touches_rows() -> None:
    program = (
        "import sys, redveil\n"
        "redveil.connect('https://a.example', 'redveil_some_token').close()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    loaded = done.stdout.split()
    assert "httpx" in loaded
    heavy = {*ABSENT, "numpy", "pandas", "polars", "matplotlib"}
    assert not heavy & {name.partition(".")[0] for name in loaded}
    ours = {name.split(".")[1] for name in loaded if name.startswith("redveil.")}
    assert ours == {"base", "client", "errors", "signing", "wire"}
