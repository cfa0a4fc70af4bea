"""Generate two large views as Parquet files, in pieces, and their schema.

    python benchmarks/large_data.py FOLDER --entities 10000000 --flags 300 --numbers 300

Flags of the left view and numbers of the right follow eight hidden numbers of each entity, so that
there is something to be found. The rows of the right view are shuffled within each piece. With
2 000 000 entities, the files took 3.1 bytes a number and 0.14 bytes a flag.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyarrow import parquet

PIECE = 250_000
HIDDEN = 8
BOUND = 12


def main() -> None:
    """Read the command line, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entities", type=int, default=10_000_000)
    parser.add_argument("--flags", type=int, default=300)
    parser.add_argument("--numbers", type=int, default=300)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    write(given.folder, given.entities, given.flags, given.numbers)


def write(folder: Path, entities: int, flags: int, numbers: int) -> None:
    """Write left.parquet, right.parquet and datapackage.json into a folder."""
    generator = np.random.default_rng(5)
    to_flag = generator.normal(size=(HIDDEN, flags)).astype(np.float32)
    threshold = (generator.normal(size=flags) * 2).astype(np.float32)
    to_number = generator.normal(size=(HIDDEN, numbers)).astype(np.float32)
    names = [f"b{i}" for i in range(flags)], [f"x{i}" for i in range(numbers)]
    kinds = pa.bool_(), pa.float32()
    schemas = [
        pa.schema([("id", pa.int64()), *((name, kind) for name in side)])
        for side, kind in zip(names, kinds, strict=True)
    ]
    with (
        parquet.ParquetWriter(folder / "left.parquet", schemas[0]) as left,
        parquet.ParquetWriter(folder / "right.parquet", schemas[1], use_dictionary=False) as right,
    ):
        for first in range(0, entities, PIECE):
            rows = min(PIECE, entities - first)
            key = np.arange(first, first + rows)
            hidden = generator.normal(size=(rows, HIDDEN)).astype(np.float32)
            noise = generator.normal(size=(rows, 1)).astype(np.float32)
            flag = hidden @ to_flag + noise > threshold
            number = (hidden @ to_number + 0.5 * noise).round(2)
            order = generator.permutation(rows)
            left.write_table(_table(schemas[0], key, flag))
            right.write_table(_table(schemas[1], key[order], number[order]))
    resources = [_resource(side, names[side]) for side in (0, 1)]
    document = {"name": "large", "id": str(uuid4()), "resources": resources}
    (folder / "datapackage.json").write_text(json.dumps(document, indent=1))


def _table(schema: pa.Schema, key: np.ndarray, values: np.ndarray) -> pa.Table:
    columns = [pa.array(np.ascontiguousarray(column)) for column in values.T]
    return pa.Table.from_arrays([pa.array(key), *columns], schema=schema)


def _resource(side: int, names: list[str]) -> dict[str, Any]:
    number = {
        "type": "number",
        "constraints": {"required": True, "minimum": -BOUND, "maximum": BOUND},
        "redveil": {"cuts": {"method": "equal-width", "count": 20}},
    }
    flag = {"type": "boolean", "constraints": {"required": True}}
    fields = [{"name": "id", "type": "integer"}]
    fields += [{"name": name, **(number if side else flag)} for name in names]
    view = ("left", "right")[side]
    return {
        "name": view,
        "path": f"{view}.parquet",
        "schema": {"fields": fields, "primaryKey": "id"},
    }


if __name__ == "__main__":
    main()
