"""An installation that cannot be written to, used by somebody without a home or a name."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from redveil.base.cache import is_safe
from redveil.report.result import Result
from support.command_line import Clinic
from support.other_user import SOMEBODY, START, must_become_somebody
from support.source import PACKAGE

# Names of compiled kernels: the name of the function, and a digest.
CACHED = "*-" + 40 * "[0-9a-f]"


@pytest.fixture
def container() -> Iterator[Path]:
    """A copy of the package, a clinic, and an empty folder; all but the last are read-only."""
    must_become_somebody()
    # Not in tmp_path, whose folders only their owner may enter.
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        shutil.copytree(
            PACKAGE, root / "site" / "redveil", ignore=shutil.ignore_patterns("__pycache__")
        )
        Clinic.write(root / "clinic")
        (root / "work").mkdir()
        os.chown(root / "work", SOMEBODY, SOMEBODY)
        yield root


def as_somebody(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user without a name, in a clean environment."""
    return subprocess.run(
        [*START, sys.executable, "-m", "redveil", *arguments],
        cwd=root / "work",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(root / "site"), **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    "variables",
    [
        {},
        *(pytest.param({"HOME": home}, marks=pytest.mark.slow) for home in ("/nowhere", "")),
    ],
    ids=("none", "not there", "empty"),
)
def test_it_mines_and_leaves_nothing_behind(container: Path, variables: dict[str, str]) -> None:
    tables = [str(container / "clinic" / name) for name in ("diagnoses.csv", "laboratory.csv")]
    done = as_somebody(container, "mine", *tables, "-e", "1", **variables)
    assert (done.returncode, "internal error" in done.stderr) == (0, False), done.stderr
    assert Result.read(container / "work" / "result.json").certificate.epsilon == "1"
    # Not even a folder named "~".
    assert [path.name for path in (container / "work").iterdir()] == ["result.json"]
    assert not list((container / "site").rglob(CACHED))


@pytest.mark.slow
def test_a_home_that_can_be_written_to_keeps_compiled_code(container: Path) -> None:
    home = container / "work"
    tables = [str(container / "clinic" / name) for name in ("diagnoses.csv", "laboratory.csv")]
    done = as_somebody(container, "mine", *tables, "-e", "1", "-q", HOME=str(home))
    assert done.returncode == 0
    assert list((home / ".cache" / "redveil").rglob(CACHED))


def test_code_that_others_could_have_put_there_is_not_executed(container: Path) -> None:
    """A cache in a folder that everybody can write to is not used."""
    shared = container / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    tables = [str(container / "clinic" / name) for name in ("diagnoses.csv", "laboratory.csv")]
    done = as_somebody(container, "mine", *tables, "-e", "1", "-q", REDVEIL_CACHE_DIR=str(shared))
    assert done.returncode == 0
    assert not list(shared.rglob(CACHED))


def test_a_full_disk_for_compiled_code_is_no_reason_to_stop(container: Path) -> None:
    cache = container / "work" / "cache"
    cache.mkdir()
    os.chown(cache, SOMEBODY, SOMEBODY)
    program = (
        "import resource, numpy; "
        "from redveil.kernels.bits import ones; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        "print(int(ones(numpy.uint64(7))))"
    )
    done = subprocess.run(
        [*START, sys.executable, "-c", program],
        cwd=container / "work",
        env={"PYTHONPATH": str(container / "site"), "REDVEIL_CACHE_DIR": str(cache)},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    assert not list(cache.rglob(CACHED))


@pytest.mark.parametrize(
    ("owner", "mode", "safe"),
    [
        (None, 0o755, True),
        (None, 0o700, True),
        (None, 0o775, True),
        (None, 0o777, False),
        (None, 0o1777, True),
        (SOMEBODY, 0o755, False),
    ],
)
@pytest.mark.parametrize("below", [False, True])
def test_a_folder_is_safe_if_only_its_owner_and_we_can_write(
    owner: int | None,
    mode: int,
    safe: bool,  # noqa: FBT001 - a case of the test
    below: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    folder, source = tmp_path / "cache", tmp_path / "source.py"
    (folder / "below").mkdir(parents=True)
    source.write_text("")
    folder.chmod(mode)
    if owner is not None:
        if os.geteuid():
            pytest.skip("only root can give a folder away")
        os.chown(folder, owner, owner)
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    assert is_safe(folder / "below" if below else folder, source) == safe
