"""The deploy files name what there is: variables, folders, files, commands and options."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import uvicorn

from redveil.base.cache import VARIABLE
from redveil.server.settings import PREFIX, Settings
from support.source import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONTAINER = (REPOSITORY / "deploy" / "Containerfile").read_text(encoding="utf-8")
UNIT = (REPOSITORY / "deploy" / "redveil.service").read_text(encoding="utf-8")
FILES = {"container": CONTAINER, "unit": UNIT}
every_file = pytest.mark.parametrize("name", FILES)

SETTINGS = {PREFIX + name.upper(): name for name in Settings.model_fields}
# Where each instruction or key begins, comments left out and lines joined that go on.
LINES = {
    name: re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    for name, text in FILES.items()
}


def after(name: str, begin: str) -> list[str]:
    """Return what follows on the lines that begin so."""
    return [line.removeprefix(begin).strip() for line in LINES[name] if line.startswith(begin)]


def variables(name: str) -> dict[str, str]:
    """Return the variables that a file sets, and their values."""
    given = " ".join(after(name, "ENV " if name == "container" else "Environment="))
    return dict(pair.split("=", 1) for pair in shlex.split(given))


def writable(name: str) -> list[str]:
    """Return the folders that the server can write to."""
    if name == "container":
        return " ".join(after(name, "VOLUME ")).split()
    return [f"/var/lib/{one}" for one in " ".join(after(name, "StateDirectory=")).split()]


def paths(text: str) -> set[str]:
    """Return the absolute paths in a text, which are no part of an address."""
    return set(re.findall(r"(?<![\w.:/'\]-])/[\w.-]+(?:/[\w.-]+)*", text))


@every_file
def test_every_variable_is_read_by_something(name: str) -> None:
    # In comments, too: what they advise has to work.
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", FILES[name])) - {"AF_UNIX", "AF_INET"}
    read = SETTINGS.keys() | {VARIABLE, "PATH"}
    if "FORWARDED_ALLOW_IPS" in inspect.getsource(uvicorn.Config):
        read |= {"FORWARDED_ALLOW_IPS"}
    assert (named | variables(name).keys()) - read == set()


@every_file
def test_what_is_compiled_is_kept_where_the_server_can_write(name: str, tmp_path: Path) -> None:
    # The program itself is asked, with the folders of the file in a folder of the test.
    moved = {folder: tmp_path / folder.strip("/") for folder in writable(name)}
    for folder in moved.values():
        folder.mkdir(parents=True, mode=0o700)
    environment = {
        variable: re.sub(r"^/(?!opt)", f"{tmp_path}/", value)
        for variable, value in variables(name).items()
    }
    ask = (
        "import json; from redveil.base.cache import cache_of; from redveil.server.settings import "
        "Settings; known = Settings.read(); print(json.dumps([str(one) for one in ("
        "cache_of('kernels').folder, cache_of('noise').folder, known.data_folder.absolute(), "
        "known.key_file.absolute(), known.witness)]))"
    )
    # A system's user has no home.
    said = subprocess.run(
        [sys.executable, "-c", ask],
        env=environment | {"HOME": str(tmp_path / "none")},
        cwd=moved[writable(name)[0]],
        capture_output=True,
        text=True,
        check=True,
    )
    *used, witness = json.loads(said.stdout)
    for path in used:
        assert any(Path(path).is_relative_to(folder) for folder in moved.values()), path
    if name == "container":
        # Elsewhere than the database, so that one can be lost without the other.
        assert Path(witness).parent in moved.values()
        assert not Path(witness).is_relative_to(Path(used[2]).parent)


@every_file
def test_every_path_is_made_by_the_file_or_by_the_system(name: str) -> None:
    system = {"/dev/null", "/etc/systemd/system", "/etc/redveil", "/mnt/other", "/opt/redveil"}
    made = {*system, *writable(name)} | ({"/source"} if name == "container" else set())
    text = re.sub(r"^#.*\n", "", FILES[name], flags=re.MULTILINE)
    assert {
        path for path in paths(text) if not any(Path(path).is_relative_to(one) for one in made)
    } == set()


def test_the_container_copies_what_there_is_and_installs_what_the_project_has() -> None:
    for copied in after("container", "COPY "):
        if not copied.startswith("--from"):
            for source in copied.split()[:-1]:
                assert (REPOSITORY / source).exists(), source
    (extra,) = re.findall(r"/source\[(\w+)\]", CONTAINER)
    assert extra in PROJECT["optional-dependencies"]
    (python,) = set(re.findall(r"python:(3\.\d+)-", CONTAINER))
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
    known = Settings.read(None, variables("container"))
    assert {"EXPOSE " + str(known.port)} <= set(LINES["container"])
    assert set(after("container", "WORKDIR ")) <= set(writable("container"))
    known.must_be_safe()
    # The folders that are mounted must belong to the user of the server.
    (made,) = re.findall(r"install -d -o redveil -m 700 (.*)", CONTAINER)
    assert made.split() == writable("container")


def test_the_unit_waits_as_long_as_jobs_may_take_to_end() -> None:
    (seconds,) = after("unit", "TimeoutStopSec=")
    assert float(seconds) > Settings().shutdown_seconds
    assert set(after("unit", "WorkingDirectory=")) <= set(writable("unit"))
    # What the comment has written into the settings is a setting, and can be written to.
    advised = dict(re.findall(r"(\w+) = \"([^\"]+)\"", UNIT))
    assert {"folder", "witness"} == advised.keys() <= Settings.model_fields.keys()
    for path in advised.values():
        assert any(Path(path).is_relative_to(one) for one in writable("unit")), path
    (page,) = after("unit", "Documentation=")
    assert (REPOSITORY / page.partition("/tree/main/")[2]).exists()


@cache
def helped(*words: str) -> str:
    """Return the help of a command, or nothing if there is no such command."""
    said = subprocess.run(
        [sys.executable, "-m", "redveil", *words, "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
    )
    return said.stdout if said.returncode == 0 else ""


@every_file
def test_every_command_and_option_exists(name: str) -> None:
    text = re.sub(r"\\\n#?\s*", "", FILES[name])
    # A comment with `exec redveil redveil` names the container first.
    commands = re.findall(r"(?:bin/|exec redveil |exec )redveil ((?:[a-z]+[a-z-]* ?)+)(.*)", text)
    assert commands
    for words, options in commands:
        # The last word is an account, if it names no command.
        said = helped(*words.split()) if "issue-token" not in words else helped(*words.split()[:-1])
        assert said, words
        for option in re.findall(r"--[a-z-]+", options):
            assert option in said, option
