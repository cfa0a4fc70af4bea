"""The real console script, run as people run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REDVEIL = Path(sys.executable).parent / "redveil"


def redveil(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it printed is UTF-8."""
    return subprocess.run(
        [str(REDVEIL), *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def is_one_line(text: str) -> bool:
    """Whether an error is what people are promised: one line that says who speaks."""
    return text.startswith("redveil: ") and text.count("\n") == 1 and text.endswith("\n")
