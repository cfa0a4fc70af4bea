"""The default run on large Parquet files: seconds, peak memory, and the certificate.

    python benchmarks/large_run.py FOLDER [--entities 10000000] [--output docs/evidence/large.md]

The files are generated into FOLDER unless they are there (`benchmarks/large_data.py`). Memory is
sampled while the command runs, so that loading and mining can be told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import large_data
from measuring import commit, machine

EPSILON = "1"
# How often memory is looked at, and the steps of the curve that the page shows.
SAMPLE_SECONDS = 0.5
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command took: seconds, CPU seconds, the peak in GB, and GB by the second."""

    clock: float
    cpu: float
    peak: float
    curve: list[tuple[float, float]]


def run(command: list[str]) -> Ran:
    """Run a command, and watch its memory."""
    curve: list[tuple[float, float]] = []
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None

    def watch() -> None:
        status = Path(f"/proc/{process.pid}/statm")
        page = os.sysconf("SC_PAGE_SIZE")
        while status.exists():
            try:
                pages = int(status.read_text().split()[1])
            except (OSError, IndexError):
                return
            curve.append((time.perf_counter() - begin, pages * page / 1e9))
            time.sleep(SAMPLE_SECONDS)

    threading.Thread(target=watch, daemon=True).start()
    message = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    clock = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(message.decode(errors="replace"))
    return Ran(clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6, curve)


def page(entities: int, flags: int, numbers: int, ran: Ran, result: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    certificate = result["certificate"]
    size = result["entities"]
    stays = entities * (flags / 8 + numbers) / 1e9
    command = (
        f"python benchmarks/large_run.py FOLDER --entities {entities} --flags {flags} "
        f"--numbers {numbers} --output docs/evidence/large.md"
    )
    step = max(len(ran.curve) // SHOWN, 1)
    curve = "\n".join(f"| {at:.0f} | {held:.1f} |" for at, held in ran.curve[::step])
    listed = "\n".join(
        f"| `{one['left']['text']}` | `{one['right']['text']}` | {one['jaccard']['estimate']:.2f} |"
        for one in result["redescriptions"][:5]
    )
    return f"""# Large data, measured

Written by `{command}` on
{datetime.now(UTC):%Y-%m-%d}, commit {commit()}, on {machine()}. [What the figures
mean](../explanation/speed.md).

`redveil mine left.parquet right.parquet --epsilon {EPSILON}` on {entities:,} entities,
{flags} Boolean and {numbers} numeric columns, in Parquet files: **{ran.clock:.0f} s**,
{ran.cpu:.0f} CPU s, at most **{ran.peak:.1f} GB** of memory. One byte a number and one bit a flag
are {stays:.1f} GB: the peak is {ran.peak / stays:.1f} times what stays.

| s | GB |
| ---: | ---: |
{curve}

The certificate: ε = {certificate["epsilon"]}, δ = {certificate["delta"]},
{certificate["guarantee"]}; {len(certificate["steps"])} steps of `{certificate["algorithm"]}`
({certificate["profile"]}). Noisy number of entities: {size["estimate"]:,.0f}
[{size["low"]:,.0f}, {size["high"]:,.0f}]. The first of {len(result["redescriptions"])}
redescriptions:

| left | right | Jaccard |
| --- | --- | ---: |
{listed}
"""


def main() -> None:
    """Generate, mine, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entities", type=int, default=10_000_000)
    parser.add_argument("--flags", type=int, default=300)
    parser.add_argument("--numbers", type=int, default=300)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    shape = given.entities, given.flags, given.numbers
    given.folder.mkdir(parents=True, exist_ok=True)
    if not (given.folder / "datapackage.json").exists():
        large_data.write(given.folder, *shape)
    left, right, schema, result = (
        str(given.folder / name)
        for name in ("left.parquet", "right.parquet", "datapackage.json", "result.json")
    )
    program = str(Path(sys.executable).with_name("redveil"))
    asked = ["--schema", schema, "--epsilon", EPSILON, "-q", "--output", result]
    ran = run([program, "mine", left, right, *asked])
    text = page(*shape, ran, json.loads(Path(result).read_text(encoding="utf-8")))
    if given.output is None:
        print(text)
    else:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
