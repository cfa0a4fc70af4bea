"""Measuring commands: CPU seconds, seconds and peak memory, the least of some runs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took: CPU seconds, seconds, and peak memory in megabytes."""

    cpu: float
    clock: float
    megabytes: float


def cost_of(command: Sequence[str], repeat: int) -> Cost:
    """Run a command some times, after once for what is compiled or simulated only once.

    The machine may be shared, so the run with the fewest CPU seconds counts.
    """
    run_once(command)
    return min((run_once(command) for _ in range(repeat)), key=lambda cost: cost.cpu)


def run_once(command: Sequence[str]) -> Cost:
    """Run a command in a process of its own."""
    # As users have it: Python keeps the modules that it has compiled.
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=usual
    )
    assert process.stderr is not None
    message = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: {message.decode(errors='replace')}")
    # Linux counts kilobytes, macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(used.ru_utime + used.ru_stime, clock, used.ru_maxrss / unit)


def machine() -> str:
    """Return what the figures were measured on."""
    cpu = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        lines = (line.partition(":") for line in listed.read_text(encoding="utf-8").splitlines())
        cpu = next((value.strip() for key, _, value in lines if key.strip() == "model name"), cpu)
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}"


def commit() -> str:
    """Return the commit that was measured, with a + if what is measured differs from it."""
    name = _git("rev-parse", "--short", "HEAD")
    return name + "+" * bool(_git("status", "--porcelain", "src", "benchmarks/*.py"))


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()
