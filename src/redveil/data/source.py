"""Open files and frames of any supported kind."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from pathlib import Path

from redveil.data.arff import open_arff
from redveil.data.csv_file import open_csv
from redveil.data.frame import open_frame, open_parquet
from redveil.data.layout import Layout, guess_layout
from redveil.data.raw import Source, quietly, shown
from redveil.data.text_file import read_bytes
from redveil.errors import LoadError
from redveil.schema import Side, View


def open_source(given: object, side: Side, layout: Layout | None) -> Source:
    """Open a file, by the suffix of its path, or a pandas, Polars or Arrow table.

    If `layout` is None, the layout of a text file is guessed.

    >>> open_source("left.xlsx", Side.LEFT, Layout())
    Traceback (most recent call last):
    redveil.errors.LoadError: left.xlsx: unknown file type; use .csv, .parquet or .arff
    """
    if not isinstance(given, str | Path):
        return open_frame(given, f"{side} frame")
    path = Path(given)
    place = " ".join(str(path).splitlines())
    return quietly(
        lambda: _open_file(path, layout, place),
        f"{place}: cannot be read; check that its format matches its name",
    )


def _open_file(path: Path, layout: Layout | None, place: str) -> Source:
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return open_parquet(path, place)
    openers: dict[str, Callable[[bytes, Layout, str], Source]] = {
        ".csv": open_csv,
        ".arff": open_arff,
    }
    for suffix, opener in openers.items():
        if name.endswith((suffix, f"{suffix}.gz")):
            data = read_bytes(path, place)
            return opener(data, layout or guess_layout(data), place)
    if path.is_dir():
        raise LoadError(f"{place}: is a folder; name a file in it")
    raise LoadError(f"{place}: unknown file type; use .csv, .parquet or .arff")


def check_columns(source: Source, view: View) -> tuple[str, ...]:
    """Return the names of the key and the attributes, or raise a LoadError if one is missing.

    >>> import pyarrow as pa
    >>> from redveil.schema import Attribute, Kind
    >>> source = open_source(pa.table({"id": [1], "Age": [2]}), Side.LEFT, Layout())
    >>> check_columns(source, View("left", "id", (Attribute("age", Kind.NUMERIC),)))
    Traceback (most recent call last):
    redveil.errors.LoadError: left frame: no column age; did you mean Age?
    """
    if view.key not in source.names:
        raise LoadError(
            f"{source.place}: no key column {shown(view.key)}; "
            f"{_suggestion(view.key, source.names, _key_remedy(source))}"
        )
    for name in view.names:
        if name not in source.names:
            remedy = "check the order of the files, add it, or remove it from the schema"
            raise LoadError(
                f"{source.place}: no column {shown(name)}; "
                f"{_suggestion(name, source.names, remedy)}"
            )
    return (view.key, *view.names)


def _key_remedy(source: Source) -> str:
    """Return the likeliest remedy for a missing key column."""
    if len(source.names) == 1 and not source.place.endswith(" frame"):
        return "only one column found; check the delimiter (dialect.delimiter)"
    return "set primaryKey, or make the index a column"


def _suggestion(name: str, names: Iterable[str], otherwise: str) -> str:
    """Suggest columns with a similar name; column names are public."""
    folded = {other.casefold().strip(): other for other in names}
    close = difflib.get_close_matches(name.casefold().strip(), folded, n=3)
    if not close:
        return otherwise
    return f"did you mean {' or '.join(shown(folded[other]) for other in close)}?"
