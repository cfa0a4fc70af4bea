"""Run programs as a user without a name and without root's rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import lru_cache

import pytest

SOMEBODY = 12345
START = ("setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups")


def unobserved() -> dict[str, str]:
    """The environment without coverage's variables.

    Coverage writes a file as a program ends. A program that may not write, and is to say so in
    one line, cannot be observed like that.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def must_become_somebody() -> None:
    """Skip a test unless we can become another user, who can read this installation."""
    if os.geteuid() or shutil.which("setpriv") is None:
        pytest.skip("only root can become a user without a name")
    if not _can_run():
        pytest.skip("other users cannot read this installation")


@lru_cache(maxsize=1)
def _can_run() -> bool:
    program = [*START, sys.executable, "-c", "import numpy, redveil.errors"]
    return subprocess.run(program, capture_output=True, check=False, timeout=60).returncode == 0
