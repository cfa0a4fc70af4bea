"""The real console script, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REDVEIL = Path(sys.executable).parent / "redveil"


def redveil(
    *arguments: object, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; its output is UTF-8.

    variables: of the environment, in addition to the present ones
    """
    # pytest-xdist sets COLUMNS, and output is as wide as it says.
    present = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return subprocess.run(
        [str(REDVEIL), *map(str, arguments)],
        cwd=folder,
        env=present | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def is_one_line(text: str) -> bool:
    """Whether an error is one line that starts with the program's name."""
    return text.startswith("redveil: ") and text.count("\n") == 1 and text.endswith("\n")
