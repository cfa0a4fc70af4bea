"""What an experiment leaves behind: findings and runs as Parquet, with their provenance.

NOT private: they contain true values.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import redveil
from redveil_research.experiments.paper.pooled import LIMIT
from redveil_research.experiments.runs import Finding, Run, code_name


def provenance(runs: Sequence[Run], command: str) -> dict[str, str]:
    """Return where numbers come from: program, code, command, machine, time.

    >>> provenance([], "redveil experiment paper")["command"]
    'redveil experiment paper'
    """
    return {
        "warning": "NOT PRIVATE: this file contains true values",
        "redveil": str(redveil.__version__),
        "code": code_name(),
        "codes": ",".join(sorted({run.code for run in runs})),
        "command": command,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def write_parquet(runs: Sequence[Run], folder: Path, command: str) -> tuple[Path, Path]:
    """Write one row for each finding, and one for each run."""
    told = {key.encode(): value.encode() for key, value in provenance(runs, command).items()}
    keys = ("data", "algorithm", "epsilon", "number", "settings", "code")
    rows = [
        {key: getattr(run, key) for key in keys}
        | one._asdict()
        | {"significant": one.p_value <= LIMIT}
        for run in runs
        for one in run.findings
    ]
    plain = [
        {key: getattr(run, key) for key in (*keys, "seconds", "cpu", "shape", "found", "worth")}
        | {"findings": len(run.findings)}
        for run in runs
        if not run.histogram
    ]
    texts = {key: pa.string() for key in keys} | {"number": pa.int64()}
    kinds = texts | dict.fromkeys(Finding._fields, pa.float64()) | {"significant": pa.bool_()}
    more = {"seconds": pa.float64(), "cpu": pa.float64(), "shape": pa.string(), "found": pa.int64(),
            "worth": pa.float64(), "findings": pa.int64()}  # fmt: skip
    paths = folder / "findings.parquet", folder / "runs.parquet"
    for path, lines, schema in zip(paths, (rows, plain), (kinds, texts | more), strict=True):
        table = pa.Table.from_pylist(lines, schema=pa.schema(list(schema.items()), metadata=told))
        part = path.with_name(f"{path.name}.part")
        pq.write_table(table, part)
        part.replace(path)
    return paths
